"""Measurements as JSON lines and as a table."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def peak_memory_mb() -> float:
    """The most memory that this process has had so far, in megabytes (10^6 bytes)."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


def print_row(row: Row) -> None:
    """Prints a measurement as one line of JSON."""
    print(json.dumps(row), flush=True)


def table(rows: Sequence[Row]) -> str:
    """The measurements as a table with a column for each key."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([_cell(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def _cell(value: Any) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
