"""Atomic file writes, the folders of the project and the user, and the formats of figures."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from transformer_tf.errors import one_line

FILE_SUFFIXES = (".png", ".svg", ".pdf")
"""The formats of figures. They are here because commands check them before importing matplotlib."""


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Replaces a file once its new content is complete and on disk.

    A reader sees the old file or the new one, never a part of it.

    Args:
        path: The file to write, in an existing folder. An existing file is replaced.

    Yields:
        The temporary file to write to: a hidden file in the same folder with the same suffixes.
        Its name is unique, so several processes may write `path` at the same time.

    Raises:
        OSError: If the file cannot be written. The error names `path`; an existing file is
            unchanged and the temporary file is deleted.
    """
    partial = path.with_name(f".{os.getpid()}-{secrets.token_hex(4)}.part.{path.name}")
    try:
        yield partial
        with partial.open("rb+") as file:  # Windows requires write access for fsync
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:  # name `path`, not the temporary file
        reason = error.strerror or one_line(error)
        raise OSError(error.errno, reason, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def atomic_write_bytes(path: Path, content: bytes) -> None:
    """Writes `content` to a file atomically.

    Raises:
        OSError: See `atomic_write`.
    """
    with atomic_write(path) as partial:
        partial.write_bytes(content)


def user_folder(variable: str) -> Path:
    """Returns a folder for data: that of an environment variable, else one in the user's cache."""
    if chosen := os.environ.get(variable):
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("transformer_tf"))


def project_folder() -> Path:
    """Returns the folder of `configs` and `checkpoints`: the checkout, else the package."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent
    return checkout if (checkout / "configs" / "quickstart.yaml").is_file() else package


def remove_partial_files(folder: Path) -> None:
    """Deletes the temporary files that killed processes left in a folder."""
    for path in folder.glob(".*-*.part.*"):
        with contextlib.suppress(OSError):
            path.unlink()
