"""How fast translations are found, beside the tutorial's loop and CTranslate2 on the same weights.

Every system runs in a process of its own, and the processes take turns: while one translates, the
others wait.
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

from transformer_tf.benchmarks.process import WorkerProcess
from transformer_tf.checkpoint import SOURCE_MODEL
from transformer_tf.errors import TransformerTFError
from transformer_tf.startup import processors
from transformer_tf.text.corpora import load_held_out
from transformer_tf.text.tokenizer import Tokenizer


@dataclasses.dataclass(frozen=True)
class System:
    """What is measured.

    Attributes:
        name: What to call it.
        kind: `ours`, `tutorial` or `ctranslate2`.
        backend: The back end of Keras.
        quantization: How CTranslate2 stores the weights.
        threads: Of CTranslate2: batches at a time, each with a thread of its own; 0 for its
            defaults.
    """

    name: str
    kind: str
    backend: str = "tensorflow"
    quantization: str | None = None
    threads: int = 0


@dataclasses.dataclass(frozen=True)
class Workload:
    """What is to be translated, and how.

    Attributes:
        name: What to call it.
        sentences: Number of sentences.
        options: Changes of the decoding's options, the width of the beam among them.
        one_by_one: Whether a sentence is translated only when the one before is.
        short: Number of sentences for a system that is slow.
    """

    name: str
    sentences: int
    options: dict[str, Any]
    one_by_one: bool = False
    short: int = 0


THREADS = processors()
SYSTEMS = (
    System("ours, TensorFlow", "ours"),
    System("ours, JAX", "ours", "jax"),
    System("tutorial's loop", "tutorial"),
    System("CTranslate2 float32", "ctranslate2", threads=THREADS),
    System("CTranslate2 int8", "ctranslate2", quantization="int8", threads=THREADS),
    System("CTranslate2 float32, its default threads", "ctranslate2"),
)
WORKLOADS = (
    Workload("batch 1, greedy", 100, {"batch_size": 1, "beam_size": 1}, True, short=20),
    Workload(
        "batch 1, greedy, 128 tokens",
        6,
        {
            "batch_size": 1,
            "beam_size": 1,
            "max_length": 128,
            "min_length": 127,
            "max_length_ratio": 128.0,
        },
        True,
        short=1,
    ),
    Workload("batch 64, greedy", 2000, {"batch_size": 64, "beam_size": 1}),
    Workload("batch 32, beam 4", 1000, {"batch_size": 32, "beam_size": 4}),
)


def measure_decoding(folder: Path, rounds: int) -> Iterator[dict[str, Any]]:
    """Translates test sentences of a run with every system by turns.

    Args:
        folder: The run.
        rounds: Number of turns that are timed.

    Yields:
        A measurement for each workload and system: target tokens a second, and how many times as
        fast this package is with TensorFlow.

    Raises:
        TransformerTFError: If something is missing or a system cannot be started.
    """
    if rounds < 1:
        raise TransformerTFError(f"--rounds must be at least 1, not {rounds}")
    for module in ("ctranslate2", "jax"):
        if find_spec(module) is None:
            raise TransformerTFError(
                f'{module} is measured, too: python -m pip install -e ".[benchmark,jax]"'
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
            command = ["transformer_tf.benchmarks.decode_worker", system.kind, source]
            process = WorkerProcess(
                system.name, [*command, system.threads], {"KERAS_BACKEND": system.backend}
            )
            workers[system] = stack.enter_context(process)
        for workload in WORKLOADS:
            yield from _measure(workload, workers, sentences, rounds)


def _measure(
    workload: Workload,
    workers: dict[System, WorkerProcess],
    sentences: list[list[int]],
    rounds: int,
) -> Iterator[dict[str, Any]]:
    """One workload: a turn to warm up, then those that are timed."""
    measured: dict[System, list[dict[str, float]]] = {system: [] for system in workers}
    for turn in tqdm(range(rounds + 1), desc=workload.name, unit="round", leave=False):
        order = list(workers) if turn % 2 else list(reversed(workers))
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
