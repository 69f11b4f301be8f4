"""Training batches from any step on, each with the weights of its tokens in the update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

from transformer_tf.text.batching import Batches

WeightedBatch = tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]
"""Inputs, `target_output`, and the weight of each of its tokens, 0 for padding."""


class BatchStream:
    """One epoch of batches after the other, so that step n is the same batch in every run.

    The weights say what a token counts in an update: 1 / its number of real tokens, in all the
    batches of the update and on all processes. So every token counts alike, whether the batch
    is whole, spread over several steps, or over several machines.

    Args:
        batches: The batches of an epoch.
        steps_per_update: Batches whose gradients are averaged for one update.
        process: Number of this process, from 0.
        processes: Number of processes that each take their rows of every batch.

    Attributes:
        steps_per_epoch: Number of batches of the first epoch, taken for that of every epoch. Only
            if an epoch's pairs are drawn at random does the number differ.
        lengths: Number of batches of each epoch that has been dealt so far.
    """

    def __init__(
        self, batches: Batches, steps_per_update: int = 1, process: int = 0, processes: int = 1
    ):
        self.batches = batches
        self.steps_per_update = steps_per_update
        self.process = process
        self.processes = processes
        batches.set_epoch(0)
        self._epoch = 0
        self.steps_per_epoch = len(batches)
        self.lengths = [self.steps_per_epoch]

    def locate(self, step: int) -> tuple[int, int]:
        """The epoch and the number in it of the batch of a step, all counted from 0."""
        if not self.batches.resampled:
            return divmod(step, self.steps_per_epoch)
        epoch = 0
        while True:
            if epoch == len(self.lengths):
                self._deal(epoch)
                self.lengths.append(len(self.batches))
            if step < self.lengths[epoch]:
                return epoch, step
            step -= self.lengths[epoch]
            epoch += 1

    def describe(self, step: int) -> str:
        """Where a step's batch stands and how large it is, for a message."""
        epoch, index = self.locate(step)
        self._deal(epoch)
        inputs, target = self.batches[index]
        rows = int(np.any(target != 0, axis=1).sum())
        return (
            f"epoch {epoch + 1}, batch {index + 1} of {len(self.batches)}, {rows} pairs of up to "
            f"{inputs['source'].shape[1]} and {target.shape[1]} tokens"
        )

    def take(self, begin: int, end: int) -> Iterator[WeightedBatch]:
        """The batches of the steps from `begin` up to `end`, this one left out."""
        group: list[tuple[int, dict[str, np.ndarray], np.ndarray]] = []
        step = begin - begin % self.steps_per_update
        while step < end:
            group.append((step, *self._batch(step)))
            step += 1
            if len(group) < self.steps_per_update and step < end:
                continue
            # An update that `end` cuts in two still weighs its tokens as the whole one does.
            whole = group + [
                (later, *self._batch(later))
                for later in range(step, step + self.steps_per_update - len(group))
            ]
            tokens = sum(int(np.count_nonzero(target)) for _, _, target in whole)
            # Keras averages the gradients of an update's steps.
            weight = self.steps_per_update / tokens
            for number, inputs, target in group:
                if number >= begin:
                    # Side by side in the order of the processes they are the whole batch again,
                    # so that dropout, too, is that of one process.
                    share = len(target) // self.processes
                    rows = slice(self.process * share, (self.process + 1) * share)
                    mine = {name: ids[rows] for name, ids in inputs.items()}
                    real = (target[rows] != 0).astype("float32")
                    yield mine, target[rows], real * np.float32(weight)
            group = []

    def _batch(self, step: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        epoch, index = self.locate(step)
        self._deal(epoch)
        return self.batches[index]

    def _deal(self, epoch: int) -> None:
        if epoch != self._epoch:
            self.batches.set_epoch(epoch)
            self._epoch = epoch


def as_dataset(make: Any, steps: int) -> Any:
    """Batches in the form that `fit` and `evaluate` take on the back end in use.

    Args:
        make: Makes an iterator over batches, with or without weights.
        steps: Number of batches.

    Returns:
        A `tf.data.Dataset` on TensorFlow, which prepares batches beside the training; elsewhere
        an iterator.
    """
    if keras.backend.backend() != "tensorflow":
        return make()
    import tensorflow as tf

    # Keras would guess from the first two batches which sizes are fixed, and stop at the first
    # batch of another size.
    ids = tf.TensorSpec((None, None), tf.int32)
    weights = tf.TensorSpec((None, None), tf.float32)
    signature = ({"source": ids, "target_input": ids}, ids, weights)
    dataset = tf.data.Dataset.from_generator(make, output_signature=signature)
    # A set of unknown size makes Keras count one update too many.
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(steps)).prefetch(2)
    # There is nothing to tune, and the thread that does sleeps 10 ms, 20 ms, 40 ms and so on;
    # at the end `fit` would have to wait, up to a minute, until it wakes.
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)
