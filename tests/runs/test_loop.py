"""The loop against single training steps, with a tiny model and clocks that the tests set."""

import itertools
import types

import keras
import numpy as np
import pytest
from keras import ops

from transformer_tf.text.batching.batches import Batches
from transformer_tf.text.batching.encoded import EncodedPairs
from transformer_tf.training import loop
from transformer_tf.training.progress import Progress
from transformer_tf.training.stream import BatchStream

VOCAB = 11


def make_stream(max_buckets):
    random = np.random.default_rng(3)
    pairs = [
        [random.integers(1, VOCAB, length + more) for more in (0, 1)]
        for length in random.integers(1, 6, 40)
    ]
    return BatchStream(Batches(EncodedPairs.from_lists(pairs), 24, max_buckets, seed=5))


class Tokens(keras.metrics.Sum):
    """Counts the real tokens."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        super().update_state(ops.cast(ops.not_equal(y_true, 0), "float32"))


def make_model():
    """Predicts a token from the one before it and from the words of the source."""
    inputs = {name: keras.Input((None,), name=name) for name in ("source", "target_input")}
    source = keras.layers.Embedding(VOCAB, 5)(inputs["source"])
    target = keras.layers.Embedding(VOCAB, 5)(inputs["target_input"])
    x = target + ops.mean(source, axis=1, keepdims=True)
    model = keras.Model(inputs, keras.layers.Dense(VOCAB)(x))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(
        keras.optimizers.SGD(0.25), loss, weighted_metrics=[Tokens(name="tokens")], run_eagerly=True
    )
    return model


class Counter(keras.callbacks.Callback):
    """Counts the steps, each of which takes an eighth of a second, and may stop after one."""

    def __init__(self, progress, stop):
        super().__init__()
        self.progress = progress
        self.stop = stop

    def on_train_batch_end(self, batch, logs=None):
        self.progress.step += 1
        self.progress.seconds += 0.125
        self.model.stop_training = self.progress.step == self.stop


@pytest.mark.parametrize(
    ("plain", "max_buckets", "stop", "epoch"),
    [(False, 3, None, 0.636), (True, 1, None, 0.636), (True, 1, 5, 0.455)],
    ids=["the backend's data", "an iterator", "stopped by a callback"],
)
def test_training_equals_its_single_steps(plain, max_buckets, stop, epoch, monkeypatch, capsys):
    """Steps 3 to 6, from a stream of 11 batches an epoch."""
    ours, single, stream = make_model(), make_model(), make_stream(max_buckets)
    single.set_weights(ours.get_weights())
    stream.steps_per_epoch = 11
    if plain:
        monkeypatch.setattr(keras.backend, "backend", lambda: "another")
    progress = Progress(step=3, seconds=20.0)
    row = loop.train_until(ours, stream, 7, progress, [Counter(progress, stop)])
    rows, last = [], stop or 7
    for batch in make_stream(max_buckets).take(3, last):
        logs = single.train_on_batch(*batch, return_dict=True)
        rows.append((len(batch[1]), float(logs["loss"]), float(logs["tokens"])))
    sizes, losses, tokens = np.transpose(rows)
    seconds = (last - 3) / 8
    assert row == {
        "step": last,
        "epoch": epoch,
        "loss": pytest.approx(np.average(losses, weights=sizes)),
        "learning_rate": 0.25,
        "tokens_per_second": pytest.approx(tokens.sum() / seconds),
        "seconds": seconds,
    }
    for one, other in zip(ours.get_weights(), single.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("backend", "runs"), [("tensorflow", 1), ("jax", 2)])
def test_the_time_of_a_step_is_that_between_the_ends_of_steps(backend, runs, monkeypatch):
    """JAX compiles a step for each shape, and so trains all of them once before the clock runs."""
    calls = []

    def train_until(*arguments):
        *first, progress, callbacks = arguments
        calls.append((*first, progress))
        for step in range(arguments[2]):
            for callback in callbacks:
                callback.on_train_batch_end(step, {"loss": 1.0})

    squares = (number**2 for number in itertools.count(1))
    monkeypatch.setattr(loop, "train_until", train_until)
    monkeypatch.setattr(loop, "time", types.SimpleNamespace(monotonic=lambda: next(squares)))
    monkeypatch.setattr(loop, "TIMED_STEPS", 3)
    monkeypatch.setattr(keras.backend, "backend", lambda: backend)
    assert loop.seconds_per_step("model", "stream") == 5  # the steps end at 1, 4, 9 and 16 s
    assert calls == [("model", "stream", 4, Progress())] * runs
