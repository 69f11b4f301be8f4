"""Previews a run before training: its data, plan, time and memory."""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from transformer_tf.config import Config
from transformer_tf.runs.plan import plan_in_time
from transformer_tf.runs.trainer import Trainer
from transformer_tf.training.callbacks import format_duration
from transformer_tf.training.loop import TIMED_STEPS, seconds_per_step
from transformer_tf.utils.memory import peak_memory_mb
from transformer_tf.utils.tables import grouped

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
    seconds = seconds_per_step(trainer.training_model, trainer.stream)
    lines = [
        f"{seconds:.2g} s per step, measured over {TIMED_STEPS} steps: "
        f"{format_duration(plan.max_steps * seconds)} for all {plan.max_steps} steps, without the "
        "validations"
    ]
    if training.max_minutes:
        steps_per_epoch = trainer.stream.steps_per_epoch
        plan = plan_in_time(training, steps_per_epoch, 60 * training.max_minutes, seconds)
        lines.append(f"in {training.max_minutes:g} minutes about {plan.summary()}")
    memory = peak_memory_mb()
    if memory is not None:
        lines.append(f"peak memory of this process so far: {grouped(memory)} MB")
    return "\n".join(lines)
