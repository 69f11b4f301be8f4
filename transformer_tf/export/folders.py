"""Output folders that are written completely or not at all, without local paths."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from transformer_tf.config import Config
from transformer_tf.errors import CheckpointError, DataError, one_line


def check_place(output: Path) -> None:
    """Checks that an export may write to a folder.

    Raises:
        CheckpointError: If it exists and is not an empty folder.
    """
    if output.exists() and not (output.is_dir() and not any(output.iterdir())):
        raise CheckpointError(f"{output} already exists and is not empty; name a new folder")


def without_folders(config: Config) -> Config:
    """Returns the configuration without local folders; paths of files become their names."""

    def names(files: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(Path(name).name for name in entry) for entry in files)

    data = config.data
    return dataclasses.replace(
        config,
        data=dataclasses.replace(
            data,
            files=names(data.files),
            validation_files=names(data.validation_files),
            test_files=names(data.test_files),
            mix=tuple(
                dataclasses.replace(entry, files=names((entry.files,))[0]) for entry in data.mix
            ),
        ),
        training=dataclasses.replace(config.training, start_from=None),
    )


@contextlib.contextmanager
def new_folder(output: Path, others: tuple[type[Exception], ...] = ()) -> Iterator[Path]:
    """Creates a temporary folder that becomes `output` once everything is written.

    Args:
        output: The folder: missing or empty.
        others: Types of write errors other than `OSError`.

    Yields:
        The path to write to, where nothing exists yet.

    Raises:
        CheckpointError: If something cannot be written. `output` is then unchanged.
    """
    place = output.resolve()  # "." has no name
    # Fill an empty folder instead of replacing it: it may be a mount point or a shell's folder.
    fill = place.is_dir()
    partial = (place if fill else place.parent) / f".{place.name}.{os.getpid()}.partial"
    errors: tuple[type[Exception], ...] = (OSError, DataError, *others)
    try:
        yield partial
        if fill:
            _move_files(partial, place)
        else:
            partial.rename(place)
    except errors as error:
        reason = getattr(error, "strerror", None) or one_line(error)[:200]
        raise CheckpointError(f"Cannot write {output}: {reason}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _move_files(folder: Path, place: Path) -> None:
    """Moves what is in a folder to another one, all or nothing."""
    names = sorted(path.name for path in folder.iterdir())
    try:
        for name in names:
            (folder / name).rename(place / name)
    except BaseException:
        for name in names:
            with contextlib.suppress(OSError):  # it was not moved
                os.rename(place / name, folder / name)
        raise
