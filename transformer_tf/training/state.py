"""The state of a run on disk: everything that the next step depends on.

A state is one `.npz` file, `state/step-00001200.npz`: the weights, the optimiser's variables, the
random generators, and as JSON the step, the best score and the metrics so far. Files are written
whole or not at all, and read back with their checksums.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from transformer_tf.errors import CheckpointError
from transformer_tf.files import remove_partial_files, whole_file

STATE_FOLDER = "state"
_INFO = "info"
# What reading half a file, or one with other bytes in it, can raise.
DAMAGE = (
    *(OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error),
    *(NotImplementedError, RuntimeError),  # "version 10.9", "encrypted": a damaged directory
)


@dataclasses.dataclass
class Progress:
    """How far a run has come.

    Attributes:
        step: Number of batches trained on.
        seconds: Time spent on them and on validations, in all parts of the run.
        best: The best score of a validation so far; None before the first.
        validations_since_best: Validations since then.
        rows: The metrics of each validation.
        epoch_lengths: Number of batches of each epoch so far, if that differs.
        fingerprint: A hash of the training pairs.
    """

    step: int = 0
    seconds: float = 0.0
    best: float | None = None
    validations_since_best: int = 0
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    epoch_lengths: list[int] = dataclasses.field(default_factory=list)
    fingerprint: str = ""


def save_state(
    folder: Path, progress: Progress, arrays: Sequence[tuple[str, np.ndarray]], keep: int
) -> Path:
    """Writes a state, and deletes all but the last few.

    Args:
        folder: The folder of the run.
        progress: How far it has come.
        arrays: Names and values of all variables, in a fixed order.
        keep: Number of states to keep, at least 1.

    Raises:
        CheckpointError: If it cannot be written. The states before it are left as they are.
    """
    directory = folder / STATE_FOLDER
    path = directory / f"step-{progress.step:08d}.npz"
    info = {"progress": dataclasses.asdict(progress), "names": [name for name, _ in arrays]}
    content = {f"{number:05d}": value for number, (_, value) in enumerate(arrays)}
    content[_INFO] = np.frombuffer(json.dumps(info).encode(), dtype="uint8")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as partial:
            np.savez(partial, **content)  # type: ignore[arg-type]
    except OSError as error:
        raise CheckpointError(
            f"Cannot write the state {path}: {error.strerror or error}. The run can go on from "
            f"the state before it: --resume {folder}"
        ) from error
    states = _states(folder)
    place = states.index(path)
    # Those of later steps were damaged: the run went on from one before them.
    for needless in (*states[:place], *states[place + keep :]):
        with contextlib.suppress(OSError):
            needless.unlink()
    return path


def load_state(folder: Path) -> tuple[Progress, list[tuple[str, np.ndarray]]] | None:
    """Reads the latest whole state of a run.

    A damaged one is told of in a warning, and the one before it is taken.

    Returns:
        How far the run has come and all variables, or None if there is no state yet.

    Raises:
        CheckpointError: If there are states, and all are damaged.
    """
    paths = _states(folder)
    for path in paths:
        try:
            return _read(path)
        except DAMAGE as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            warnings.warn(f"{path} is damaged ({reason}); trying the one before", stacklevel=2)
    if paths:
        raise CheckpointError(f"All states in {folder / STATE_FOLDER} are damaged")
    return None


def remove_leftovers(folder: Path) -> None:
    """Deletes what a process that was killed while it wrote has left in the folder of a run."""
    for place in (folder, folder / STATE_FOLDER):
        remove_partial_files(place)


def _read(path: Path) -> tuple[Progress, list[tuple[str, np.ndarray]]]:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
        info = json.loads(bytes(content[_INFO]))
        # Reading a member to its end checks it against the archive's checksum.
        arrays = [(name, content[f"{number:05d}"]) for number, name in enumerate(info["names"])]
    return Progress(**info["progress"]), arrays


def _states(folder: Path) -> list[Path]:
    """The states of a run, the latest first."""
    return sorted((folder / STATE_FOLDER).glob("step-*.npz"), reverse=True)
