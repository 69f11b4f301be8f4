"""The folder of a run: its files, its lock, and the cleanup after an interrupted run."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from filelock import FileLock, Timeout

from transformer_tf.checkpoint import BEST_WEIGHTS, CONFIG_FILE, LAST_WEIGHTS, TOKENIZER_FOLDER
from transformer_tf.config import DataConfig
from transformer_tf.errors import ConfigError
from transformer_tf.text.corpora.corpus import HELD_OUT
from transformer_tf.utils.files import atomic_write_bytes

STATE_FILE = "state.npz"
TENSORBOARD_FOLDER = "tensorboard"
METRICS_FILE = "metrics.csv"
SAMPLES_FILE = "samples.txt"
CURVES_FILE = "curves.png"
CORPUS_FILE = "corpus.json"
TEST_FILE = "test.json"
LOCK_FILE = ".lock"
# The files written before the first step. A new start in the same folder overwrites them.
_START_FILES = {
    CONFIG_FILE,
    CORPUS_FILE,
    TOKENIZER_FOLDER,
    TENSORBOARD_FOLDER,
    *(f"{name}.tsv" for name in HELD_OUT),
}


def run_name(data: DataConfig) -> str:
    """Returns a name for a run: the corpus's, or that of its first file without suffixes."""
    name = data.corpus.removeprefix("tfds:")
    if name == "files":
        name = Path(data.files[0][0]).name.partition(".")[0]
    return re.sub(r"[^\w-]+", "-", name).strip("-") or "files"


def find_run(folder: Path) -> Path:
    """Returns the run to resume. If it is the newest of several, prints its name on stderr.

    Args:
        folder: A run, or a folder of runs, of which the newest is chosen.

    Raises:
        ConfigError: If there is no such folder, no run in it, or a checkpoint that cannot resume.
    """
    if not folder.is_dir():
        raise ConfigError(f"Cannot resume {folder}: there is no such folder")
    if not (folder / CONFIG_FILE).is_file():
        runs = [path.parent for path in folder.glob(f"*/{CONFIG_FILE}")]
        if not runs:
            raise ConfigError(f"{folder} contains no run to resume")
        folder = max(runs, key=_last_change)
        print(f"Using {folder}", file=sys.stderr)
    trained = any((folder / name).is_file() for name in (BEST_WEIGHTS, LAST_WEIGHTS))
    if trained and not (folder / STATE_FILE).is_file():
        raise ConfigError(
            f"{folder} contains no training state to resume from. To fine-tune it in a new run: "
            f"training.start_from={folder}"
        )
    return folder


def _last_change(run: Path) -> float:
    places = (run / CONFIG_FILE, run / STATE_FILE)
    return max(place.stat().st_mtime for place in places if place.exists())


def check_unused(folder: Path) -> None:
    """Checks that a new run would not overwrite anything in its folder.

    Raises:
        ConfigError: If the folder holds other files than those written before the first step.
    """
    if _is_trained(folder):
        raise ConfigError(
            f"{folder} already holds files: give the new run another name, or resume the run in "
            f"it: --resume {folder}"
        )


def make_folder(folder: Path) -> list[Path]:
    """Makes the folder of a run and those above it. Returns the new ones, the innermost first."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return new


def discard_start(folder: Path, new_folders: Iterable[Path]) -> None:
    """Deletes the files of a failed start, unless there are other files in the folder.

    Args:
        folder: The folder of the run.
        new_folders: The folders that the start has made, the innermost first.
    """
    if _is_trained(folder):
        return
    for path in (folder / name for name in (*_START_FILES, LOCK_FILE)):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # another run may have begun beside it
        for path in new_folders:
            path.rmdir()


def _is_trained(folder: Path) -> bool:
    """Whether a folder has other files than a start writes."""
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    return bool({name for name in names if not name.startswith(".")} - _START_FILES)


def lock_folder(folder: Path) -> FileLock:
    """Locks a folder against other trainers until the lock is released or the process ends.

    Raises:
        ConfigError: If another trainer, in this or another process, holds the lock.
    """
    lock = FileLock(folder / LOCK_FILE)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ConfigError(
            f"Another trainer is using {folder}: wait until it ends, or close it (Trainer.close)"
        ) from error
    return lock


def drop_samples(folder: Path, steps: Collection[int]) -> None:
    """Deletes the samples of all validations except those after the given steps.

    A process may end between writing the samples of a validation and saving its state. The resumed
    run then repeats that validation.
    """
    path = folder / SAMPLES_FILE
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    before, *blocks = re.split(r"^(?=after step \d+$)", text, flags=re.MULTILINE)
    kept = [block for block in blocks if int(block.split()[2]) in steps]
    if len(kept) < len(blocks):
        atomic_write_bytes(path, "".join([before, *kept]).encode())
