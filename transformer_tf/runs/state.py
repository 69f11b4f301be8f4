"""The state of a run on disk: everything that the next step depends on.

A state is one file, `state.npz`: the weights, the optimizer's variables, the random generators, the
moving average, and as JSON the step, the best perplexity and the metrics so far. A new state
replaces the old one once it is complete and on disk.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import keras
import numpy as np

from transformer_tf.errors import CheckpointError, TrainingDivergedError, one_line
from transformer_tf.runs.folder import STATE_FILE
from transformer_tf.training.averaging import WeightAverage
from transformer_tf.training.progress import Progress
from transformer_tf.utils.files import atomic_write


def get_arrays(training_model: keras.Model, average: WeightAverage | None) -> list[np.ndarray]:
    """Returns the values of all variables that the next step depends on.

    Args:
        training_model: The compiled training model.
        average: The moving average of the weights, or None.

    Raises:
        TrainingDivergedError: If a value is NaN or infinite.
    """
    variables = _variables(training_model)
    check_finite(variables)
    arrays = [keras.ops.convert_to_numpy(variable) for variable in variables]
    return arrays + average.values if average else arrays


def check_finite(variables: Iterable[keras.Variable]) -> None:
    """Checks all values, also those that no batch has used, such as the embedding of a rare token.

    Raises:
        TrainingDivergedError: If a value is NaN or infinite.
    """
    for variable in variables:
        if not np.isfinite(keras.ops.convert_to_numpy(variable)).all():
            raise TrainingDivergedError(f"{variable.path} has NaN or infinite values")


def set_arrays(
    training_model: keras.Model, average: WeightAverage | None, arrays: Sequence[np.ndarray]
) -> None:
    """Assigns the arrays of a state to all variables.

    Args:
        training_model: The compiled training model.
        average: The moving average of the weights, or None.
        arrays: The values, as `get_arrays` returns them.

    Raises:
        CheckpointError: If they belong to another model.
    """
    variables = _variables(training_model)
    saved, averaged = arrays[: len(variables)], arrays[len(variables) :]
    if [tuple(variable.shape) for variable in variables] != [value.shape for value in saved]:
        raise CheckpointError("The state belongs to another model or another version")
    for variable, value in zip(variables, saved, strict=True):
        variable.assign(value)
    if average is not None:
        average.restore(averaged)


def save_state(folder: Path, progress: Progress, arrays: Sequence[np.ndarray]) -> None:
    """Writes the state of a run to a temporary file that then replaces the one before.

    Args:
        folder: The folder of the run.
        progress: The progress of the run.
        arrays: The values of all variables, in a fixed order.

    Raises:
        CheckpointError: If the state cannot be written. The one before is unchanged.
    """
    path = folder / STATE_FILE
    text = json.dumps(dataclasses.asdict(progress))
    try:
        with atomic_write(path) as partial:
            np.savez(partial, *arrays, progress=np.array(text))
    except OSError as error:
        raise CheckpointError(
            f"Cannot write the state {path}: {error.strerror or error}. The run can resume from "
            f"the previous state: --resume {folder}"
        ) from error


def load_state(folder: Path) -> tuple[Progress, list[np.ndarray]] | None:
    """Reads the state of a run.

    Returns:
        The progress and all variables, or None if there is no state yet.

    Raises:
        CheckpointError: If the state is damaged.
    """
    path = folder / STATE_FILE
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
            if sum(each.file_size for each in content.zip.infolist()) > path.stat().st_size:
                raise ValueError("it is smaller than its arrays")
            progress = Progress(**json.loads(str(content["progress"])))
            # Reading an array to its end verifies its checksum.
            return progress, [content[f"arr_{n}"] for n in range(len(content.files) - 1)]
    except Exception as error:  # NumPy, zipfile and json raise many types for a damaged file
        raise CheckpointError(f"{path} is damaged: {one_line(error)}") from error


def _variables(training_model: keras.Model) -> list[keras.Variable]:
    return [*training_model.variables, *training_model.optimizer.variables]
