"""How soon and how fast exported translators answer, beside the checkpoint itself.

Every system runs in a process of its own, and the processes take turns.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transformer_tf.benchmarks.process import WorkerProcess
from transformer_tf.checkpoint import BEST_WEIGHTS, CONFIG_FILE
from transformer_tf.errors import TransformerTFError
from transformer_tf.text.corpora import load_held_out

SINGLE, BATCH_SIZE = 20, 64


@dataclasses.dataclass(frozen=True)
class System:
    """What is measured.

    Attributes:
        name: What to call it.
        kind: `checkpoint`, `saved-model` or `onnx`.
        overrides: How it searches.
    """

    name: str
    kind: str
    overrides: tuple[str, ...] = ()


GREEDY = ("decoding.beam_size=1",)
SYSTEMS = (
    System("this package, greedy", "checkpoint", GREEDY),
    System("SavedModel, greedy", "saved-model", GREEDY),
    System("ONNX Runtime, greedy", "onnx"),
    System("this package, as the checkpoint says", "checkpoint"),
    System("SavedModel, as the checkpoint says", "saved-model"),
)


def measure_exported(folder: Path, example: Path, rounds: int) -> Iterator[dict[str, Any]]:
    """Translates test sentences of a run with every system by turns.

    Args:
        folder: The run.
        example: `examples/translate_onnx.py`.
        rounds: Number of turns.

    Yields:
        For each system its size, the seconds from the start of its process to the first answer
        and those of the first batch (medians of `rounds` processes), and once warm the
        milliseconds of one sentence and of a batch (medians of all turns).

    Raises:
        TransformerTFError: If something is missing or a system cannot be started.
    """
    if rounds < 1:
        raise TransformerTFError(f"--rounds must be at least 1, not {rounds}")
    from transformer_tf.export.onnx import export_onnx
    from transformer_tf.export.saved_model import export_saved_model

    texts = [source for source, _ in load_held_out(folder, "test")]
    random.Random(0).shuffle(texts)
    if len(texts) < SINGLE + BATCH_SIZE:
        raise TransformerTFError(
            f"{folder} has {len(texts)} test sentences; {SINGLE + BATCH_SIZE} are needed"
        )
    single, batch = texts[:SINGLE], texts[SINGLE : SINGLE + BATCH_SIZE]
    with tempfile.TemporaryDirectory() as name:
        folders = {}
        for number, system in enumerate(SYSTEMS):
            folders[system] = folder
            if system.kind != "checkpoint":
                folders[system] = Path(name) / str(number)
            if system.kind == "saved-model":
                export_saved_model(folder, folders[system], system.overrides)
            elif system.kind == "onnx":
                export_onnx(folder, folders[system])
        measured: dict[System, list[dict[str, float]]] = {system: [] for system in SYSTEMS}
        for _ in range(rounds):
            measured_now = _one_round(folders, example, single, batch)
            for system in SYSTEMS:
                measured[system].append(measured_now[system])
        for system, answers in measured.items():
            names = answers[0].keys()
            yield {
                "system": system.name,
                "MB": _size(folders[system]) / 1e6,
                **{name: statistics.median(each[name] for each in answers) for name in names},
            }


def _size(folder: Path) -> int:
    """The bytes that translating needs: of weights the best, of a run no more than that."""
    if (folder / BEST_WEIGHTS).is_file():
        needed = [folder / BEST_WEIGHTS, folder / CONFIG_FILE, *folder.glob("tokenizers/*")]
    else:
        needed = [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in needed)


def _one_round(
    folders: dict[System, Path], example: Path, single: list[str], batch: list[str]
) -> dict[System, dict[str, float]]:
    """Starts every system, one after the other, and lets them translate by turns."""
    measured: dict[System, dict[str, float]] = {}
    with contextlib.ExitStack() as stack:
        workers = {}
        for system, folder in folders.items():
            command = ["transformer_tf.benchmarks.exported_worker", system.kind, folder, example]
            begin = time.perf_counter()
            process = WorkerProcess(system.name, [*command, *system.overrides])
            workers[system] = stack.enter_context(process)
            workers[system].ask(single[:1])
            measured[system] = {"first answer s": time.perf_counter() - begin}
        for system, worker in workers.items():
            measured[system]["first batch s"] = worker.ask(batch)
        ones: dict[System, list[float]] = {system: [] for system in workers}
        batches: dict[System, list[float]] = {system: [] for system in workers}
        for _ in range(2):
            for text in single:  # every length twice: the first time may compile something
                for system, worker in workers.items():
                    ones[system].append(1000 * worker.ask([text]))
        for _ in range(5):
            for system, worker in workers.items():
                batches[system].append(1000 * worker.ask(batch))
        for system in workers:
            measured[system]["one sentence ms"] = statistics.median(ones[system][len(single) :])
            measured[system][f"{BATCH_SIZE} sentences ms"] = statistics.median(batches[system])
    return measured
