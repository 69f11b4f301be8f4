"""Exports a checkpoint for sharing: only what translation needs, optionally in half the size."""

from __future__ import annotations

import io
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
from transformer_tf.export.folders import check_place, new_folder, without_folders
from transformer_tf.utils.files import atomic_write_bytes

COPIED = ("validation.tsv", "test.tsv", "corpus.json", "metrics.csv", "samples.txt", "curves.png")


def export_checkpoint(
    folder: Path, output: Path, half: bool = False, overrides: Sequence[str] = ()
) -> None:
    """Writes a checkpoint without the training state and without local paths.

    Args:
        folder: The checkpoint.
        output: The new folder.
        half: Whether to store the weights as float16. Translation still computes in
            float32.
        overrides: Strings `decoding.key=value` to change in the new configuration.

    Raises:
        CheckpointError: If the checkpoint cannot be read, the new one cannot be written, or a
            weight is too large for float16.
    """
    check_place(output)
    config, model, source, target = load_checkpoint(folder, overrides)
    with new_folder(output) as partial:
        save_checkpoint(partial, without_folders(config), source, target)
        save_weights(model, partial / BEST_WEIGHTS)
        if half:
            halve(partial / BEST_WEIGHTS)
        for name in COPIED:
            if (folder / name).is_file():
                shutil.copyfile(folder / name, partial / name)


def halve(path: Path) -> None:
    """Converts the weights in a `.weights.h5` file to float16.

    Raises:
        CheckpointError: If a weight is too large for float16.
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

    content = io.BytesIO()  # HDF5 can crash the process on a full disk
    with h5py.File(path) as large, h5py.File(content, "w") as small:
        small.attrs.update(large.attrs)
        large.visititems(copy)
    atomic_write_bytes(path, content.getvalue())
