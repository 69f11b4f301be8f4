"""An average of the weights over the last steps, which translates better than the last weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import keras
import numpy as np

# The average is taken every so many steps: the weights change little in between, and reading
# all of them at every step would cost a tenth of it.
INTERVAL = 10
# With step n of the share (1 + n) / (10 + n) stays at most: the rule of TensorFlow's
# `ExponentialMovingAverage(decay, num_updates)`, so that the first weights are soon forgotten.
SLOWNESS = 10


class WeightAverage:
    """Exponential moving average of a model's weights (Polyak and Juditsky 1992).

    Args:
        decay: Share of the average that stays from one step to the next, such as 0.999, which
            averages over about 1 000 steps. Early on less stays.

    Attributes:
        values: The averages, in the order of the model's weights; empty before the first.
    """

    def __init__(self, decay: float):
        self.decay = decay
        self.values: list[np.ndarray] = []

    def due(self, step: int) -> bool:
        """Whether the weights after a step are taken in."""
        return step % INTERVAL == 0

    def update(self, model: keras.Model, step: int) -> None:
        """Takes in the weights after a step."""
        weights = model.get_weights()
        if not self.values:
            self.values = [np.array(weight) for weight in weights]
            return
        stays = min(self.decay, (1 + step) / (SLOWNESS + step)) ** INTERVAL
        for average, weight in zip(self.values, weights, strict=True):
            average += (1 - stays) * (weight - average)

    def restore(self, values: Sequence[np.ndarray]) -> None:
        """Goes on from averages that were saved."""
        self.values = [np.array(value) for value in values]

    @contextlib.contextmanager
    def in_place(self, model: keras.Model) -> Iterator[None]:
        """Gives the model the averages for a while."""
        if not self.values:
            yield
            return
        weights = model.get_weights()
        model.set_weights(self.values)
        try:
            yield
        finally:
            model.set_weights(weights)
