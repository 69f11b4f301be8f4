"""The state of a run on disk: everything that the next step depends on.

A state is one file, `state/step-00001200.npz`: the weights, the optimizer's variables, the random
generators, and as JSON the step, the best score and the metrics so far. Files are written
atomically, and their checksums are verified when they are read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

from transformer_tf.errors import CheckpointError, one_line
from transformer_tf.training.averaging import WeightAverage
from transformer_tf.training.run_folder import STATE_FOLDER
from transformer_tf.utils.files import atomic_write

NUM_STATES = 2  # the older one is a backup, in case the latest is damaged
Arrays = list[tuple[str, np.ndarray]]
_AVERAGE = "average"
_INFO = "info"
# The exceptions of NumPy and zipfile for a truncated or altered file.
_DAMAGE = (
    *(OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error),
    *(NotImplementedError, RuntimeError),  # an unknown ZIP version, an encryption flag
)


@dataclasses.dataclass
class Progress:
    """The progress of a run.

    Attributes:
        step: Number of batches trained on.
        seconds: Time spent on training and validation, in all parts of the run.
        best: The best validation score so far; None before the first validation.
        validations_since_best: Number of validations since then.
        rows: The metrics of each validation.
        epoch_lengths: Number of batches of each epoch so far.
        fingerprint: A hash of the training pairs.
    """

    step: int = 0
    seconds: float = 0.0
    best: float | None = None
    validations_since_best: int = 0
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    epoch_lengths: list[int] = dataclasses.field(default_factory=list)
    fingerprint: str = ""


def get_arrays(training_model: keras.Model, average: WeightAverage | None) -> Arrays:
    """Returns the names and values of all variables that the next step depends on.

    Args:
        training_model: The compiled training model.
        average: The moving average of the weights, or None.
    """
    arrays = [
        (variable.path, keras.ops.convert_to_numpy(variable))
        for variable in _variables(training_model)
    ]
    return arrays + [(_AVERAGE, value) for value in average.values] if average else arrays


def set_arrays(
    training_model: keras.Model, average: WeightAverage | None, arrays: Sequence[Any]
) -> None:
    """Assigns the arrays of a state to all variables.

    Args:
        training_model: The compiled training model.
        average: The moving average of the weights, or None.
        arrays: Names and values, as `get_arrays` returns them.

    Raises:
        CheckpointError: If they belong to another model.
    """
    variables = _variables(training_model)
    saved = [(name, value) for name, value in arrays if name != _AVERAGE]
    if [(_without_counters(v.path), tuple(v.shape)) for v in variables] != [
        (_without_counters(name), value.shape) for name, value in saved
    ]:
        raise CheckpointError("The state belongs to another model or another version")
    for variable, (_, value) in zip(variables, saved, strict=True):
        variable.assign(value)
    if average is not None:
        average.restore([value for name, value in arrays if name == _AVERAGE])


def save_state(folder: Path, progress: Progress, arrays: Arrays) -> Path:
    """Writes a state and deletes all but the last `NUM_STATES`.

    Args:
        folder: The folder of the run.
        progress: The progress of the run.
        arrays: Names and values of all variables, in a fixed order.

    Raises:
        CheckpointError: If the state cannot be written. Earlier states are unchanged.
    """
    directory = folder / STATE_FOLDER
    path = directory / f"step-{progress.step:08d}.npz"
    info = {"progress": dataclasses.asdict(progress), "names": [name for name, _ in arrays]}
    content = {f"{number:05d}": value for number, (_, value) in enumerate(arrays)}
    content[_INFO] = np.frombuffer(json.dumps(info).encode(), dtype="uint8")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as partial:
            np.savez(partial, **content)  # type: ignore[arg-type]
    except OSError as error:
        raise CheckpointError(
            f"Cannot write the state {path}: {error.strerror or error}. The run can resume from "
            f"the previous state: --resume {folder}"
        ) from error
    states = list_states(folder)
    position = states.index(path)
    # States of later steps are damaged: otherwise the run would have resumed from them.
    for obsolete in (*states[:position], *states[position + NUM_STATES :]):
        with contextlib.suppress(OSError):
            obsolete.unlink()
    return path


def load_state(folder: Path) -> tuple[Progress, Arrays] | None:
    """Reads the latest intact state of a run. A damaged state is reported and skipped.

    Returns:
        The progress and all variables, or None if there is no state yet.

    Raises:
        CheckpointError: If there are states, and all are damaged.
    """
    paths = list_states(folder)
    for path in paths:
        try:
            return _read(path)
        except _DAMAGE as error:
            reason = one_line(error) or type(error).__name__
            warnings.warn(f"{path} is damaged ({reason}); trying the previous one", stacklevel=2)
    if paths:
        raise CheckpointError(f"All states in {folder / STATE_FOLDER} are damaged")
    return None


def list_states(folder: Path) -> list[Path]:
    """Returns the states of a run, the latest first."""
    return sorted((folder / STATE_FOLDER).glob("step-*.npz"), reverse=True)


def _read(path: Path) -> tuple[Progress, Arrays]:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
        info = json.loads(bytes(content[_INFO]))
        # Reading an array to its end verifies its checksum.
        arrays = [(name, content[f"{number:05d}"]) for number, name in enumerate(info["names"])]
    return Progress(**info["progress"]), arrays


def _variables(training_model: keras.Model) -> list[keras.Variable]:
    return [*training_model.variables, *training_model.optimizer.variables]


def _without_counters(path: str) -> str:
    """Removes the numbers that Keras appends to names to make them unique in a process."""
    return re.sub(r"_\d+", "", path)
