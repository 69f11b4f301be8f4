"""A checkpoint: a folder with weights, configuration and tokenizers, enough by itself.

| file | what |
| --- | --- |
| `config.yaml` | the resolved configuration of the run |
| `tokenizers/` | the sub-word models of source and target, and their settings |
| `best.weights.h5` | the weights that were best at a validation, by `training.best_metric` |
| `last.weights.h5` | the weights of the last validation |
"""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from transformer_tf.config import Config, load_config, save_config
from transformer_tf.errors import CheckpointError, ConfigError, TransformerTFError
from transformer_tf.files import whole_file
from transformer_tf.startup import command_line
from transformer_tf.text.tokenizer import Tokenizer

if TYPE_CHECKING:  # the back end is imported when there is a model
    from transformer_tf.transformer import Transformer

BEST_WEIGHTS = "best.weights.h5"
LAST_WEIGHTS = "last.weights.h5"
CONFIG_FILE = "config.yaml"
TOKENIZER_FOLDER = "tokenizers"
SOURCE_MODEL = f"{TOKENIZER_FOLDER}/source.model"
TARGET_MODEL = f"{TOKENIZER_FOLDER}/target.model"


def build_model(
    config: Config, source: Tokenizer, target: Tokenizer, precision: str | None = None
) -> Transformer:
    """The model of a configuration, with new weights.

    Args:
        config: The configuration.
        source: The source tokenizer.
        target: The target tokenizer.
        precision: The dtype policy; None for that of the training.
    """
    from transformer_tf.transformer import Transformer

    model = Transformer(
        **dataclasses.asdict(config.model),
        source_vocab_size=source.vocab_size,
        target_vocab_size=target.vocab_size,
        dtype=precision or config.training.precision,
        name="transformer",
    )
    model.build()
    return model


def save_checkpoint(folder: Path, config: Config, source: Tokenizer, target: Tokenizer) -> None:
    """Writes a checkpoint's folder, all but the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    source.save(folder / SOURCE_MODEL)
    target.save(folder / TARGET_MODEL)
    save_config(config, folder / CONFIG_FILE)


def save_weights(model: Transformer, path: Path) -> None:
    """Writes weights so that `path` holds the old ones or the new ones, never half a file.

    Raises:
        CheckpointError: If they cannot be written, because the disk is full for instance.
    """
    bare = _without_optimizer(model)
    needed = 4 * bare.count_params()  # float32
    try:
        # HDF5 can bring the process down when it meets a full disk: better not to begin.
        if shutil.disk_usage(path.parent).free < needed:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with whole_file(path) as partial:
            bare.save_weights(partial)
    except (OSError, RuntimeError, ValueError) as error:  # the last two are HDF5's
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise CheckpointError(f"Cannot write the weights {path}: {reason}") from error


def load_checkpoint(
    folder: Path, overrides: Sequence[str] = ()
) -> tuple[Config, Transformer, Tokenizer, Tokenizer]:
    """Reads a checkpoint, with its best weights if it has them, else the last ones.

    Args:
        folder: The checkpoint's folder.
        overrides: Strings `decoding.key=value`: what else can change once a model is trained.

    Returns:
        The configuration, the model, the source tokenizer and the target tokenizer.

    Raises:
        CheckpointError: One line that says what is missing or damaged.
        ConfigError: If an override is not valid, or of another section.
    """
    for override in overrides:
        if not override.startswith("decoding."):
            raise ConfigError(
                f"Only decoding.key=value can be changed after the training, not {override}"
            )
    if not (folder / CONFIG_FILE).is_file():
        raise CheckpointError(f"{folder} is not a checkpoint: it has no {CONFIG_FILE}")
    candidates = [folder / name for name in (BEST_WEIGHTS, LAST_WEIGHTS)]
    weights = next((path for path in candidates if path.is_file()), None)
    if weights is None and (folder / "model.bin").is_file():
        raise CheckpointError(f"{folder} was exported for CTranslate2: use --engine ctranslate2")
    if weights is None and (folder / "step.onnx").is_file():
        raise CheckpointError(f"{folder} was exported for ONNX: use examples/translate_onnx.py")
    if weights is None:
        raise CheckpointError(f"{folder} has no weights yet: {BEST_WEIGHTS} or {LAST_WEIGHTS}")
    try:
        config = load_config(folder / CONFIG_FILE)
        source = Tokenizer.load(folder / SOURCE_MODEL)
        target = Tokenizer.load(folder / TARGET_MODEL)
    except TransformerTFError as error:
        raise CheckpointError(f"{folder} is not a whole checkpoint: {error}") from error
    config = load_config(folder / CONFIG_FILE, overrides)
    model = build_model(config, source, target, config.decoding.precision)
    load_weights(model, weights)
    return config, model, source, target


def load_weights(model: Transformer, path: Path) -> None:
    """Reads weights into a model.

    Raises:
        CheckpointError: If they are damaged, not finite or those of a model of another shape.
    """
    bare = _without_optimizer(model)
    try:
        bare.load_weights(path)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{path} is damaged or not of this model: {reason[:150]}") from error
    weights = bare.get_weights()
    if not all(np.isfinite(weight).all() for weight in weights):
        raise CheckpointError(f"{path} has weights that are no finite numbers: its run diverged")
    if bare is not model:
        model.set_weights(weights)


def _without_optimizer(model: Transformer) -> Transformer:
    """A model, or a twin of one that is compiled.

    Keras would save the optimiser's state too, twice the size of the weights.
    """
    if not model.compiled:
        return model
    twin = type(model).from_config(model.get_config())
    twin.build()
    twin.set_weights(model.get_weights())
    return twin


def find_checkpoint(root: Path, named: Path | None = None) -> Path:
    """The translator to use.

    Args:
        root: The folder of the project.
        named: A checkpoint, or a folder of runs, which stands for the latest of them. By default
            `checkpoints/en-de`, else the latest run in `runs` here or in `root`.

    Raises:
        CheckpointError: If there is none.
    """
    if named is not None:
        return named if (named / CONFIG_FILE).is_file() else _latest({named}) or named
    shipped = root / "checkpoints" / "en-de"
    if (shipped / CONFIG_FILE).is_file():
        return shipped
    latest = _latest({path.resolve() for path in (Path("runs"), root / "runs")})
    if latest is None:
        raise CheckpointError(
            f"There is no translator yet: train one with {command_line('train')}, "
            "or name one with --checkpoint DIR"
        )
    return latest


def _latest(folders: set[Path]) -> Path | None:
    """The run among these folders' whose weights are the newest."""
    weights = [
        path
        for folder in folders
        for path in folder.glob("*/*.weights.h5")
        if path.name in (BEST_WEIGHTS, LAST_WEIGHTS) and (path.parent / CONFIG_FILE).is_file()
    ]
    return max(weights, key=lambda path: path.stat().st_mtime).parent if weights else None
