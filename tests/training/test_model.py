"""The training model against a plain Keras loss, the weights of tokens, and weight averages."""

import dataclasses

import keras
import numpy as np
import pytest
from keras import ops

from tests.conftest import SOURCE_VOCAB, TARGET_VOCAB
from transformer_tf.config import TrainingConfig
from transformer_tf.text.batching.batches import Batches
from transformer_tf.text.batching.encoded import EncodedPairs
from transformer_tf.training import chunked_loss
from transformer_tf.training import model as training_model
from transformer_tf.training.averaging import INTERVAL, WeightAverage
from transformer_tf.training.model import TrainingModel, compile_training_model
from transformer_tf.training.muon import Muon
from transformer_tf.training.progress import Progress
from transformer_tf.training.stream import BatchStream, as_dataset
from transformer_tf.training.validation import evaluate
from transformer_tf.transformer import Transformer

START = 9


def make_model(**options):
    sizes = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 8, "dropout_rate": 0.0}
    model = Transformer(
        **(sizes | {"source_vocab_size": SOURCE_VOCAB, "target_vocab_size": TARGET_VOCAB} | options)
    )
    model.build()
    return model


@pytest.fixture
def batch(random):
    source = random.integers(1, SOURCE_VOCAB, (3, 6)).astype("int32")
    target = random.integers(1, TARGET_VOCAB, (3, 6)).astype("int32")
    source[1, 4:] = target[1, 3:] = target[2, 5:] = 0
    return {"source": source, "target_input": target[:, :-1]}, target[:, 1:]


def masked_cross_entropy(smoothing):
    """The mean loss of real tokens, from logits (§5.4 of Vaswani et al. 2017)."""

    def loss(target_output, logits):
        ids = ops.cast(target_output, "int32")  # Keras casts them to floats
        losses = keras.losses.sparse_categorical_crossentropy(ids, logits, from_logits=True)
        spread = ops.logsumexp(logits, axis=-1) - ops.mean(logits, axis=-1)
        real = ops.cast(ops.not_equal(ids, 0), "float32")
        smoothed = (1 - smoothing) * losses + smoothing * spread
        return ops.sum(smoothed * real) / ops.sum(real)

    return loss


def plain_metrics(model, inputs, target, smoothing):
    logits = np.asarray(model(inputs))
    real = target != 0
    losses = np.asarray(
        keras.losses.sparse_categorical_crossentropy(target, logits, from_logits=True)
    )
    return {
        "loss": float(masked_cross_entropy(smoothing)(target, logits)),
        "accuracy": (logits.argmax(-1) == target)[real].mean(),
        "perplexity": np.exp(losses[real].mean()),
        "tokens": real.sum(),
    }


@pytest.mark.parametrize(
    ("smoothing", "chunk", "tie"), [(0.0, 512, "none"), (0.1, 4, "none"), (0.1, 7, "target")]
)
def test_one_step_as_with_logits(batch, smoothing, chunk, tie, monkeypatch):
    """The same step of gradient descent and the same metrics as from all logits."""
    monkeypatch.setattr(chunked_loss, "CHUNK", chunk)
    plain = make_model(tie_embeddings=tie)
    ours = make_model(tie_embeddings=tie)
    ours.set_weights(plain.get_weights())
    expected = plain_metrics(plain, *batch, smoothing)
    plain.compile(keras.optimizers.SGD(1.0), masked_cross_entropy(smoothing))
    plain.train_on_batch(*batch)
    training = TrainingModel(ours, smoothing)
    training.compile(keras.optimizers.SGD(1.0))
    evaluated = training.evaluate(*batch, batch_size=3, verbose=0, return_dict=True)
    trained = training.train_on_batch(*batch, return_dict=True)
    for logs in (evaluated, trained):
        assert {name: float(value) for name, value in logs.items()} == pytest.approx(
            expected, rel=1e-5
        )
    for one, other in zip(ours.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_the_loss_has_gradients_unless_told_otherwise(batch, monkeypatch):
    calls = []

    def loss(*arguments):
        calls.append(arguments[-1])
        return 0.0, 0.0, 0.0

    monkeypatch.setattr(training_model, "projected_cross_entropy", loss)
    model = TrainingModel(make_model())
    model.compute_loss(batch[0], batch[1], model(batch[0]))
    model.compute_loss(batch[0], batch[1], model(batch[0]), training=False)
    assert calls == [True, False]


def test_dropout_and_smoothing_only_where_asked_for(batch):
    model = TrainingModel(make_model(dropout_rate=0.5))
    assert model.label_smoothing == 0
    kept, dropped = (np.asarray(model(batch[0], training=training)) for training in (False, True))
    np.testing.assert_allclose(kept, model.transformer.decoder_output(batch[0])[0], atol=1e-6)
    assert np.abs(kept - dropped).max() > 0.1


def test_the_optimizer_is_that_of_the_paper(monkeypatch):
    compiled, compile_model = [], TrainingModel.compile

    def keep(model, **options):
        compiled.append(options)
        compile_model(model, **options)

    monkeypatch.setattr(TrainingModel, "compile", keep)
    settings = TrainingConfig(clip_norm=0.7, label_smoothing=0.3)
    model = compile_training_model(make_model(), settings, 0.25)
    config = model.optimizer.get_config()
    names = "learning_rate", "beta_1", "beta_2", "epsilon", "global_clipnorm"
    assert [config[name] for name in names] == [0.25, 0.9, 0.98, 1e-9, 0.7]
    assert model.built and model.optimizer.built
    assert model.label_smoothing == 0.3
    # By default, Keras compiles with XLA on a GPU, for each shape again.
    assert compiled[0]["jit_compile"] is (keras.backend.backend() != "tensorflow")


def test_the_loss_is_scaled_in_half_precision_only():
    """Small gradients would become 0."""
    for dtype, scaled in (("mixed_float16", True), ("mixed_bfloat16", False), ("float32", False)):
        optimizer = compile_training_model(
            make_model(dtype=dtype), TrainingConfig(), 0.25
        ).optimizer
        assert isinstance(optimizer, keras.optimizers.LossScaleOptimizer) == scaled


def test_muon_takes_its_settings():
    settings = TrainingConfig(optimizer="muon", clip_norm=0.7)
    optimizer = compile_training_model(make_model(), settings, 0.25).optimizer
    assert isinstance(optimizer, Muon)
    assert (optimizer.compute_dtype, optimizer.global_clipnorm) == ("float32", 0.7)
    assert float(optimizer.learning_rate) == 0.25


@pytest.mark.parametrize("weight", [None, 0.01, 2.0])
@pytest.mark.parametrize("length", [5, 1])  # a batch of one token has a mean, too
def test_metrics_do_not_depend_on_the_weights_of_tokens(batch, weight, length):
    inputs, target = batch
    inputs = {name: ids[:1] for name, ids in inputs.items()}
    target = np.where(np.arange(5) < length, target[:1], 0)
    weights = None if weight is None else np.where(target != 0, weight, 0).astype("float32")
    model = TrainingModel(make_model(), 0.1)
    model.compile(keras.optimizers.SGD(0.0))
    logs = model.train_on_batch(inputs, target, weights, return_dict=True)
    expected = plain_metrics(model.transformer, inputs, target, 0.1)
    assert {name: float(value) for name, value in logs.items()} == pytest.approx(expected, rel=1e-5)


def test_small_weights_keep_their_gradients_in_half_precision(random):
    """A token of a large batch weighs less than the smallest number in half precision."""
    import tensorflow as tf

    hidden, kernel = random.normal(size=(5, 4)), random.normal(size=(4, 7)).astype("float32")
    weights, gradients = np.full(5, 1e-9, "float32"), []
    for dtype in ("float32", "float16"):
        variable = tf.Variable(kernel)
        with tf.GradientTape() as tape:
            loss, _, _ = chunked_loss.chunked_cross_entropy(
                tf.cast(hidden, dtype), variable, None, [3, 1, 2, 4, 6], weights, 0.1, training=True
            )
        gradients.append(tape.gradient(loss, variable))
    assert np.abs(gradients[0]).max() > 1e-10
    np.testing.assert_allclose(gradients[1], gradients[0], atol=1e-11)


def test_metrics_are_means_over_tokens_not_batches(batch):
    model = make_model()
    training = TrainingModel(model, 0.1)
    training.compile(keras.optimizers.SGD(1.0))
    logs = training.evaluate(*batch, batch_size=1, verbose=0, return_dict=True)
    assert logs == pytest.approx(plain_metrics(model, *batch, 0.1), rel=1e-5)


@pytest.mark.slow
def test_mixed_precision_learns(batch):
    model = TrainingModel(make_model(dtype="mixed_float16"))
    model.compile(keras.optimizers.Adam(0.01))
    losses = [float(model.train_on_batch(*batch, return_dict=True)["loss"]) for _ in range(30)]
    assert losses[-1] < losses[0] / 2


def stream(random, rows_multiple=1, weight=None, max_buckets=3, **options):
    pairs = [
        (
            [START, *random.integers(1, START, length)],
            [START, *random.integers(1, START, length + 1)],
        )
        for length in random.integers(1, 6, 40)
    ]
    encoded = EncodedPairs.from_lists(pairs)
    if weight:
        encoded = dataclasses.replace(encoded, weights=np.full(len(encoded), weight))
    batches = Batches(encoded, 24, max_buckets, seed=5, rows_multiple=rows_multiple)
    return BatchStream(batches, **options)


@pytest.mark.parametrize("weight", [None, 0.6])
def test_a_stream_starts_at_any_step(weight):
    """Also if epochs have different numbers of batches."""
    whole = stream(np.random.default_rng(3), weight=weight)
    steps = 2 * whole.steps_per_epoch + 2
    batches = list(whole.take(0, steps))
    assert len(batches) == steps
    for begin, end in ((0, 1), (1, 5), (4, steps), (steps - 1, steps)):
        again = stream(np.random.default_rng(3), weight=weight)
        for one, other in zip(again.take(begin, end), batches[begin:end], strict=True):
            np.testing.assert_array_equal(one[0]["source"], other[0]["source"])
            np.testing.assert_array_equal(one[2], other[2])
    (inputs, target, weights), (_, index) = batches[-1], whole.locate(steps - 1)
    assert whole.describe(steps - 1) == (
        f"epoch {whole.locate(steps - 1)[0] + 1}, batch {index + 1} of {len(whole.batches)}, "
        f"{sum(map(any, weights))} pairs of up to {inputs['source'].shape[1]} and "
        f"{target.shape[1]} tokens"
    )


def test_a_batch_is_described_without_its_rows_of_padding():
    """With 13 tokens, there are 4 rows of 3, and 3 pairs."""
    batches = Batches(EncodedPairs.from_lists([([1, 1], [1, 1, 1, 1])] * 3), 13)
    assert BatchStream(batches).describe(1) == (
        "epoch 2, batch 1 of 1, 3 pairs of up to 2 and 3 tokens"
    )


def test_the_place_of_a_step_among_epochs_of_different_lengths():
    whole = stream(np.random.default_rng(3), weight=0.3)
    lengths = []
    for epoch in range(9):
        whole.batches.set_epoch(epoch)
        lengths.append(len(whole.batches))
    assert len(set(lengths)) > 1
    for epoch in (8, 3, 0):
        assert whole.locate(sum(lengths[:epoch])) == (epoch, 0)
        assert whole.locate(sum(lengths[: epoch + 1]) - 1) == (epoch, lengths[epoch] - 1)


def test_a_dataset_has_batches_of_any_size():
    whole = stream(np.random.default_rng(3))
    batches = list(whole.take(0, 7))
    assert len({target.shape for _, target, _ in batches}) > 1
    dataset = as_dataset(lambda: whole.take(0, 7), 7)
    if keras.backend.backend() == "tensorflow":
        assert int(dataset.cardinality()) == 7
        assert not dataset.options().autotune.enabled  # `fit` would wait for it at the end
        inputs, target, weights = dataset.element_spec
        specs = [inputs["source"], inputs["target_input"], target, weights]
        assert [spec.dtype.name for spec in specs] == ["int32"] * 3 + ["float32"]
        assert all(spec.shape.as_list() == [None, None] for spec in specs)
    for one, other in zip(dataset, batches, strict=True):
        for name, ids in other[0].items():
            np.testing.assert_array_equal(one[0][name], ids)
        np.testing.assert_array_equal(one[1], other[1])
        np.testing.assert_array_equal(one[2], other[2])


@pytest.mark.parametrize("plain", [False, True], ids=["the backend's data", "an iterator"])
def test_a_validation_takes_each_batch_once(plain, monkeypatch, capsys):
    # Keras on TensorFlow takes an iterator only of batches of one shape.
    whole = stream(np.random.default_rng(3), max_buckets=1 if plain else 3)
    if plain:
        monkeypatch.setattr(keras.backend, "backend", lambda: "another")
    model = make_model()
    training = TrainingModel(model)
    training.compile()
    total, tokens = {"loss": 0.0, "accuracy": 0.0}, 0
    for inputs, target, _ in whole.take(0, whole.steps_per_epoch):
        count, one = (target != 0).sum(), plain_metrics(model, inputs, target, 0.0)
        total = {name: each + count * one[name] for name, each in total.items()}
        tokens += count
    expected = {name: each / tokens for name, each in total.items()}
    expected["perplexity"] = np.exp(expected["loss"])
    assert evaluate(training, whole) == pytest.approx(expected, rel=1e-5)
    assert capsys.readouterr().out == ""


def test_processes_share_the_rows_of_a_batch():
    def batches(**options):
        return list(stream(np.random.default_rng(3), rows_multiple=2, **options).take(0, 5))

    whole = batches()
    parts = [batches(process_index=number, num_processes=2) for number in range(2)]
    for step in range(5):
        rows = np.concatenate([part[step][1] for part in parts])
        np.testing.assert_array_equal(rows, whole[step][1])
        assert sum(part[step][2].sum() for part in parts) == pytest.approx(1)


def test_average_by_hand():
    """Of the weights after every tenth step, the earlier ones decay by a half at each step."""
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    progress = Progress()
    average = WeightAverage(0.5, progress)
    for step, value in ((10, 3.0), (20, 7.0)):
        progress.step = step
        model.set_weights([np.array([[value]])])
        average.update(model)
    expected = 3 * 0.5**INTERVAL + 7 * (1 - 0.5**INTERVAL)
    with average.in_place(model):
        assert float(ops.convert_to_numpy(model.weights[0])[0, 0]) == pytest.approx(expected)
    assert model.get_weights()[0][0, 0] == 7
    slow = WeightAverage(0.999, progress)  # early weights decay faster: by (1 + 20) / (10 + 20)
    for progress.step, value in ((10, 1.0), (20, 0.0)):
        model.set_weights([np.array([[value]])])
        slow.update(model)
    assert slow.values[0][0, 0] == pytest.approx(0.7**INTERVAL, rel=1e-5)


def test_a_restored_average_goes_on():
    average, saved = WeightAverage(0.5, Progress()), [np.ones((1, 1))]
    assert average.values == []
    average.restore(saved)
    saved[0][:] = 0  # a copy was kept
    np.testing.assert_array_equal(average.values, [[[1.0]]])
    average.values = make_model().get_weights()[:-1]
    with pytest.raises(ValueError, match="zip"):
        average.update(make_model())  # it has one weight more


def test_the_average_is_updated_every_tenth_step(batch):
    training = TrainingModel(make_model())
    training.compile(keras.optimizers.SGD(1.0))
    progress = Progress()
    average = WeightAverage(0.5, progress)
    average.set_model(training)
    updates = []
    average.update = lambda model: updates.append((progress.step, model))
    for progress.step in range(1, 25):
        average.on_train_batch_end(0)
    assert updates == [(10, training.transformer), (20, training.transformer)]
