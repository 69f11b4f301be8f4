"""A checkpoint: a self-contained folder of weights, configuration and tokenizers.

| file | content |
| --- | --- |
| `config.yaml` | the resolved configuration of the run |
| `tokenizers/` | the sub-word models of source and target, and their settings |
| `best.weights.h5` | the weights with the lowest validation perplexity |
| `last.weights.h5` | the weights of the last validation |
| `hashes.txt` | the SHA-256 of these files, checked when they are loaded |
"""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_tf.catalog import CONFIG_FILE, check_folder
from transformer_tf.config import Config, load_saved_config, save_config
from transformer_tf.errors import CheckpointError, ConfigError, TransformerTFError, one_line
from transformer_tf.hashes import check_hashes, record_hashes, recorded_write
from transformer_tf.numpy_transformer import NumpyTransformer
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.weights import by_layer, read_weights, weight_shapes

if TYPE_CHECKING:  # importing the backend takes seconds
    from transformer_tf.transformer import Transformer

BEST_WEIGHTS = "best.weights.h5"
LAST_WEIGHTS = "last.weights.h5"
TOKENIZER_FOLDER = "tokenizers"
SOURCE_MODEL = f"{TOKENIZER_FOLDER}/source.model"
TARGET_MODEL = f"{TOKENIZER_FOLDER}/target.model"


def build_model(
    config: Config, source: Tokenizer, target: Tokenizer, precision: str | None = None
) -> Transformer:
    """Builds the model of a configuration, with randomly initialized weights.

    Args:
        config: The configuration.
        source: The source tokenizer.
        target: The target tokenizer.
        precision: The dtype policy; by default `training.precision`.
    """
    from transformer_tf.transformer import Transformer

    model = Transformer(
        **model_arguments(config, source, target),
        dtype=precision or config.training.precision,
        name="transformer",
    )
    model.build()
    return model


def model_arguments(config: Config, source: Tokenizer, target: Tokenizer) -> dict[str, Any]:
    """Returns the sizes and options of a model, as `Transformer` and `weight_shapes` take them."""
    return {
        **dataclasses.asdict(config.model),
        "max_length": config.data.max_length + 2,  # start and end
        "source_vocab_size": source.vocab_size,
        "target_vocab_size": target.vocab_size,
    }


def save_checkpoint(folder: Path, config: Config, source: Tokenizer, target: Tokenizer) -> None:
    """Writes the configuration and the tokenizers of a checkpoint, without weights, and hashes."""
    folder.mkdir(parents=True, exist_ok=True)
    source.save(folder / SOURCE_MODEL)
    target.save(folder / TARGET_MODEL)
    save_config(config, folder / CONFIG_FILE)
    record_hashes(folder)


def save_weights(model: Transformer, path: Path) -> None:
    """Writes weights to a temporary file that then replaces `path`.

    A failure leaves the old file as it was.

    Raises:
        CheckpointError: If the weights cannot be written, for example on a full disk.
    """
    needed = 4 * model.count_params()  # float32
    try:
        # HDF5 can crash the process on a full disk, so check first.
        if shutil.disk_usage(path.parent).free < needed:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with recorded_write(path) as partial:
            model.save_weights(partial)
    except (OSError, RuntimeError, ValueError) as error:  # HDF5 raises the last two
        reason = getattr(error, "strerror", None) or one_line(error)
        raise CheckpointError(f"Cannot write the weights {path}: {reason}") from error


def load_checkpoint(
    folder: Path, overrides: Sequence[str] = ()
) -> tuple[Config, Transformer, Tokenizer, Tokenizer]:
    """Loads a checkpoint with its best weights, or with the last ones if there are no best ones.

    Args:
        folder: The checkpoint's folder.
        overrides: Strings `decoding.key=value`. The other settings belong to the trained model.

    Returns:
        The configuration, the model, the source tokenizer and the target tokenizer.

    Raises:
        CheckpointError: If a file is missing or damaged.
        ConfigError: If an override is invalid or belongs to another section.
    """
    config, weights, source, target = open_checkpoint(folder, overrides)
    model = build_model(config, source, target, "float32")
    load_weights(model, weights)
    return config, model, source, target


def open_checkpoint(
    folder: Path, overrides: Sequence[str] = ()
) -> tuple[Config, Path, Tokenizer, Tokenizer]:
    """Reads a checkpoint without its weights.

    Args:
        folder: The checkpoint's folder.
        overrides: As in `load_checkpoint`.

    Returns:
        The configuration, the file of the weights, the source tokenizer and the target tokenizer.

    Raises:
        CheckpointError: If a file is missing or damaged.
        ConfigError: If an override is invalid or belongs to another section.
    """
    check_folder(folder)
    candidates = [folder / name for name in (BEST_WEIGHTS, LAST_WEIGHTS)]
    weights = next((path for path in candidates if path.is_file()), None)
    if weights is None and (folder / "model.bin").is_file():
        raise CheckpointError(f"{folder} was exported for CTranslate2: use --engine ctranslate2")
    if weights is None and (folder / "step.onnx").is_file():
        raise CheckpointError(
            f"{folder} was exported for ONNX: name the checkpoint that it comes from"
        )
    if weights is None:
        raise CheckpointError(f"{folder} has no weights yet: {BEST_WEIGHTS} or {LAST_WEIGHTS}")
    config, source, target = read_settings(folder, weights, overrides)
    return config, weights, source, target


def read_settings(
    folder: Path, weights: Path, overrides: Sequence[str] = ()
) -> tuple[Config, Tokenizer, Tokenizer]:
    """Reads the configuration and the tokenizers of a checkpoint or an exported one.

    Args:
        folder: Its folder.
        weights: The file of its weights; it is compared with its hash but not read.
        overrides: As in `load_checkpoint`.

    Returns:
        The configuration, the source tokenizer and the target tokenizer.

    Raises:
        CheckpointError: If a file is missing or damaged.
        ConfigError: If an override is invalid or belongs to another section.
    """
    for override in overrides:
        if not override.startswith("decoding."):
            raise ConfigError(f"Only decoding.key=value can change after training, not {override}")
    try:
        load_saved_config(folder / CONFIG_FILE)
        source = Tokenizer.load(folder / SOURCE_MODEL)
        target = Tokenizer.load(folder / TARGET_MODEL)
    except TransformerTFError as error:
        raise CheckpointError(f"{folder} is not a complete checkpoint: {error}") from error
    check_hashes(folder, weights)
    # Outside the `try`: an invalid override is not the checkpoint's error.
    return load_saved_config(folder / CONFIG_FILE, overrides), source, target


def load_numpy_model(
    config: Config, weights: Path, source: Tokenizer, target: Tokenizer
) -> NumpyTransformer:
    """Loads the model of a checkpoint without Keras.

    Args:
        config: The configuration.
        weights: The file of the weights.
        source: The source tokenizer.
        target: The target tokenizer.

    Raises:
        CheckpointError: If the file is damaged or belongs to a model of another shape, or if a
            weight is NaN or infinite.
    """
    shapes = weight_shapes(**model_arguments(config, source, target))
    return NumpyTransformer(
        read_weights(weights, shapes), config.model.num_heads, config.model.pre_norm
    )


def load_weights(model: Transformer, path: Path) -> None:
    """Loads weights into a model.

    Raises:
        CheckpointError: If the file is damaged or belongs to a model of another shape, or if a
            weight is NaN or infinite.
    """
    layers = by_layer(read_weights(path, weight_shapes(**model.get_config())))
    arrays = {name: iter(values) for name, values in layers.items()}
    layer_of = ["/".join(variable.path.split("/")[1:-1]) for variable in model.weights]
    model.set_weights([next(arrays[name]) for name in layer_of])
