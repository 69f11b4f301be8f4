"""Training batches from any step on, with the weight of each token in the loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

from transformer_tf.text.batching.batches import Batches

WeightedBatch = tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]
"""Inputs, `target_output`, and the weight of each of its tokens, 0 for padding."""


class BatchStream:
    """The batches of all epochs in a fixed order: step n has the same batch in every run.

    Every token of a batch has the same weight, 1 / the number of real tokens in the batch. The step
    is then the same on one machine and on several, each of which has some rows of the batch.

    Args:
        batches: The batches of an epoch.
        process_index: Index of this process, from 0.
        num_processes: Number of processes; each takes its rows of every batch.

    Attributes:
        steps_per_epoch: Number of batches of the first epoch. Later epochs have other numbers only
            if pairs have fractional weights.
    """

    def __init__(self, batches: Batches, process_index: int = 0, num_processes: int = 1):
        self.batches = batches
        self.process_index = process_index
        self.num_processes = num_processes
        batches.set_epoch(0)
        self.steps_per_epoch = len(batches)
        self._epoch_lengths = [self.steps_per_epoch]

    def locate(self, step: int) -> tuple[int, int]:
        """Returns the epoch of a step and the index of its batch in it, all counted from 0."""
        if not self.batches.epochs_differ:
            return divmod(step, self.steps_per_epoch)
        epoch = 0
        while True:
            if epoch == len(self._epoch_lengths):
                self.batches.set_epoch(epoch)
                self._epoch_lengths.append(len(self.batches))
            if step < self._epoch_lengths[epoch]:
                return epoch, step
            step -= self._epoch_lengths[epoch]
            epoch += 1

    def describe(self, step: int) -> str:
        """Describes the position and the size of a step's batch for a message."""
        inputs, target = self._batch(step)
        epoch, index = self.locate(step)
        rows = int(np.any(target != 0, axis=1).sum())
        return (
            f"epoch {epoch + 1}, batch {index + 1} of {len(self.batches)}, {rows} pairs of up to "
            f"{inputs['source'].shape[1]} and {target.shape[1]} tokens"
        )

    def take(self, begin: int, end: int) -> Iterator[WeightedBatch]:
        """Yields this process's rows of the batches from step `begin` to `end`, `end` excluded.

        Concatenated in the order of the processes, the rows are the whole batch. Dropout is then
        also the same as in a run with one process.
        """
        for step in range(begin, end):
            inputs, target = self._batch(step)
            real = (target != 0).astype("float32")
            num_rows = len(target) // self.num_processes
            rows = slice(self.process_index * num_rows, (self.process_index + 1) * num_rows)
            yield (
                {name: ids[rows] for name, ids in inputs.items()},
                target[rows],
                real[rows] / real.sum(),
            )

    def _batch(self, step: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        epoch, index = self.locate(step)
        self.batches.set_epoch(epoch)
        return self.batches[index]


def as_dataset(make: Callable[[], Iterator[WeightedBatch]], steps: int) -> Any:
    """Converts batches to the form that `fit` and `evaluate` take on the current backend.

    Args:
        make: Returns an iterator over the batches.
        steps: Number of batches.

    Returns:
        A `tf.data.Dataset` on TensorFlow, which prepares batches in the background; otherwise
        an iterator.
    """
    if keras.backend.backend() != "tensorflow":
        return make()
    import tensorflow as tf

    # Without a signature, Keras guesses from two batches which sizes are fixed, and fails at the
    # first batch of another size.
    ids = tf.TensorSpec((None, None), tf.int32)
    weights = tf.TensorSpec((None, None), tf.float32)
    signature = ({"source": ids, "target_input": ids}, ids, weights)
    dataset = tf.data.Dataset.from_generator(make, output_signature=signature)
    # With an unknown number of batches, Keras counts one update too many.
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(steps)).prefetch(2)
    # There is nothing to tune, and at its end `fit` would wait up to a minute for the autotune
    # thread.
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)
