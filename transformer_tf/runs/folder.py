"""The folder of a run: its files, its lock, and the cleanup after an interrupted run."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from pathlib import Path

from filelock import FileLock, Timeout

from transformer_tf.catalog import CONFIG_FILE
from transformer_tf.checkpoint import BEST_WEIGHTS, LAST_WEIGHTS
from transformer_tf.config import DataConfig
from transformer_tf.errors import ConfigError
from transformer_tf.utils.files import remove_partial_files

STATE_FILE = "state.npz"
METRICS_FILE = "metrics.csv"
SAMPLES_FILE = "samples.txt"
CURVES_FILE = "curves.png"
CORPUS_FILE = "corpus.json"
LOCK_FILE = ".lock"


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


class FolderLock:
    """The folder of a run, made if it is missing, and locked against other trainers.

    Args:
        folder: The folder of the run.
        resume: Whether the run is resumed. A new run needs an empty folder.

    Raises:
        ConfigError: If a new run's folder contains files, other than hidden ones, or if another
            trainer, in this or another process, is training in it.
    """

    def __init__(self, folder: Path, resume: bool):
        if not resume and _files(folder):
            raise ConfigError(
                f"{folder} already contains files: give the new run another name, or resume the "
                f"run in it: --resume {folder}"
            )
        self.folder = folder
        self._new = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        self._acquire()
        remove_partial_files(folder)

    def _acquire(self) -> None:
        path = self.folder / LOCK_FILE
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise ConfigError(
                f"Another process is training in {self.folder}: wait until it ends, or close its "
                "trainer (Trainer.close)"
            ) from error
        self._lock, self._identity = lock, path.stat()

    def _is_held(self) -> bool:
        """Whether the file that is locked is still the one in the folder."""
        path = self.folder / LOCK_FILE
        return path.exists() and os.path.samestat(path.stat(), self._identity)

    def check(self) -> None:
        """Locks the folder again if its lock file was deleted.

        Raises:
            ConfigError: If another trainer has locked the folder since.
        """
        if not self._is_held():
            self._acquire()

    def release(self) -> None:
        """Unlocks the folder."""
        self._lock.release()

    def discard(self) -> None:
        """Unlocks the folder and, if the run has no state yet, deletes what is in it."""
        self.release()
        if (self.folder / STATE_FILE).exists() or not self._is_held():
            return
        for path in (*_files(self.folder), self.folder / LOCK_FILE):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        with contextlib.suppress(OSError):  # another run may have begun beside it
            for path in self._new:
                path.rmdir()


def _files(folder: Path) -> list[Path]:
    """Returns the files and folders in a folder that are not hidden."""
    return [path for path in folder.glob("*") if not path.name.startswith(".")]
