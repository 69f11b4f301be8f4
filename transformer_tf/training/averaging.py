"""A moving average of the weights, which translates better than the last weights alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import keras
import numpy as np

from transformer_tf.training.progress import Progress

# Steps between two updates of the average. Reading the weights at every step would make training
# 10 % slower.
INTERVAL = 10
# At step n the decay is at most (1 + n) / (10 + n), as in TensorFlow's
# `ExponentialMovingAverage(decay, num_updates)`: early weights decay faster.
WARMUP = 10


class WeightAverage(keras.callbacks.Callback):
    """Exponential moving average of a model's weights (Polyak and Juditsky 1992).

    Args:
        decay: Share of the average that is kept at each step. 0.999 averages over about 1 000
            steps. In the first steps the share is smaller.
        progress: The progress of the run.

    Attributes:
        values: The averages, in the order of the model's weights; empty before the first update.
    """

    def __init__(self, decay: float, progress: Progress):
        super().__init__()
        self.decay = decay
        self.progress = progress
        self.values: list[np.ndarray] = []

    def on_train_batch_end(self, batch, logs=None):
        if self.progress.step % INTERVAL == 0:
            # On JAX, the access to `self.model` copies the values into the variables.
            self.update(self.model.transformer)

    def update(self, model: keras.Model) -> None:
        """Adds the present weights to the average."""
        weights = model.get_weights()
        if not self.values:
            self.values = [np.array(weight) for weight in weights]
            return
        step = self.progress.step
        kept = min(self.decay, (1 + step) / (WARMUP + step)) ** INTERVAL
        for average, weight in zip(self.values, weights, strict=True):
            average += (1 - kept) * (weight - average)

    def restore(self, values: Sequence[np.ndarray]) -> None:
        """Continues from saved averages."""
        self.values = [np.array(value) for value in values]

    @contextlib.contextmanager
    def in_place(self, model: keras.Model) -> Iterator[None]:
        """Replaces the model's weights with the averages inside a `with` block."""
        if not self.values:
            yield
            return
        weights = model.get_weights()
        model.set_weights(self.values)
        try:
            yield
        finally:
            model.set_weights(weights)
