"""Measures the start time and the speed of exported translators and of the checkpoint itself.

Each system runs in its own process, and the processes take turns.
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

from benchmarks.process import WorkerProcess
from transformer_tf.checkpoint import BEST_WEIGHTS, CONFIG_FILE
from transformer_tf.errors import TransformerTFError
from transformer_tf.text.corpora.corpus import load_held_out

SINGLE, BATCH_SIZE = 20, 64


@dataclasses.dataclass(frozen=True)
class System:
    """A system to measure.

    Attributes:
        name: Its name in the table.
        kind: `checkpoint`, `saved-model` or `onnx`.
        overrides: Strings `decoding.key=value`.
    """

    name: str
    kind: str
    overrides: tuple[str, ...] = ()


GREEDY = ("decoding.beam_size=1",)
SYSTEMS = (
    System("this package, greedy", "checkpoint", GREEDY),
    System("SavedModel, greedy", "saved-model"),
    System("ONNX Runtime, greedy", "onnx"),
    System("this package, as the checkpoint says", "checkpoint"),
)


def measure_exported(folder: Path, example: Path, rounds: int) -> Iterator[dict[str, Any]]:
    """Translates test sentences of a checkpoint with all systems in turn.

    Args:
        folder: The checkpoint.
        example: The path of `examples/translate_onnx.py`.
        rounds: Number of processes of each system.

    Yields:
        For each system its size; the seconds from the start of its process to the first answer,
        and those of the first batch (medians over the processes); the milliseconds of one sentence
        and of a batch after warm-up (medians over all calls).

    Raises:
        TransformerTFError: If there are too few test sentences or a system does not start.
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
                export_saved_model(folder, folders[system])
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
                **{name: statistics.median(answer[name] for answer in answers) for name in names},
            }


def _size(folder: Path) -> int:
    """Returns the bytes of the files that translating needs."""
    if (folder / BEST_WEIGHTS).is_file():
        needed = [folder / BEST_WEIGHTS, folder / CONFIG_FILE, *folder.glob("tokenizers/*")]
    else:
        needed = [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in needed)


def _one_round(
    folders: dict[System, Path], example: Path, single: list[str], batch: list[str]
) -> dict[System, dict[str, float]]:
    """Starts the systems one after the other, then translates with each in turn."""
    measured: dict[System, dict[str, float]] = {}
    with contextlib.ExitStack() as stack:
        workers = {}
        for system, folder in folders.items():
            command = ["benchmarks.exported_worker", system.kind, folder, example]
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
            for text in single:  # each sentence twice, since the first time may compile
                for system, worker in workers.items():
                    ones[system].append(1000 * worker.ask([text]))
        for _ in range(5):
            for system, worker in workers.items():
                batches[system].append(1000 * worker.ask(batch))
        for system in workers:
            measured[system]["one sentence ms"] = statistics.median(ones[system][len(single) :])
            measured[system][f"{BATCH_SIZE} sentences ms"] = statistics.median(batches[system])
    return measured
