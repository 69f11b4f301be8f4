"""Measures the training speed of this package, of the article's loop and of PyTorch.

Each system runs in its own process, and the processes take turns: while one trains on the batches
of a round, the others wait. A disturbance of the machine then affects all of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import statistics
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from tqdm import tqdm

from benchmarks.baselines.sizes import BATCH_SIZE, LENGTH
from benchmarks.process import WorkerProcess
from transformer_tf.config import Config, save_config
from transformer_tf.errors import TransformerTFError
from transformer_tf.text.batching.batches import Batch, Batches, pad, shift_target
from transformer_tf.text.batching.encoded import EncodedPairs, encode_pairs
from transformer_tf.text.corpora.corpus import load_corpus
from transformer_tf.text.tokenization.tokenizer import Tokenizer, training_sentences

ROUND_TOKENS = 60_000
"""Padded tokens per side of one round; a round takes some seconds."""


@dataclasses.dataclass(frozen=True)
class System:
    """A system to measure.

    Attributes:
        kind: `ours`, `article` or `torch`.
        tokens: Tokens per side of a batch; the article's batches are 64 rows of 42.
        precision: Dtype policy of this package's model.
    """

    kind: str
    tokens: int = BATCH_SIZE * LENGTH
    precision: Literal["float32", "mixed_bfloat16"] = "float32"


SYSTEMS = (
    System("article"),
    System("torch", 1024),
    System("ours", 1024),
    System("torch", 4096),
    System("ours", 4096),
    System("ours", 4096, "mixed_bfloat16"),
)


def measure_training(config: Config, rounds: int) -> Iterator[dict[str, Any]]:
    """Trains with all systems in turn.

    Args:
        config: The corpus, the sizes of the model and of the vocabularies.
        rounds: Number of timed rounds.

    Yields:
        A measurement for each system. The time of an epoch is that of the first step, which
        traces and compiles, plus the median step time multiplied by the steps of an epoch.

    Raises:
        TransformerTFError: If a system does not start.
    """
    if rounds < 1:
        raise TransformerTFError(f"--rounds must be at least 1, not {rounds}")
    if any(system.kind == "torch" for system in SYSTEMS) and find_spec("torch") is None:
        raise TransformerTFError(
            'The benchmark needs PyTorch: python -m pip install -e ".[benchmark]"'
        )
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        pairs = _encode(config, folder)
        workers = []
        for number, system in enumerate(tqdm(SYSTEMS, desc="first steps", unit="system")):
            batches, epoch_steps = make_batches(pairs, system, config, rounds + 1)
            worker = Worker(system, batches, epoch_steps, config, folder / str(number))
            workers.append(stack.enter_context(worker))
        for round_index in tqdm(range(1, rounds + 1), desc="rounds", unit="round"):
            for worker in workers if round_index % 2 else reversed(workers):
                worker.run(round_index)
        rows = [worker.row() for worker in workers]
    speed = {(row["system"], row["tokens"]): row["tokens/s"] for row in rows}
    for row in rows:
        row["x article"] = row["tokens/s"] / rows[0]["tokens/s"]
        torch_speed = speed.get(("torch", row["tokens"]))
        if row["system"] == "ours" and torch_speed:
            row["x torch"] = row["tokens/s"] / torch_speed
        yield row


def _encode(config: Config, folder: Path) -> EncodedPairs:
    corpus = load_corpus(config.data, config.training.seed)
    source, target = (
        Tokenizer.train(
            training_sentences(corpus.train, side), int(config.tokenizer.vocab_size), folder / name
        )
        for side, name in ((0, "source.model"), (1, "target.model"))
    )
    return encode_pairs(corpus.train, source, target, LENGTH - 2)


def make_batches(
    pairs: EncodedPairs, system: System, config: Config, rounds: int
) -> tuple[list[list[Batch]], int]:
    """Returns the batches of each round, and the number of batches of an epoch."""
    if system.kind == "article":
        random = np.random.default_rng(0)
        order = random.permutation(len(pairs))
        per_round = -(-ROUND_TOKENS // system.tokens)
        result = []
        for round_index in range(rounds):
            batches: list[Batch] = []
            for number in range(round_index * per_round, (round_index + 1) * per_round):
                # After the last sentence, start again with the first.
                places = np.arange(number * BATCH_SIZE, (number + 1) * BATCH_SIZE) % len(order)
                chosen = order[places]
                source = pad([pairs.source[i] for i in chosen], LENGTH)
                target = pad([pairs.target[i] for i in chosen], LENGTH)
                target_input, target_output = shift_target(target)
                batches.append(({"source": source, "target_input": target_input}, target_output))
            result.append(batches)
        return result, -(-len(pairs) // BATCH_SIZE)
    ours = Batches(pairs, system.tokens, config.training.max_buckets)
    per_round = -(-ROUND_TOKENS // system.tokens)
    return [
        [ours[index % len(ours)] for index in range(begin, begin + per_round)]
        for begin in range(0, rounds * per_round, per_round)
    ], len(ours)


class Worker:
    """The process of one system.

    Args:
        system: The system.
        batches: The batches of each round, the warm-up round first.
        epoch_steps: Number of batches of an epoch.
        config: The sizes of the model.
        folder: A new folder for the batches and the configuration of the process.
    """

    def __init__(
        self,
        system: System,
        batches: list[list[Batch]],
        epoch_steps: int,
        config: Config,
        folder: Path,
    ):
        self.system = system
        self.epoch_steps = epoch_steps
        self.steps = len(batches[0])
        self.seconds: list[float] = []
        self.tokens: list[int] = []
        folder.mkdir()
        training = dataclasses.replace(config.training, precision=system.precision)
        save_config(dataclasses.replace(config, training=training), folder / "config.yaml")
        padded = real = 0
        for round_index, round_batches in enumerate(batches):
            arrays = {}
            for number, (inputs, target) in enumerate(round_batches):
                arrays[f"source{number}"] = inputs["source"]
                arrays[f"input{number}"] = inputs["target_input"]
                arrays[f"output{number}"] = target
                padded += inputs["source"].size + target.size
                real += np.count_nonzero(inputs["source"]) + np.count_nonzero(target)
            np.savez(folder / f"{round_index}.npz", **arrays)  # type: ignore[arg-type]
            self.tokens.append(sum(int(np.count_nonzero(target)) for _, target in round_batches))
        self.padding = 1 - real / padded
        self.folder = folder

    def __enter__(self) -> Worker:
        command = ["benchmarks.train_worker", self.system.kind, self.folder]
        self.process = WorkerProcess(str(self.system), command)
        try:
            self.first = self.process.ask(0)
        except BaseException:
            self.__exit__()
            raise
        return self

    def run(self, round_index: int) -> None:
        """Trains on the batches of a round."""
        self.seconds.append(self.process.ask(round_index)["seconds"])

    def row(self) -> dict[str, Any]:
        """Returns the measurement."""
        rates = [
            tokens / seconds for tokens, seconds in zip(self.tokens[1:], self.seconds, strict=True)
        ]
        step = statistics.median(self.seconds) / self.steps
        return {
            "system": self.system.kind,
            "tokens": self.system.tokens,
            "precision": self.system.precision,
            "tokens/s": statistics.median(rates),
            "slowest": min(rates),
            "fastest": max(rates),
            "ms a step": 1000 * step,
            "padding": self.padding,
            "first step s": self.first["first"],
            "epoch s": self.first["first"] + self.epoch_steps * step,
            "peak MB": self.process.ask(None)["peak_mb"],
        }

    def __exit__(self, *_: object) -> None:
        self.process.__exit__()
