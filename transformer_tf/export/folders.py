"""Folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def replace_folder(new: Path, old: Path) -> None:
    """Gives a folder the place of another, which stays if that fails.

    Args:
        new: What was written, beside `old`.
        old: Its place; there may be nothing yet.

    Raises:
        OSError: If the file system refuses.
    """
    if not old.exists():
        new.rename(old)
        return
    before = old.with_name(f".{old.name}.{os.getpid()}.before")
    old.rename(before)
    try:
        new.rename(old)
    except OSError:
        before.rename(old)
        raise
    shutil.rmtree(before, ignore_errors=True)
