"""Exports a checkpoint for sharing: only what translation needs, optionally in 8 bits."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from pathlib import Path

import h5py

from transformer_tf.checkpoint import (
    BEST_WEIGHTS,
    load_checkpoint,
    save_checkpoint,
    save_weights,
)
from transformer_tf.export.folders import check_place, new_folder, without_folders
from transformer_tf.hashes import record_hashes
from transformer_tf.utils.files import atomic_write_bytes
from transformer_tf.weights import SCALE, is_embedding, quantize

COPIED = ("validation.tsv", "test.tsv", "corpus.json", "metrics.csv", "samples.txt", "curves.png")


def export_checkpoint(
    folder: Path, output: Path, quantized: bool = False, overrides: Sequence[str] = ()
) -> None:
    """Writes a checkpoint without the training state and without local paths.

    Args:
        folder: The checkpoint.
        output: The new folder.
        quantized: Whether to store the matrices in 8 bits, a quarter of the size. Translation
            still computes in float32.
        overrides: Strings `decoding.key=value` to change in the new configuration.

    Raises:
        CheckpointError: If the checkpoint cannot be read, or the new one cannot be written.
    """
    check_place(output)
    config, model, source, target = load_checkpoint(folder, overrides)
    with new_folder(output) as partial:
        save_checkpoint(partial, without_folders(config), source, target)
        save_weights(model, partial / BEST_WEIGHTS)
        if quantized:
            quantize_file(partial / BEST_WEIGHTS)
            record_hashes(partial)
        for name in COPIED:
            if (folder / name).is_file():
                shutil.copyfile(folder / name, partial / name)


def quantize_file(path: Path) -> None:
    """Converts the matrices in a `.weights.h5` file to 8 bits, see `read_weights`.

    A row of an embedding has a scale, and so has a column of a kernel, which makes one output.
    """

    def copy(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Group):
            new = small.require_group(name)
        elif item.ndim < 2:
            new = small.create_dataset(name, data=item[()])
        else:
            steps, scales = quantize(item[()].astype("float32"), axis=int(is_embedding(name)))
            new = small.create_dataset(name, data=steps)
            small.create_dataset(name + SCALE, data=scales)
        for key, value in item.attrs.items():
            new.attrs[key] = value

    content = io.BytesIO()  # HDF5 can crash the process on a full disk
    with h5py.File(path) as large, h5py.File(content, "w") as small:
        small.attrs.update(large.attrs)
        large.visititems(copy)
    atomic_write_bytes(path, content.getvalue())
