"""Previews a run before training: its data, plan, time and memory."""

from __future__ import annotations

import contextlib
import random
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np

from transformer_tf.config import Config
from transformer_tf.runs.trainer import Trainer
from transformer_tf.training.callbacks import format_duration, time_limit_note
from transformer_tf.training.loop import train_until
from transformer_tf.training.progress import Progress
from transformer_tf.utils.memory import peak_memory_mb
from transformer_tf.utils.tables import grouped

TIMED_STEPS = 20
SHOWN_PAIRS = 10


@contextlib.contextmanager
def scratch_trainer(config: Config) -> Iterator[Trainer]:
    """Yields a trainer whose files are deleted afterwards. Only downloads are kept.

    Args:
        config: The configuration of a new run.

    Raises:
        TransformerTFError: If the run could not start. See `Trainer`.
    """
    with (
        tempfile.TemporaryDirectory() as scratch,
        Trainer(config, Path(scratch) / "run") as trainer,
    ):
        yield trainer.prepare()


def report(trainer: Trainer) -> Iterator[str]:
    """Yields the parts of a report on a new run. The last one trains a few steps."""
    yield trainer.data.table()
    yield _lengths(trainer)
    yield _examples(trainer)
    yield trainer.summary()
    yield _time_and_memory(trainer)


def _lengths(trainer: Trainer) -> str:
    """Reports the number of sub-words of the training sentences."""
    pairs = trainer.data.train.pairs
    lines = []
    for side, sequences in (("source", pairs.source), ("target", pairs.target)):
        lengths = np.asarray(sequences.lengths) - 2  # start and end
        lines.append(
            f"sub-words of a {side} sentence: {lengths.mean():.1f} on average, "
            f"95 % of them at most {np.quantile(lengths, 0.95):.0f}, the longest {lengths.max()}"
        )
    return "\n".join(lines)


def _examples(trainer: Trainer) -> str:
    """Shows random pairs as the sub-words that the model sees."""
    pairs = trainer.data.train.pairs
    count = min(SHOWN_PAIRS, len(pairs))
    lines = [f"{count} random pairs as the model sees them:"]
    chosen = random.Random(trainer.config.training.seed).sample(range(len(pairs)), count)
    for index in sorted(chosen):
        source = " ".join(trainer.source_tokenizer.tokens(pairs.source[index]))
        target = " ".join(trainer.target_tokenizer.tokens(pairs.target[index]))
        lines.append(f"  {source}\n  → {target}")
    return "\n".join(lines)


def _time_and_memory(trainer: Trainer) -> str:
    """Trains a few steps and estimates the time of the whole run."""
    training, plan = trainer.config.training, trainer.plan
    seconds = seconds_per_step(trainer)
    lines = [
        f"{seconds:.2g} s per step, measured over {TIMED_STEPS} steps: "
        f"{format_duration(plan.max_steps * seconds)} for all {plan.max_steps} steps, without the "
        "validations"
    ]
    if training.max_minutes and 60 * training.max_minutes < plan.max_steps * seconds:
        lines.append(time_limit_note(int(60 * training.max_minutes / seconds), plan.max_steps))
    memory = peak_memory_mb()
    if memory is not None:
        lines.append(f"peak memory of this process so far: {grouped(memory)} MB")
    return "\n".join(lines)


def seconds_per_step(trainer: Trainer) -> float:
    """Returns the mean time of `TIMED_STEPS` training steps.

    The time to compile them is left out: JAX compiles a step for each shape, TensorFlow once.
    """
    model, stream, steps = trainer.training_model, trainer.stream, TIMED_STEPS + 1
    if keras.backend.backend() != "tensorflow":
        train_until(model, stream, steps, Progress(), [])
    ends: list[float] = []

    def after_step(_: int, logs: Mapping[str, Any]) -> None:
        float(logs["loss"])  # waits until the step is done
        ends.append(time.monotonic())

    watch = keras.callbacks.LambdaCallback(on_train_batch_end=after_step)
    train_until(model, stream, steps, Progress(), [watch])
    return (ends[-1] - ends[0]) / TIMED_STEPS
