"""The weights of a checkpoint or a Keras model as NumPy arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from transformer_tf.errors import CheckpointError, one_line

# Keras stores the model's own layers under their numbered class names.
ROOT_NAMES = {
    "layers/positional_embedding/": "source_embedding/",
    "layers/positional_embedding_1/": "target_embedding/",
    "layers/dense/": "output_projection/",
}


def read_weights(path: Path) -> dict[str, Any]:
    """Reads a `.weights.h5` file.

    Args:
        path: The file, with float16 or float32 weights.

    Returns:
        Nested dictionaries of layer names, with a list of layers for each stack. Each layer with
        weights has a tuple of float32 arrays: (kernel, bias) in
        `weights["encoder"]["layers"][0]["self_attention"]["query_projection"]`.

    Raises:
        CheckpointError: If the file is damaged or of another model, or has weights that are NaN or
            infinite.
    """
    import h5py

    arrays: dict[str, np.ndarray] = {}

    def read(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            arrays[name] = item[()].astype("float32")

    try:
        with h5py.File(path) as file:
            file.visititems(read)
    except (OSError, RuntimeError) as error:
        reason = one_line(error)
        raise CheckpointError(f"{path} is damaged: {reason[:150]}") from error
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise CheckpointError(f"{path} has NaN or infinite weights: its training diverged")
    try:
        return _nested(arrays)
    except (KeyError, ValueError, IndexError) as error:
        raise CheckpointError(f"{path} does not have the weights of a Transformer") from error


def model_weights(model: Any) -> dict[str, Any]:
    """Copies the weights of a Keras model.

    Args:
        model: A `transformer_tf.transformer.Transformer`.

    Returns:
        The weights, as `read_weights` returns them.
    """
    tree: dict[str, Any] = {}
    for variable, array in zip(model.weights, model.get_weights(), strict=True):
        _model, *path, _name = variable.path.split("/")
        _add(tree, path, array.astype("float32"))
    for stack in (tree["encoder"], tree["decoder"]):
        names = sorted((name for name in stack if name.startswith("layer_")), key=_number)
        stack["layers"] = [stack.pop(name) for name in names]
    return tree


def _nested(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, array in sorted(arrays.items()):
        for keras_name, layer_name in ROOT_NAMES.items():
            if name.startswith(keras_name):
                name = layer_name + name.removeprefix(keras_name)
        *path, _vars, _number_of_array = name.split("/")
        _add(tree, path, array)
    for stack in (tree["encoder"], tree["decoder"]):
        # encoder_layer, encoder_layer_1, …, encoder_layer_10
        names = sorted(stack["layers"], key=_number)
        stack["layers"] = [stack["layers"][name] for name in names]
    return tree


def _add(tree: dict[str, Any], path: list[str], array: np.ndarray) -> None:
    """Appends an array to the tuple at the end of a path of layer names."""
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = (*tree.get(path[-1], ()), array)


def _number(name: str) -> int:
    last = name.rpartition("_")[2]
    return int(last) if last.isdigit() else 0
