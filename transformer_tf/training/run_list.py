"""A list of runs: their languages, their state, their last step and their best score."""

from __future__ import annotations

import csv
import time
from pathlib import Path

from filelock import FileLock, Timeout

from transformer_tf.checkpoint import CONFIG_FILE
from transformer_tf.config import load_saved_config
from transformer_tf.errors import ConfigError
from transformer_tf.training.run_folder import (
    LOCK_FILE,
    METRICS_FILE,
    STATE_FOLDER,
    TEST_FILE,
)
from transformer_tf.utils.tables import grouped, table


def runs_table(directory: Path) -> str:
    """Formats a table of the runs in a folder, the latest last.

    Args:
        directory: The folder of the runs.

    Returns:
        The table; empty if there are none.
    """
    folders = [path.parent for path in directory.glob(f"*/{CONFIG_FILE}")]
    return table([_describe(folder) for folder in sorted(folders, key=_last_change)])


def _describe(folder: Path) -> dict[str, str]:
    try:
        config = load_saved_config(folder / CONFIG_FILE)
    except ConfigError:
        return {"run": str(folder), "state": "damaged configuration"}
    pair = f"{config.data.source_language}-{config.data.target_language}"
    rows = _metrics(folder)
    states = [int(path.stem.split("-")[1]) for path in (folder / STATE_FOLDER).glob("step-*.npz")]
    step = max([*states, *(int(row["step"]) for row in rows)], default=0)
    metric = config.training.best_metric
    name = {"bleu": "BLEU", "chrf": "chrF"}.get(metric, metric)
    scores = [float(row[f"val_{metric}"]) for row in rows if row.get(f"val_{metric}")]
    best = min(scores, default=None) if metric == "perplexity" else max(scores, default=None)
    return {
        "run": str(folder),
        "pair": pair,
        "state": _state(folder, step),
        "last step": grouped(step),
        "best": "" if best is None else f"{name} {best:.2f}",
        "last change": time.strftime("%Y-%m-%d %H:%M", time.localtime(_last_change(folder))),
    }


def _state(folder: Path, step: int) -> str:
    if _is_locked(folder):
        return "training"
    test, state = folder / TEST_FILE, folder / STATE_FOLDER
    # A resumed run saves states that are newer than its earlier test scores.
    if test.is_file() and not (state.is_dir() and _modified(state) > _modified(test)):
        return "finished"
    return "stopped" if step else "not trained"


def _is_locked(folder: Path) -> bool:
    lock = folder / LOCK_FILE
    if not lock.is_file():
        return False
    try:
        with FileLock(lock, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # a folder of another user
        return False


def _metrics(folder: Path) -> list[dict[str, str]]:
    path = folder / METRICS_FILE
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _last_change(folder: Path) -> float:
    names = (CONFIG_FILE, METRICS_FILE, STATE_FOLDER, TEST_FILE)
    return max(_modified(folder / name) for name in names if (folder / name).exists())


def _modified(path: Path) -> float:
    return path.stat().st_mtime
