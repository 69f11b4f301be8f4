"""Peak memory, and measurements as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]


def peak_memory_mb() -> float:
    """Returns the peak memory of this process in megabytes (10^6 bytes)."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


def print_row(row: Row) -> None:
    """Prints a measurement as one line of JSON."""
    print(json.dumps(row), flush=True)
