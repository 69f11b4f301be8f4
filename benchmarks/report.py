"""Measurements as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]


def print_row(row: Row) -> None:
    """Prints a measurement as one line of JSON."""
    print(json.dumps(row), flush=True)
