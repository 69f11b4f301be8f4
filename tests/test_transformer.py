import keras
import numpy as np
import pytest

from tests.conftest import BATCH, SOURCE_LEN, SOURCE_VOCAB, TARGET_LEN, TARGET_VOCAB, make_model
from transformer_tf.layers import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    PositionalEmbedding,
    padding_mask,
)
from transformer_tf.transformer import Transformer

VARIANTS = [
    {},
    {"pre_norm": True},
    {"tie_embeddings": "target"},
    {"tie_embeddings": "all", "source_vocab_size": TARGET_VOCAB},
    {"position": "learned", "max_length": 40},
    {"num_decoder_layers": 3},
    {"pad_id": 12},
]


def compiled(model, **arguments):
    """The model inside a graph (tf.function or jax.jit) with dynamic lengths."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        spec = tf.TensorSpec((None, None), tf.int32)
        return tf.function(
            lambda inputs: model(inputs, **arguments),
            input_signature=[{"source": spec, "target_input": spec}],
        )
    import jax

    return jax.jit(lambda inputs: model(inputs, **arguments))


def padded(inputs, random):
    """The same sentences with ten more columns of padding."""
    return {name: np.pad(ids, ((0, 0), (0, 10))) for name, ids in inputs.items()}


def reloaded(model, tmp_path, suffix):
    path = tmp_path / f"model{suffix}"
    if suffix == ".keras":
        model.save(path)
        return keras.models.load_model(path)
    model.save_weights(path)
    copy = Transformer.from_config(model.get_config())
    copy.build()
    copy.load_weights(path)
    return copy


def test_shapes_and_scores(model, inputs):
    logits, scores = model(inputs, return_attention_scores=True)
    assert logits.shape == (BATCH, TARGET_LEN, TARGET_VOCAB)
    assert keras.backend.standardize_dtype(logits.dtype) == "float32"
    expected = {
        "encoder": (BATCH, 3, SOURCE_LEN, SOURCE_LEN),
        "decoder": (BATCH, 3, TARGET_LEN, TARGET_LEN),
        "cross": (BATCH, 3, TARGET_LEN, SOURCE_LEN),
    }
    assert {kind: [s.shape for s in layers] for kind, layers in scores.items()} == {
        kind: [shape] * 2 for kind, shape in expected.items()
    }
    for layers in scores.values():
        for layer in layers:
            np.testing.assert_allclose(np.asarray(layer).sum(-1), 1, atol=1e-5)
    above = np.triu(np.ones((TARGET_LEN, TARGET_LEN), bool), 1)
    assert (np.asarray(scores["decoder"][0])[:, :, above] == 0).all()
    np.testing.assert_array_equal(model(inputs), logits)
    np.testing.assert_array_equal(model.project(model.decoder_output(inputs)[0]), logits)


@pytest.mark.parametrize(
    ("graph", "suffix", "pre_norm"),
    [
        (False, None, False),
        (True, None, True),
        (True, ".keras", False),
        (True, ".weights.h5", True),
    ],
)
def test_padding_changes_nothing(inputs, random, tmp_path, graph, suffix, pre_norm):
    model = make_model(pre_norm=pre_norm)
    inputs["source"][1, 4:] = 0
    expected = np.asarray(model(inputs))
    if suffix:
        model = reloaded(model, tmp_path, suffix)
    run = compiled(model) if graph else model
    np.testing.assert_allclose(run(inputs), expected, atol=1e-5)
    longer = run(padded(inputs, random))
    np.testing.assert_allclose(longer[:, :TARGET_LEN], expected, atol=1e-5)


def test_values_at_padded_positions_change_nothing(model, inputs, random):
    """Neither the encoder's output nor the ids at padded positions matter."""
    inputs["source"][:, 4:] = 0
    mask = padding_mask(inputs["source"])
    encoded = np.array(model.encode(inputs["source"]))
    expected, _ = model.decode(inputs["target_input"], encoded, mask)
    encoded[:, 4:] = random.normal(0, 9, encoded[:, 4:].shape)
    hidden, _ = model.decode(inputs["target_input"], encoded, mask)
    np.testing.assert_allclose(hidden, expected, atol=1e-5)
    # Other ids at masked positions do not change the encoder's output elsewhere.
    x = model.source_embedding(inputs["source"])
    other = inputs["source"].copy()
    other[:, 4:] = random.integers(1, SOURCE_VOCAB, other[:, 4:].shape)
    y = model.source_embedding(other)
    first, second = (np.asarray(model.encoder(z, attention_mask=mask))[:, :4] for z in (x, y))
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_padding_matters_without_the_mask(model, inputs):
    """Without the mask the same change shows, so the tests above can fail."""
    longer = {**inputs, "source": np.pad(inputs["source"], ((0, 0), (0, 3)), constant_values=1)}
    assert np.abs(np.asarray(model(longer)) - np.asarray(model(inputs))).max() > 1e-3


def test_causality(model, inputs):
    expected = np.asarray(model(inputs))
    for position in range(1, TARGET_LEN):
        changed = {name: ids.copy() for name, ids in inputs.items()}
        old = changed["target_input"][:, position]
        changed["target_input"][:, position] = old % (TARGET_VOCAB - 1) + 1
        logits = np.asarray(model(changed))
        np.testing.assert_array_equal(logits[:, :position], expected[:, :position])
        assert np.abs(logits[:, position:] - expected[:, position:]).max() > 1e-3


def test_every_source_token_matters(model, inputs):
    expected = np.asarray(model(inputs))
    for position in range(SOURCE_LEN):
        changed = {name: ids.copy() for name, ids in inputs.items()}
        changed["source"][:, position] = changed["source"][:, position] % (SOURCE_VOCAB - 1) + 1
        assert np.abs(np.asarray(model(changed)) - expected).max(axis=(1, 2)).min() > 1e-4


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
@pytest.mark.parametrize("grows", [False, True], ids=["cache of full size", "cache that grows"])
def test_steps_equal_one_pass(changes, grows, inputs):
    """One token at a time, with cached keys and values."""
    model = make_model(**changes)
    inputs["source"] = np.minimum(inputs["source"], model.source_vocab_size - 1)
    inputs["source"][1, 4:] = model.pad_id
    logits = model(inputs)
    cross_cache = model.encode_for_search(inputs["source"])
    table = np.asarray(model.target_embedding.position_table(TARGET_LEN))
    cache = model.decoder.new_cache(BATCH, 0 if grows else TARGET_LEN)
    for position in range(TARGET_LEN):
        cached = np.arange(TARGET_LEN)[None, None, None] <= position
        step_logits, cache = model.step(
            inputs["target_input"][:, [position]],
            table[[position]][None],
            cross_cache,
            cache,
            None if grows else position,
            None if grows else cached,
        )
        np.testing.assert_allclose(step_logits, logits[:, position], atol=1e-5)
    assert cache[0]["key"].shape[2] == TARGET_LEN


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
@pytest.mark.parametrize("suffix", [".keras", ".weights.h5"])
def test_save_and_load(changes, suffix, tmp_path, inputs):
    model = make_model(**changes)
    inputs["source"] = np.minimum(inputs["source"], model.source_vocab_size - 1)
    expected = model(inputs)
    copy = reloaded(model, tmp_path, suffix)
    np.testing.assert_array_equal(copy(inputs), expected)
    assert copy.get_config() == model.get_config()
    assert copy.count_params() == model.count_params()


def test_tied_embeddings_have_fewer_parameters():
    vocab = {"source_vocab_size": 11, "target_vocab_size": 11}
    free, target, everything = (
        make_model(**vocab, tie_embeddings=tie).count_params() for tie in ("none", "target", "all")
    )
    assert free - target == 11 * 6 + 11  # the projection and its bias
    assert target - everything == 11 * 6


def test_dropout_only_in_training(model, inputs):
    np.testing.assert_array_equal(model(inputs), model(inputs))
    first, second = (np.asarray(model(inputs, training=True)) for _ in range(2))
    assert np.abs(first - second).max() > 1e-3


@pytest.mark.parametrize("name", ["__call__", "decoder_output"])
def test_training_reaches_each_dropout(inputs, name, monkeypatch):
    dropout, seen = keras.layers.Dropout.call, []

    def call(self, inputs, training=False):
        seen.append(training)
        return dropout(self, inputs, training)

    monkeypatch.setattr(keras.layers.Dropout, "call", call)
    run = getattr(make_model(), name)
    run(inputs, training=True)
    # Of the embeddings, and of the sub-layers of two layers, in the encoder and the decoder.
    assert seen == [True] * (1 + 2 * 2 + 1 + 2 * 3)
    seen.clear()
    run(inputs)
    assert not any(seen)


def all_layers(layer):
    """A layer and all layers inside."""
    yield layer
    for value in vars(layer).values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, keras.Layer):
                yield from all_layers(part)


@pytest.mark.parametrize("pre_norm", [False, True])
def test_layers_are_named_as_their_attributes(pre_norm):
    model = make_model(pre_norm=pre_norm)
    for layer in all_layers(model):
        for name, part in vars(layer).items():
            if isinstance(part, keras.Layer) and not isinstance(part, keras.layers.Dropout):
                assert part.name == name
    assert [layer.name for layer in model.encoder.layers] == ["layer_1", "layer_2"]
    assert [layer.name for layer in model.decoder.layers] == ["layer_1", "layer_2"]


def test_the_defaults_are_the_papers():
    sizes = {"num_layers": 2, "d_model": 6, "num_heads": 3, "d_ff": 17}
    vocabularies = {"source_vocab_size": 13, "target_vocab_size": 11}
    config = Transformer(**sizes, **vocabularies).get_config()
    assert {name: config[name] for name in list(config)[-7:]} == {
        "target_vocab_size": 11,
        "dropout_rate": 0.1,
        "pre_norm": False,
        "tie_embeddings": "none",
        "position": "sinusoidal",
        "max_length": 512,
        "pad_id": 0,
    }
    assert config["num_decoder_layers"] == 2
    for kind in (Encoder, Decoder, EncoderLayer, DecoderLayer):
        layer = kind(**dict(list(sizes.items())[kind in (EncoderLayer, DecoderLayer) :]))
        assert (layer.dropout_rate, layer.pre_norm) == (0.1, False)
    embedding = PositionalEmbedding(11, 6)
    assert (embedding.position, embedding.max_length) == ("sinusoidal", 512)


@pytest.mark.parametrize("precision", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision(inputs, precision):
    exact = make_model(pre_norm=True)
    mixed = make_model(pre_norm=True, dtype=precision)
    mixed.set_weights(exact.get_weights())
    assert {str(v.dtype) for v in mixed.trainable_variables} == {"float32"}
    assert {layer.compute_dtype for layer in all_layers(mixed)} == {precision.split("_")[1]}
    tied = make_model(tie_embeddings="target", dtype=precision)
    assert keras.backend.standardize_dtype(tied(inputs).dtype) == "float32"
    (cache, _) = mixed.decoder.new_cache(2, 5)
    assert keras.backend.standardize_dtype(cache["key"].dtype) == mixed.compute_dtype
    inputs["source"][1, 4:] = 0
    logits, scores = mixed(inputs, return_attention_scores=True)
    assert keras.backend.standardize_dtype(logits.dtype) == "float32"
    assert np.isfinite(np.asarray(logits)).all()
    np.testing.assert_allclose(np.asarray(scores["cross"][0]).sum(-1), 1, atol=1e-5)
    assert (np.asarray(scores["cross"][0])[1, :, :, 4:] == 0).all()
    tolerance = 0.02 if precision == "mixed_float16" else 0.15
    np.testing.assert_allclose(logits, exact(inputs), atol=tolerance, rtol=tolerance)


def test_the_smallest_model(inputs):
    sizes = "num_layers", "num_decoder_layers", "d_model", "num_heads", "d_ff", "max_length"
    model = make_model(**dict.fromkeys(sizes, 1))
    assert model(inputs).shape == (BATCH, TARGET_LEN, TARGET_VOCAB)
    assert model.source_embedding.max_length == 1
    assert len(make_model(num_decoder_layers=3).decoder.layers) == 3


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        *(
            ({name: 0}, f"{name}=0")
            for name in (
                *("num_layers", "num_decoder_layers", "d_model", "num_heads", "d_ff"),
                *("source_vocab_size", "target_vocab_size", "max_length"),
            )
        ),
        ({"num_heads": 4}, "d_model=6, num_heads=4"),
        ({"tie_embeddings": "both"}, "tie_embeddings='both'"),
        ({"position": "rotary"}, "position='rotary'"),
        ({"tie_embeddings": "all"}, "source_vocab_size=13, target_vocab_size=11"),
    ],
    ids=str,
)
def test_errors_name_what_was_received(changes, named):
    with pytest.raises(ValueError, match=f"Received: {named}"):
        make_model(**changes)


@pytest.mark.parametrize("tie_embeddings", ["none", "target"])
def test_the_weights_of_the_projection(random, tie_embeddings):
    model = make_model(tie_embeddings=tie_embeddings)
    hidden = random.normal(size=(2, model.d_model)).astype("float32")
    kernel, bias = model.projection_weights()
    expected = hidden @ np.asarray(kernel) + (0 if bias is None else np.asarray(bias))
    np.testing.assert_allclose(model.project(hidden), expected, atol=1e-5)
