"""The training loop: Keras's `fit` on the batches from one validation to the next."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import keras
from keras.callbacks import Callback

from transformer_tf.training.progress import Progress
from transformer_tf.training.stream import BatchStream, as_dataset

TIMED_STEPS = 20


def train_until(
    training_model: keras.Model,
    stream: BatchStream,
    end: int,
    progress: Progress,
    callbacks: Sequence[Callback],
) -> dict[str, Any]:
    """Trains from the present step up to another one, or until a callback ends the training.

    Args:
        training_model: The compiled training model.
        stream: The batches.
        end: The step after the last one, counted from 0.
        progress: The progress of the run, which a `StepCounter` among the callbacks updates.
        callbacks: Called as in `keras.Model.fit`.

    Returns:
        The metrics of these steps.
    """
    begin, seconds = progress.step, progress.seconds
    history = training_model.fit(
        as_dataset(lambda: stream.take(begin, end), end - begin),
        steps_per_epoch=end - begin,
        callbacks=list(callbacks),
        shuffle=False,
        verbose=0,
    )
    metrics = {name: float(values[-1]) for name, values in history.history.items()}
    tokens = metrics.pop("tokens")
    seconds = progress.seconds - seconds
    rate = keras.ops.convert_to_numpy(training_model.optimizer.learning_rate)
    return {
        "step": progress.step,
        "epoch": round(progress.step / stream.steps_per_epoch, 3),
        **metrics,
        "learning_rate": float(rate),
        "tokens_per_second": tokens / max(seconds, 1e-9),
        "seconds": seconds,
    }


def seconds_per_step(training_model: keras.Model, stream: BatchStream) -> float:
    """Trains the first `TIMED_STEPS` steps and returns the mean time of one.

    The time to compile them is left out: JAX compiles a step for each shape, TensorFlow once.
    """
    if keras.backend.backend() != "tensorflow":
        train_until(training_model, stream, TIMED_STEPS + 1, Progress(), [])
    ends: list[float] = []

    def after_step(_: int, logs: Mapping[str, Any]) -> None:
        float(logs["loss"])  # waits until the step is done
        ends.append(time.monotonic())

    watch = keras.callbacks.LambdaCallback(on_train_batch_end=after_step)
    train_until(training_model, stream, TIMED_STEPS + 1, Progress(), [watch])
    return (ends[-1] - ends[0]) / TIMED_STEPS
