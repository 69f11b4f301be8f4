"""Measures the decoding speed of this package, of the tutorial's loop and of CTranslate2.

All systems use the same weights. Each runs in its own process, and the processes take turns: while
one translates, the others wait.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
import statistics
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.process import WorkerProcess
from transformer_tf.checkpoint import SOURCE_MODEL
from transformer_tf.errors import TransformerTFError
from transformer_tf.text.corpora.corpus import load_held_out
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.utils.startup import available_cpus


@dataclasses.dataclass(frozen=True)
class System:
    """A system to measure.

    Attributes:
        name: Its name in the table.
        kind: `ours`, `tutorial` or `ctranslate2`.
        quantization: The weight format of CTranslate2.
        threads: Number of batches that CTranslate2 translates at a time, with one thread each; 0
            for its defaults.
    """

    name: str
    kind: str
    quantization: str | None = None
    threads: int = 0


@dataclasses.dataclass(frozen=True)
class Workload:
    """Sentences to translate, and the search options.

    Attributes:
        name: Its name in the table.
        sentences: Number of sentences.
        options: Changes to the decoding options; always with `beam_size`.
        one_by_one: Whether each sentence is a call of its own.
        short: Number of sentences for the tutorial's loop; 0 to skip it.
    """

    name: str
    sentences: int
    options: dict[str, Any]
    one_by_one: bool = False
    short: int = 0


THREADS = available_cpus()
SYSTEMS = (
    System("ours", "ours"),
    System("tutorial's loop", "tutorial"),
    System("CTranslate2 float32", "ctranslate2", threads=THREADS),
    System("CTranslate2 int8", "ctranslate2", quantization="int8", threads=THREADS),
    System("CTranslate2 float32, its default threads", "ctranslate2"),
)
WORKLOADS = (
    Workload("one by one, greedy", 100, {"beam_size": 1}, True, short=20),
    Workload("batches of 64, greedy", 2000, {"beam_size": 1}),
    Workload("batches of 64, beam 4", 1000, {"beam_size": 4}),
)


def measure_decoding(folder: Path, rounds: int) -> Iterator[dict[str, Any]]:
    """Translates test sentences of a checkpoint with all systems in turn.

    Args:
        folder: The checkpoint.
        rounds: Number of timed rounds.

    Yields:
        For each workload and system the target tokens per second, and the speed of this package
        relative to it.

    Raises:
        TransformerTFError: If a module is not installed or a system does not start.
    """
    if rounds < 1:
        raise TransformerTFError(f"--rounds must be at least 1, not {rounds}")
    if find_spec("ctranslate2") is None:
        raise TransformerTFError(
            'The benchmark needs ctranslate2: python -m pip install -e ".[benchmark]"'
        )
    from transformer_tf.export.ctranslate2 import export_ctranslate2

    tokenizer = Tokenizer.load(folder / SOURCE_MODEL)
    texts = [source for source, _ in load_held_out(folder, "test")]
    random.Random(0).shuffle(texts)
    sentences = tokenizer.encode_sentences(texts)
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        exported = {}
        for quantization in {system.quantization for system in SYSTEMS}:
            exported[quantization] = Path(name) / str(quantization)
            export_ctranslate2(folder, exported[quantization], quantization)
        workers = {}
        for system in SYSTEMS:
            source = exported[system.quantization] if system.kind == "ctranslate2" else folder
            command = ["benchmarks.decode_worker", system.kind, source]
            process = WorkerProcess(system.name, [*command, system.threads])
            workers[system] = stack.enter_context(process)
        for workload in WORKLOADS:
            yield from _measure(workload, workers, sentences, rounds)


def _measure(
    workload: Workload,
    workers: dict[System, WorkerProcess],
    sentences: list[list[int]],
    rounds: int,
) -> Iterator[dict[str, Any]]:
    """Runs one workload: a warm-up round, then the timed rounds."""
    measured: dict[System, list[dict[str, float]]] = {system: [] for system in workers}
    for round_index in tqdm(range(rounds + 1), desc=workload.name, unit="round", leave=False):
        order = list(workers) if round_index % 2 else list(reversed(workers))
        for system in order:
            slow = system.kind == "tutorial"
            if slow and not workload.short:
                continue
            number = workload.short if slow else workload.sentences
            question = {
                "options": workload.options,
                "sentences": sentences[:number],
                "one by one": workload.one_by_one,
            }
            measured[system].append(workers[system].ask(question))
    ours = 0.0
    for system, answers in measured.items():
        if not answers:
            continue
        rates = [answer["tokens"] / answer["seconds"] for answer in answers[1:]]
        rate = statistics.median(rates)
        ours = ours or rate
        yield {
            "workload": workload.name,
            "system": system.name,
            "tokens/s": rate,
            "slowest": min(rates),
            "fastest": max(rates),
            "first round s": answers[0]["seconds"],
            "x ours": ours / rate,
        }
