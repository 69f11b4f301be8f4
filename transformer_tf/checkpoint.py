"""A checkpoint: a self-contained folder of weights, configuration and tokenizers.

| file | content |
| --- | --- |
| `config.yaml` | the resolved configuration of the run |
| `tokenizers/` | the sub-word models of source and target, and their settings |
| `best.weights.h5` | the weights of the best validation by `training.best_metric` |
| `last.weights.h5` | the weights of the last validation |
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from transformer_tf.config import Config, load_saved_config, save_config
from transformer_tf.errors import CheckpointError, ConfigError, TransformerTFError, one_line
from transformer_tf.numpy_transformer import NumpyTransformer
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.utils.files import atomic_write
from transformer_tf.utils.startup import command_line
from transformer_tf.weights import current_name, read_weights

if TYPE_CHECKING:  # importing the backend takes seconds
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
    """Builds the model of a configuration, with randomly initialized weights.

    Args:
        config: The configuration.
        source: The source tokenizer.
        target: The target tokenizer.
        precision: The dtype policy; by default `training.precision`.
    """
    from transformer_tf.transformer import Transformer

    model = Transformer(
        **dataclasses.asdict(config.model),
        max_length=config.data.max_length + 2,  # start and end
        source_vocab_size=source.vocab_size,
        target_vocab_size=target.vocab_size,
        dtype=precision or config.training.precision,
        name="transformer",
    )
    model.build()
    return model


def save_checkpoint(folder: Path, config: Config, source: Tokenizer, target: Tokenizer) -> None:
    """Writes the configuration and the tokenizers of a checkpoint, without weights."""
    folder.mkdir(parents=True, exist_ok=True)
    source.save(folder / SOURCE_MODEL)
    target.save(folder / TARGET_MODEL)
    save_config(config, folder / CONFIG_FILE)


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
        with atomic_write(path) as partial:
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
    for override in overrides:
        if not override.startswith("decoding."):
            raise ConfigError(f"Only decoding.key=value can change after training, not {override}")
    _check_folder(folder)
    candidates = [folder / name for name in (BEST_WEIGHTS, LAST_WEIGHTS)]
    weights = next((path for path in candidates if path.is_file()), None)
    if weights is None and (folder / "model.bin").is_file():
        raise CheckpointError(f"{folder} was exported for CTranslate2: use --engine ctranslate2")
    if weights is None and (folder / "step.onnx").is_file():
        raise CheckpointError(f"{folder} was exported for ONNX: use examples/translate_onnx.py")
    if weights is None:
        raise CheckpointError(f"{folder} has no weights yet: {BEST_WEIGHTS} or {LAST_WEIGHTS}")
    try:
        config = load_saved_config(folder / CONFIG_FILE)
        source = Tokenizer.load(folder / SOURCE_MODEL)
        target = Tokenizer.load(folder / TARGET_MODEL)
    except TransformerTFError as error:
        raise CheckpointError(f"{folder} is not a complete checkpoint: {error}") from error
    # Outside the `try`: an invalid override is not the checkpoint's error.
    config = load_saved_config(folder / CONFIG_FILE, overrides)
    return config, weights, source, target


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
    settings = config.model
    arrays = read_weights(weights)
    try:
        model = NumpyTransformer(arrays, settings.num_heads, settings.pre_norm)
        found = (
            model.source_embedding[0].shape,
            model.target_embedding[0].shape,
            len(model.encoder["layers"]),
            len(model.decoder["layers"]),
        )
    except KeyError as error:
        raise CheckpointError(f"{weights} has no weights for the layer {error}") from error
    expected = (
        (source.vocab_size, settings.d_model),
        (target.vocab_size, settings.d_model),
        settings.num_layers,
        settings.num_decoder_layers or settings.num_layers,
    )
    if found != expected:
        raise CheckpointError(
            f"{weights} is damaged or belongs to another model: its embedding shapes and numbers "
            f"of layers are {found} instead of {expected}"
        )
    return model


def load_weights(model: Transformer, path: Path) -> None:
    """Loads weights into a model.

    Raises:
        CheckpointError: If the file is damaged or belongs to a model of another shape, or if a
            weight is NaN or infinite.
    """
    try:
        with _renamed_weights(path) as renamed:
            model.load_weights(renamed)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = one_line(error)
        raise CheckpointError(
            f"{path} is damaged or belongs to another model: {reason[:150]}"
        ) from error
    if not all(np.isfinite(weight).all() for weight in model.get_weights()):
        raise CheckpointError(f"{path} has NaN or infinite weights: its training diverged")


@contextlib.contextmanager
def _renamed_weights(path: Path) -> Iterator[Path]:
    """Yields weights under their current names: `path`, or a temporary copy of an older file."""
    import h5py

    names: list[str] = []
    with h5py.File(path) as file:
        file.visit(names.append)
    old = [name for name in names if name.endswith("/vars") and current_name(name) != name]
    if not old:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copyfile(path, Path(folder) / BEST_WEIGHTS))
        with h5py.File(copy, "r+") as file:
            for name in old:
                file.move(name, current_name(name))
        yield copy


def find_checkpoint(
    root: Path,
    named: Path | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> Path:
    """Chooses the checkpoint to use. If it is the latest run, prints its name on stderr.

    Args:
        root: The project's folder.
        named: A checkpoint, or a folder of runs, of which the latest is chosen. By default
            `checkpoints/en-de` if it exists, else the latest run in `runs`, here or in `root`.
        source_language: Chooses in `checkpoints` by the code of the source language, such as `de`.
        target_language: Chooses in `checkpoints` by the code of the target language.

    Raises:
        CheckpointError: If there is none, or more than one for the languages, or `named` is no
            checkpoint.
    """
    if source_language or target_language:
        return _find_pair(root / "checkpoints", source_language, target_language)
    if named is not None:
        chosen = named if (named / CONFIG_FILE).is_file() else _latest({named}) or named
        _check_folder(chosen)
        return chosen
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


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise CheckpointError(f"{folder} is not a checkpoint: there is no such folder")
    if not (folder / CONFIG_FILE).is_file():
        inside = sorted(str(path.parent) for path in folder.glob(f"*/{CONFIG_FILE}"))
        hint = f"; it contains {', '.join(inside)}" if inside else ""
        raise CheckpointError(f"{folder} is not a checkpoint: it has no {CONFIG_FILE}{hint}")


def _find_pair(folder: Path, source: str | None, target: str | None) -> Path:
    """Returns the checkpoint that translates between two languages; None stands for any."""
    pairs = {}
    for path in sorted(folder.glob(f"*/{CONFIG_FILE}")):
        data = load_saved_config(path).data
        pairs[path.parent] = data.source_language, data.target_language
    found = [
        path
        for path, pair in pairs.items()
        if source in (None, pair[0]) and target in (None, pair[1])
    ]
    if len(found) == 1:
        return found[0]
    same_pair = len({pairs[path] for path in found}) == 1
    number = "Several translators go" if found else "There is no translator"
    wanted = " ".join(
        f"{name} {code}" for name, code in (("from", source), ("to", target)) if code is not None
    )
    options = [
        f"--checkpoint {path}" if same_pair else "--from {} --to {}".format(*pairs[path])
        for path in found or pairs
    ]
    offered = ", ".join(options) or "none"
    raise CheckpointError(f"{number} {wanted} in {folder}; choose from: {offered}")


def _latest(folders: set[Path]) -> Path | None:
    """Returns the run with the newest weights and prints it on stderr."""
    runs = [path.parent for folder in folders for path in folder.glob(f"*/{CONFIG_FILE}")]
    weights = [
        run / name
        for run in runs
        for name in (BEST_WEIGHTS, LAST_WEIGHTS)
        if (run / name).is_file()
    ]
    if not weights:
        return None
    latest = max(weights, key=_modified).parent
    newest = max(runs, key=lambda run: _modified(run / CONFIG_FILE))
    unfinished = newest not in {path.parent for path in weights}
    note = f" ({newest} is newer but has no weights yet)" if unfinished else ""
    print(f"Using {latest}{note}", file=sys.stderr)
    return latest


def _modified(path: Path) -> float:
    return path.stat().st_mtime
