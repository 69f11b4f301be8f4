"""Rows of named values as an aligned text table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def table(rows: Sequence[Mapping[str, Any]], align_right: bool = False) -> str:
    """Formats rows as aligned columns, one for each key, under a header line."""
    align = str.rjust if align_right else str.ljust
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([_cell(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    return "\n".join(
        "  ".join(align(cell, width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def grouped(number: float) -> str:
    """Formats a whole number with a space between thousands: 12 345."""
    return f"{number:,.0f}".replace(",", " ")


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
