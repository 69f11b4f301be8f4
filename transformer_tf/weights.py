"""The weights of a checkpoint or a Keras model as NumPy arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_tf.catalog import CONFIG_FILE
from transformer_tf.errors import CheckpointError, one_line

if TYPE_CHECKING:
    import h5py

# Keras stores the model's own layers under their numbered class names.
ROOT_NAMES = {
    "layers/positional_embedding/": "source_embedding/",
    "layers/positional_embedding_1/": "target_embedding/",
    "layers/dense/": "output_projection/",
}
SCALE = "_scale"
"""The ending of the name of an array of scales."""


def weight_shapes(
    *,
    num_layers: int,
    d_model: int,
    d_ff: int,
    source_vocab_size: int,
    target_vocab_size: int,
    num_decoder_layers: int | None = None,
    pre_norm: bool = False,
    tie_embeddings: str = "none",
    position: str = "sinusoidal",
    max_length: int = 512,
    **_: Any,
) -> dict[str, tuple[int, ...]]:
    """Lists the arrays of a `.weights.h5` file.

    The arguments are those of `transformer_tf.transformer.Transformer`.

    Returns:
        The shape of each array by its name in the file.
    """
    shapes: dict[str, tuple[int, ...]] = {}

    def add(layer: str, *arrays: tuple[int, ...]) -> None:
        shapes.update({f"{layer}/vars/{i}": shape for i, shape in enumerate(arrays)})

    def add_dense(layer: str, inputs: int, outputs: int) -> None:
        add(layer, (inputs, outputs), (outputs,))

    learned = [(max_length, d_model)] if position == "learned" else []
    add("layers/positional_embedding", (source_vocab_size, d_model), *learned)
    if tie_embeddings != "all":
        add("layers/positional_embedding_1", (target_vocab_size, d_model), *learned)
    if tie_embeddings == "none":
        add_dense("layers/dense", d_model, target_vocab_size)
    sub_layers = {"encoder": ["self_attention"], "decoder": ["self_attention", "cross_attention"]}
    counts = {"encoder": num_layers, "decoder": num_decoder_layers or num_layers}
    for stack, attentions in sub_layers.items():
        for number in range(counts[stack]):
            layer = f"{stack}/layers/{stack}_layer" + (f"_{number}" if number else "")
            for attention in attentions:
                for projection in ("query", "key", "value", "output"):
                    add_dense(f"{layer}/{attention}/{projection}_projection", d_model, d_model)
            add_dense(f"{layer}/feed_forward/hidden", d_model, d_ff)
            add_dense(f"{layer}/feed_forward/output_projection", d_ff, d_model)
            for sub_layer in (*attentions, "feed_forward"):
                add(f"{layer}/{sub_layer}_norm", (d_model,), (d_model,))
        if pre_norm:
            add(f"{stack}/norm", (d_model,), (d_model,))
    return shapes


def read_weights(path: Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Reads a `.weights.h5` file.

    The file must have these arrays and no others, of numbers that are stored in the file itself.
    HDF5 could also take them from any other file, or expand a small file to fill the memory.

    Args:
        path: The file. A matrix may also be in 8 bits, as `quantize` returns it: int8 steps, and
            beside the array `0` the array `0_scale`.
        shapes: The expected arrays, from `weight_shapes`.

    Returns:
        Nested dictionaries of layer names, with a list of layers for each stack. Each layer with
        weights has a tuple of float32 arrays: (kernel, bias) in
        `weights["encoder"]["layers"][0]["self_attention"]["query_projection"]`.

    Raises:
        CheckpointError: If the file is damaged or of another model, or has weights that are NaN or
            infinite.
    """
    with _open(path) as file:
        datasets = _check(path, file, shapes)
        arrays = {name: item[()].astype("float32") for name, item in datasets.items()}
    for name in arrays.keys() - shapes.keys():
        arrays[name.removesuffix(SCALE)] *= arrays.pop(name)
    # NaN is its own minimum and maximum. `np.isfinite` of whole arrays takes several times as long.
    if not np.isfinite([[array.min(), array.max()] for array in arrays.values()]).all():
        raise CheckpointError(f"{path} has NaN or infinite weights: its training diverged")
    return _nested(arrays)


@contextlib.contextmanager
def _open(path: Path) -> Iterator[h5py.File]:
    import h5py

    try:
        with h5py.File(path) as file:
            yield file
    except CheckpointError:
        raise
    except Exception as error:  # HDF5 raises errors of many types for a damaged file
        raise CheckpointError(f"{path} is damaged: {one_line(error)[:150]}") from error


def _check(
    path: Path, file: h5py.File, shapes: dict[str, tuple[int, ...]]
) -> dict[str, h5py.Dataset]:
    """Checks the arrays, and returns them by name."""
    names: list[str] = []
    file.visit(names.append)  # follows no link into another file
    items = {name: file[name] for name in names if "/vars/" in name}
    found = {name: item for name, item in items.items() if hasattr(item, "shape")}  # no groups
    shapes = dict(shapes)
    for name, item in found.items():
        if len(shapes.get(name, ())) == 2 and item.dtype == "int8":
            rows, columns = shapes[name]
            shapes[name + SCALE] = (rows, 1) if is_embedding(name) else (1, columns)
    if differing := sorted(shapes.keys() ^ found.keys()):
        reason = "is missing" if differing[0] in shapes else "is not part of the model"
        raise CheckpointError(f"{path} does not fit its {CONFIG_FILE}: {differing[0]} {reason}")
    for name, item in found.items():
        if item.shape != shapes[name]:
            raise CheckpointError(
                f"{path} does not fit its {CONFIG_FILE}: {name} has shape {item.shape} instead of "
                f"{shapes[name]}"
            )
        filters = item.id.get_create_plist().get_nfilters()
        # External and virtual arrays, and holes that would read as zeros, take no space.
        is_stored = item.external is None and item.id.get_storage_size() == item.nbytes
        allowed = ("int8",) if name + SCALE in shapes else ("float16", "float32")
        if item.dtype not in allowed or filters or not is_stored:
            raise CheckpointError(
                f"{path}: {name} must be uncompressed {' or '.join(allowed)} numbers in the file "
                "itself"
            )
    if sum(item.nbytes for item in found.values()) > path.stat().st_size:
        raise CheckpointError(f"{path} is damaged: it is smaller than its arrays")
    return found


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


def by_layer(weights: dict[str, Any]) -> dict[str, tuple[npt.NDArray[np.float32], ...]]:
    """Returns the arrays of each layer by its path, such as `encoder/layer_1/feed_forward/hidden`.

    Args:
        weights: The weights, as `read_weights` returns them.
    """
    found: dict[str, tuple[npt.NDArray[np.float32], ...]] = {}
    for name, value in weights.items():
        if isinstance(value, list):
            value = {f"layer_{number}": layer for number, layer in enumerate(value, 1)}
            found |= by_layer(value)
        elif isinstance(value, dict):
            found |= {f"{name}/{path}": arrays for path, arrays in by_layer(value).items()}
        else:
            found[name] = value
    return found


def quantize(
    matrix: npt.NDArray[np.float32], axis: int = 1
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Rounds each row to 8 bits, so that its largest weight is ±127 times its scale.

    Args:
        matrix: Array `(rows, columns)`.
        axis: 1 for a scale for each row, 0 for each column.

    Returns:
        The steps `(rows, columns)`, and the scales `(rows, 1)` or `(1, columns)`.
    """
    scales = np.abs(matrix).max(axis=axis, keepdims=True) / np.float32(127)
    return np.rint(matrix / np.where(scales > 0, scales, 1)).astype(np.int8), scales


def is_embedding(name: str) -> bool:
    """Whether an array of a file has a row for each token or position: 8 bits scale its rows."""
    return "embedding" in name


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


def _add(tree: dict[str, Any], path: list[str], array: Any) -> None:
    """Appends an array to the tuple at the end of a path of layer names."""
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = (*tree.get(path[-1], ()), array)


def _number(name: str) -> int:
    last = name.rpartition("_")[2]
    return int(last) if last.isdigit() else 0
