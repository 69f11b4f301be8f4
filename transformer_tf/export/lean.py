"""A checkpoint to hand on: what translating needs, with weights of half the size."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np

from transformer_tf.checkpoint import (
    BEST_WEIGHTS,
    load_checkpoint,
    save_checkpoint,
    save_weights,
)
from transformer_tf.errors import CheckpointError
from transformer_tf.export.folders import new_folder
from transformer_tf.files import whole_file

COPIED = ("validation.tsv", "test.tsv", "corpus.json", "metrics.csv", "samples.txt", "curves.png")


def export_checkpoint(
    folder: Path, output: Path, half: bool = False, overrides: Sequence[str] = ()
) -> None:
    """Writes a checkpoint without the state of its training and without folders of its machine.

    Args:
        folder: The checkpoint.
        output: The new folder.
        half: Whether to store the weights as float16. They are computed with in
            `decoding.precision` all the same.
        overrides: Strings `decoding.key=value` that become part of the new configuration.

    Raises:
        CheckpointError: If the checkpoint cannot be read, the new one not be written, or a weight
            is too large for float16.
    """
    if output.exists() and any(output.iterdir()):
        raise CheckpointError(f"{output} is there already and not empty")
    config, model, source, target = load_checkpoint(folder, overrides)
    data = config.data
    config = dataclasses.replace(
        config,
        data=dataclasses.replace(
            data,
            directory=None,
            cache_directory=None,
            files=_names(data.files),
            validation_files=_names(data.validation_files),
            test_files=_names(data.test_files),
        ),
        training=dataclasses.replace(config.training, directory=None),
    )
    with new_folder(output) as partial:
        save_checkpoint(partial, config, source, target)
        save_weights(model, partial / BEST_WEIGHTS)
        if half:
            halve(partial / BEST_WEIGHTS)
        for name in COPIED:
            if (folder / name).is_file():
                shutil.copyfile(folder / name, partial / name)


def _names(files: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Files without their folders."""
    return tuple(tuple(Path(name).name for name in entry) for entry in files)


def halve(path: Path) -> None:
    """Stores the weights of a `.weights.h5` file as float16, in the same file.

    Raises:
        CheckpointError: If a weight has no float16.
    """

    def copy(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Group):
            new = small.require_group(name)
        else:
            values = np.asarray(item)
            if values.dtype == np.float32:
                if np.abs(values).max(initial=0) > np.finfo(np.float16).max:
                    raise CheckpointError(f"{path}: a weight of {name} is too large for float16")
                values = values.astype(np.float16)
            new = small.create_dataset(name, data=values)
        for key, value in item.attrs.items():
            new.attrs[key] = value

    with whole_file(path) as partial, h5py.File(path) as large, h5py.File(partial, "w") as small:
        small.attrs.update(large.attrs)
        large.visititems(copy)
