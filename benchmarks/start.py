"""Measures the time and the memory of `scripts/translate.py` with each of its engines.

Every measurement starts a process of its own, and the engines take turns. Once warm, a worker
process of each engine translates sentences of about ten tokens.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.process import WorkerProcess
from transformer_tf.errors import TransformerTFError
from transformer_tf.text.corpora.corpus import load_held_out

ENGINES = ("numpy", "keras", "ctranslate2")
SENTENCE = "I went to the shop to buy something to drink."
FILE_SENTENCES = 1000
WARM_SENTENCES = 20
WARM_TOKENS = range(9, 12)  # sub-words of a sentence, without start and end
SEARCHES = {"greedy": 1, "beam 4": 4}


@dataclasses.dataclass(frozen=True)
class Run:
    """How one process ended.

    Attributes:
        seconds: From its start to its end.
        megabytes: Its peak memory, in 10^6 bytes.
    """

    seconds: float
    megabytes: float


def measure_start(folder: Path, script: Path, rounds: int) -> Iterator[dict[str, Any]]:
    """Runs `translate.py` with all engines in turn.

    Args:
        folder: A checkpoint with held-out test sentences.
        script: `scripts/translate.py`.
        rounds: Number of starts of each kind.

    Yields:
        For each task and engine the median, the smallest and the largest time, and the peak
        memory of a process.

    Raises:
        TransformerTFError: If something is missing or a process fails.
    """
    if rounds < 1:
        raise TransformerTFError(f"--rounds must be at least 1, not {rounds}")
    from transformer_tf.export.ctranslate2 import export_ctranslate2

    texts = [source for source, _ in load_held_out(folder, "test")]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        export_ctranslate2(folder, work / "ctranslate2")
        folders = {engine: folder for engine in ENGINES}
        folders["ctranslate2"] = work / "ctranslate2"
        (work / "lines.txt").write_text("\n".join(texts[:FILE_SENTENCES]) + "\n", encoding="utf-8")
        for task, arguments, engines in _tasks(work):
            measured: dict[str, list[Run]] = {engine: [] for engine in engines}
            for turn in range(rounds):
                for engine in engines if turn % 2 else reversed(engines):
                    command = [script, "--engine", engine, "--checkpoint", folders[engine]]
                    measured[engine].append(_run([*command, *arguments]))
            for engine, runs in measured.items():
                seconds = [run.seconds for run in runs]
                yield {
                    "task": task,
                    "engine": engine,
                    "median s": statistics.median(seconds),
                    "fastest s": min(seconds),
                    "slowest s": max(seconds),
                    "MB": statistics.median(run.megabytes for run in runs),
                }
        yield from _measure_warm(folders, texts, rounds)


def _tasks(work: Path) -> Iterator[tuple[str, list[object], Sequence[str]]]:
    """Yields the name of each task, its arguments, and the engines that support it."""
    with_attention = ENGINES[:2]
    yield "answer", [SENTENCE], ENGINES
    yield "heat map, PNG", [SENTENCE, "--attention", work / "map.png"], with_attention
    yield "page, HTML", [SENTENCE, "--attention", work / "map.html"], with_attention
    for name, beam_size in SEARCHES.items():
        files = ["--input", work / "lines.txt", "--output", work / "translations.txt"]
        yield f"{FILE_SENTENCES} lines, {name}", [*files, "--beam-size", beam_size], ENGINES


# A small process starts the command: the peak memory of a child counts from its fork, and this
# process has imported TensorFlow.
LAUNCHER = """
import json, resource, subprocess, sys, time

begin = time.perf_counter()
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
seconds = time.perf_counter() - begin
print(json.dumps([status, seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]))
"""


def _run(command: Sequence[object]) -> Run:
    """Runs a Python script, and waits for it."""
    result = subprocess.run(
        [sys.executable, "-c", LAUNCHER, sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)},
    )
    status, seconds, peak = json.loads(result.stdout)
    if status:
        reason = " ".join(result.stderr.split()) or f"exit status {status}"
        raise TransformerTFError(f"{' '.join(map(str, command))} failed: {reason[-200:]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(seconds, peak * unit / 1e6)


def _measure_warm(
    folders: dict[str, Path], texts: Sequence[str], rounds: int
) -> Iterator[dict[str, Any]]:
    """Measures single sentences and a whole file in processes that have started."""
    from transformer_tf.checkpoint import SOURCE_MODEL
    from transformer_tf.text.tokenization.tokenizer import Tokenizer

    tokenizer = Tokenizer.load(folders["keras"] / SOURCE_MODEL)
    short = [text for text in texts if len(tokenizer.encode(text)) in WARM_TOKENS]
    for name, beam_size in SEARCHES.items():
        with contextlib.ExitStack() as stack:
            workers: dict[str, tuple[WorkerProcess, list[Any], list[Any]]] = {}
            for engine, folder in folders.items():
                command = ["benchmarks.start_worker", engine, folder, beam_size]
                worker = WorkerProcess(f"{engine}, {name}", command)
                workers[engine] = stack.enter_context(worker), [], []
            for _ in range(rounds + 1):  # the first time may compile something
                for worker, ones, blocks in workers.values():
                    ones.append([worker.ask([text]) for text in short[:WARM_SENTENCES]])
                    blocks.append(worker.ask(texts[:FILE_SENTENCES]))
        for engine, (_, ones, blocks) in workers.items():
            seconds = [answer["seconds"] for one in ones[1:] for answer in one]
            rates = [block["tokens"] / block["seconds"] for block in blocks[1:]]
            yield {
                "task": f"warm, {name}",
                "engine": engine,
                "one sentence ms": 1000 * statistics.median(seconds),
                "tokens/s, one by one": sum(a["tokens"] for one in ones[1:] for a in one)
                / sum(seconds),
                f"tokens/s, {FILE_SENTENCES} sentences": statistics.median(rates),
            }
