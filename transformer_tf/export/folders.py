"""Folders that are written whole or not at all, and what of their machine is left out."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from transformer_tf.config import Config
from transformer_tf.errors import CheckpointError, DataError


def check_place(output: Path, *marks: str) -> None:
    """Refuses a place where something else is.

    Args:
        output: Where a folder is to go: nothing, an empty folder, or what an earlier export wrote.
        marks: Files in it that such an export has, and hardly anything else; without any, earlier
            exports are not replaced either.

    Raises:
        CheckpointError: If something else is there.
    """
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not marks:
        raise CheckpointError(f"{output} is there already and not empty")
    if not all((output / mark).is_file() for mark in marks):
        raise CheckpointError(f"{output} exists and is not such an export; name a new folder")


def without_folders(config: Config) -> Config:
    """A configuration without the folders of the machine it was made on."""

    def names(files: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(Path(name).name for name in entry) for entry in files)

    data = config.data
    return dataclasses.replace(
        config,
        data=dataclasses.replace(
            data,
            directory=None,
            cache_directory=None,
            files=names(data.files),
            validation_files=names(data.validation_files),
            test_files=names(data.test_files),
        ),
        training=dataclasses.replace(config.training, directory=None),
    )


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
    # An empty folder is filled rather than replaced: it may be a mount point, or where a shell is.
    fill = place.is_dir() and not any(place.iterdir())
    partial = (place if fill else place.parent) / f".{place.name}.{os.getpid()}.partial"
    errors: tuple[type[Exception], ...] = (OSError, DataError, *others)
    try:
        yield partial
        if fill:
            for path in list(partial.iterdir()):
                path.rename(place / path.name)
        else:
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
