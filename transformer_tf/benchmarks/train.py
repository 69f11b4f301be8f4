"""How fast the training is, beside the article's loop and PyTorch.

Every system runs in a process of its own, and the processes take turns: while one trains on the
batches of a round, the others wait. What disturbs the machine for a while disturbs all of them.
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

from transformer_tf.benchmarks.baselines.sizes import BATCH_SIZE, LENGTH
from transformer_tf.benchmarks.process import WorkerProcess
from transformer_tf.config import Config, save_config
from transformer_tf.errors import TransformerTFError
from transformer_tf.text.batching import Batch, Batches, pad, shift_target
from transformer_tf.text.corpora import load_corpus
from transformer_tf.text.encoded import EncodedPairs, encode_pairs
from transformer_tf.text.tokenizer import Tokenizer, training_sentences

ROUND_TOKENS = 60_000
"""Padded tokens of a side that a round is made of, so that all rounds take some seconds."""


@dataclasses.dataclass(frozen=True)
class System:
    """What is measured.

    Attributes:
        kind: `ours`, `article` or `torch`.
        tokens: Tokens of a batch on a side; the article's are 64 rows of 42.
        precision: Dtype policy, of ours only.
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
    """Trains with every system by turns.

    Args:
        config: The corpus, the sizes of the model and of the vocabularies.
        rounds: Number of turns that are timed.

    Yields:
        A measurement for each system. The time of an epoch is that of the first step, where
        everything is traced and compiled, and so many median steps as an epoch has.

    Raises:
        TransformerTFError: If a system cannot be started.
    """
    if rounds < 1:
        raise TransformerTFError(f"--rounds must be at least 1, not {rounds}")
    if any(each.kind == "torch" for each in SYSTEMS) and find_spec("torch") is None:
        raise TransformerTFError(
            'PyTorch is measured, too: python -m pip install -e ".[benchmark]"'
        )
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        pairs = _encode(config, folder)
        workers = []
        for number, system in enumerate(tqdm(SYSTEMS, desc="first steps", unit="system")):
            batches, epoch_steps = make_batches(pairs, system, config, rounds + 1)
            worker = Worker(system, batches, epoch_steps, config, folder / str(number))
            workers.append(stack.enter_context(worker))
        for turn in tqdm(range(1, rounds + 1), desc="rounds", unit="round"):
            for worker in workers if turn % 2 else reversed(workers):
                worker.run(turn)
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
            training_sentences(corpus.train, side), config.tokenizer.vocab_size, folder / name
        )
        for side, name in ((0, "source.model"), (1, "target.model"))
    )
    return encode_pairs(corpus.train, source, target, LENGTH - 2)


def make_batches(
    pairs: EncodedPairs, system: System, config: Config, rounds: int
) -> tuple[list[list[Batch]], int]:
    """The batches of each round, and the number of batches of an epoch."""
    if system.kind == "article":
        random = np.random.default_rng(0)
        order = random.permutation(len(pairs))
        per_round = -(-ROUND_TOKENS // system.tokens)
        result = []
        for turn in range(rounds):
            batches: list[Batch] = []
            for number in range(turn * per_round, (turn + 1) * per_round):
                # After the last sentence the first one follows.
                places = np.arange(number * BATCH_SIZE, (number + 1) * BATCH_SIZE) % len(order)
                chosen = order[places]
                source = pad([pairs.source[i] for i in chosen], LENGTH)
                target = pad([pairs.target[i] for i in chosen], LENGTH)
                target_input, target_output = shift_target(target)
                batches.append(({"source": source, "target_input": target_input}, target_output))
            result.append(batches)
        return result, -(-len(pairs) // BATCH_SIZE)
    ours = Batches(pairs, system.tokens, config.training.max_shapes)
    per_round = -(-ROUND_TOKENS // system.tokens)
    return [
        [ours[index % len(ours)] for index in range(turn * per_round, (turn + 1) * per_round)]
        for turn in range(rounds)
    ], len(ours)


class Worker:
    """A process that trains with one system when it is told to.

    Args:
        system: The system.
        batches: The batches of each round, the first one to warm up on.
        epoch_steps: Number of batches of an epoch.
        config: The sizes of the model.
        folder: A folder for what the process is given.
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
        for turn, of_turn in enumerate(batches):
            arrays = {}
            for number, (inputs, target) in enumerate(of_turn):
                arrays[f"source{number}"] = inputs["source"]
                arrays[f"input{number}"] = inputs["target_input"]
                arrays[f"output{number}"] = target
                padded += inputs["source"].size + target.size
                real += np.count_nonzero(inputs["source"]) + np.count_nonzero(target)
            np.savez(folder / f"{turn}.npz", **arrays)  # type: ignore[arg-type]
            self.tokens.append(sum(int(np.count_nonzero(target)) for _, target in of_turn))
        self.padding = 1 - real / padded
        self.folder = folder

    def __enter__(self) -> Worker:
        command = ["transformer_tf.benchmarks.worker", self.system.kind, self.folder]
        self.process = WorkerProcess(str(self.system), command)
        try:
            self.first = self.process.ask(0)
        except BaseException:
            self.__exit__()
            raise
        return self

    def run(self, turn: int) -> None:
        """Trains on the batches of a round."""
        self.seconds.append(self.process.ask(turn)["seconds"])

    def row(self) -> dict[str, Any]:
        """What was measured."""
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
