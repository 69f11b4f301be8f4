"""Folders that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from transformer_tf.errors import CheckpointError


@contextlib.contextmanager
def new_folder(output: Path, others: tuple[type[Exception], ...] = ()) -> Iterator[Path]:
    """A folder to write to that takes the place of another one when all is written.

    Args:
        output: That place; what is there is replaced.
        others: Errors of writing beside `OSError`.

    Yields:
        Where to write; nothing is there yet.

    Raises:
        CheckpointError: If something cannot be written. `output` is as it was then.
    """
    place = output.resolve()  # "." has no name
    partial = place.with_name(f".{place.name}.{os.getpid()}.partial")
    errors: tuple[type[Exception], ...] = (OSError, *others)
    try:
        yield partial
        replace_folder(partial, place)
    except errors as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
        raise CheckpointError(f"Cannot write {output}: {reason}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


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
