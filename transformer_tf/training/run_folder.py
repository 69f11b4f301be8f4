"""The folder of a run: its files, its lock, and the repair of what an interrupted run left."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from filelock import FileLock, Timeout

from transformer_tf.checkpoint import CONFIG_FILE, TOKENIZER_FOLDER
from transformer_tf.errors import ConfigError
from transformer_tf.text.corpora.corpus import HELD_OUT
from transformer_tf.training.state import STATE_FOLDER
from transformer_tf.utils.files import atomic_write_bytes, remove_partial_files

METRICS_FILE = "metrics.csv"
SAMPLES_FILE = "samples.txt"
CURVES_FILE = "curves.png"
CORPUS_FILE = "corpus.json"
LOCK_FILE = ".lock"
# The files that a failed start may leave. A new start in the same folder overwrites them.
_START_FILES = {CONFIG_FILE, CORPUS_FILE, TOKENIZER_FOLDER, *(f"{name}.tsv" for name in HELD_OUT)}


def check_unused(folder: Path) -> None:
    """Checks that a new run would not overwrite anything in its folder.

    Raises:
        ConfigError: If the folder holds files other than those of a failed start.
    """
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if {name for name in names if not name.startswith(".")} - _START_FILES:
        raise ConfigError(
            f"training.directory={folder} already holds files: name a new folder, or resume the "
            f"run in it: --resume {folder}"
        )


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


def remove_leftovers(folder: Path) -> None:
    """Deletes the partial files that a killed process left in the folder of a run."""
    for place in (folder, folder / STATE_FOLDER):
        remove_partial_files(place)


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
