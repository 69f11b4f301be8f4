"""Files that are written whole or not at all, whatever happens to the process or the disk."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write to that takes the place of another one when all of it is on the disk.

    Args:
        path: That place, in a folder that exists; what is there is replaced.

    Yields:
        Where to write: a hidden name beside `path`, with the same suffixes and unlike any other
        process's, so that several may write the same file at once.

    Raises:
        OSError: If it cannot be written, with `path` as its file name. What was there is as it
            was, and nothing is left beside it.
    """
    partial = path.with_name(f".{os.getpid()}-{secrets.token_hex(4)}.part.{path.name}")
    try:
        yield partial
        with partial.open("rb+") as file:  # Windows syncs only what may be written
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:  # in the caller's words, not with the name of the partial file
        reason = error.strerror or " ".join(str(error).split())
        raise OSError(error.errno, reason, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file, whole or not at all.

    Raises:
        OSError: As of `whole_file`.
    """
    with whole_file(path) as partial:
        partial.write_bytes(content)


def remove_partial_files(folder: Path) -> None:
    """Deletes what processes that were killed while they wrote have left in a folder."""
    for path in folder.glob(".*-*.part.*"):
        with contextlib.suppress(OSError):
            path.unlink()
