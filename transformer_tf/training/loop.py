"""The training loop: Keras's `fit` on the batches from one validation to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
from keras.callbacks import Callback

from transformer_tf.training.progress import Progress
from transformer_tf.training.stream import BatchStream, as_dataset


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
