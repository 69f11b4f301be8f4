"""Feed-forward network, encoder and decoder against their formulas."""

import keras
import numpy as np
import pytest

from transformer_tf.layers import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    FeedForward,
    MultiHeadAttention,
    PositionalEmbedding,
    causal_mask,
    padding_mask,
)

SIZES = {"d_model": 6, "num_heads": 3, "d_ff": 17}


def normalize(x):
    """LayerNorm without learned scale and offset."""
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)


@pytest.mark.parametrize(("stack", "inputs"), [(Encoder, 1), (Decoder, 2)])
def test_the_norm_after_the_layers_divides_by_no_zero(random, stack, inputs):
    stack = stack(num_layers=1, **SIZES, pre_norm=True)
    stack.build(*[(2, 5, 6)] * inputs)
    x = random.normal(scale=1e-3, size=(2, 5, 6)).astype("float32")  # a variance like epsilon
    np.testing.assert_allclose(stack.norm(x), normalize(x), atol=1e-4)


def test_feed_forward_is_the_same_at_every_position(random):
    layer = FeedForward(d_model=6, d_ff=17)
    x = random.normal(size=(2, 5, 6)).astype("float32")
    output = np.asarray(layer(x))
    (w1, b1), (w2, b2) = layer.hidden.get_weights(), layer.output_projection.get_weights()
    assert w1.shape == (6, 17)
    np.testing.assert_allclose(output, np.maximum(x @ w1 + b1, 0) @ w2 + b2, atol=1e-5)


def test_dropout_applies_to_the_output_of_each_sub_layer():
    layer = EncoderLayer(**SIZES, dropout_rate=0.5, pre_norm=True)
    x = np.zeros((1, 50, 6), "float32")
    layer.build(x.shape)
    layer.set_weights([np.zeros(weight.shape) for weight in layer.weights])
    np.testing.assert_array_equal(layer(x + 3, training=True), x + 3)
    layer.self_attention.output_projection.bias.assign(np.full(6, 1.0))
    layer.feed_forward.output_projection.bias.assign(np.full(6, 2.0))
    np.testing.assert_array_equal(layer(x), x + 3)
    # Each sub-layer's output is either dropped or doubled.
    assert set(np.unique(layer(x, training=True))) == {0.0, 2.0, 4.0, 6.0}


@pytest.mark.parametrize("pre_norm", [False, True])
def test_encoder_layer_by_its_parts(random, pre_norm):
    layer = EncoderLayer(**SIZES, pre_norm=pre_norm)
    x = random.normal(size=(2, 7, 6)).astype("float32")
    mask = padding_mask(np.array([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]]))
    output, scores = layer(x, attention_mask=mask, return_attention_scores=True)
    before, after = (normalize, lambda z: z) if pre_norm else (lambda z: z, normalize)
    y = before(x)
    hidden = after(
        x + np.asarray(layer.self_attention(query=y, key=y, value=y, attention_mask=mask))
    )
    expected = after(hidden + np.asarray(layer.feed_forward(before(hidden))))
    np.testing.assert_allclose(output, expected, atol=1e-5)
    assert scores.shape == (2, 3, 7, 7)
    assert (np.asarray(scores)[1, :, :, 3:] == 0).all()


@pytest.mark.parametrize("pre_norm", [False, True])
def test_decoder_layer_by_its_parts(random, pre_norm):
    layer = DecoderLayer(**SIZES, pre_norm=pre_norm)
    x = random.normal(size=(2, 5, 6)).astype("float32")
    encoded = random.normal(size=(2, 7, 11)).astype("float32")
    mask = causal_mask(5)
    cross = padding_mask(np.array([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]]))
    output, self_scores, cross_scores = layer(
        x, encoded, attention_mask=mask, cross_attention_mask=cross, return_attention_scores=True
    )
    before, after = (normalize, lambda z: z) if pre_norm else (lambda z: z, normalize)
    y = before(x)
    y = layer.self_attention(query=y, key=y, value=y, attention_mask=mask)
    hidden = after(x + np.asarray(y))
    # The query comes from the decoder, key and value from the encoder.
    y = layer.cross_attention(
        query=before(hidden), key=encoded, value=encoded, attention_mask=cross
    )
    hidden = after(hidden + np.asarray(y))
    expected = after(hidden + np.asarray(layer.feed_forward(before(hidden))))
    np.testing.assert_allclose(output, expected, atol=1e-5)
    assert self_scores.shape == (2, 3, 5, 5)
    assert cross_scores.shape == (2, 3, 5, 7)
    assert (np.asarray(cross_scores)[1, :, :, 3:] == 0).all()


def test_stacks_return_the_scores_of_each_layer(random):
    x = random.normal(size=(2, 5, 6)).astype("float32")
    encoded = random.normal(size=(2, 7, 6)).astype("float32")
    output, scores = Encoder(num_layers=3, **SIZES)(x, return_attention_scores=True)
    assert output.shape == x.shape
    assert len(scores) == 3
    output, self_scores, cross_scores = Decoder(num_layers=3, **SIZES)(
        x, encoded, return_attention_scores=True
    )
    assert output.shape == x.shape
    assert [s.shape for s in self_scores] == [(2, 3, 5, 5)] * 3
    assert [s.shape for s in cross_scores] == [(2, 3, 5, 7)] * 3


def test_pre_norm_stacks_end_with_a_norm(random):
    x = random.normal(size=(2, 5, 6)).astype("float32")
    output = np.asarray(Encoder(num_layers=1, **SIZES, pre_norm=True)(x))
    np.testing.assert_allclose(output.mean(-1), 0, atol=1e-5)
    np.testing.assert_allclose(output.std(-1), 1, atol=1e-3)


LAYERS = [
    (MultiHeadAttention(3, 6), 3),
    (FeedForward(6, 17), 1),
    (PositionalEmbedding(11, 6, "learned", 19), 0),
    (EncoderLayer(**SIZES, dropout_rate=0.3, pre_norm=True), 1),
    (Encoder(num_layers=2, **SIZES, dropout_rate=0.3), 1),
    (DecoderLayer(**SIZES, dropout_rate=0.3, pre_norm=True), 2),
    (Decoder(num_layers=2, **SIZES, dropout_rate=0.3), 2),
]


@pytest.mark.parametrize(("layer", "arguments"), LAYERS, ids=lambda x: type(x).__name__)
def test_config_round_trip(layer, arguments, random):
    copy = keras.layers.deserialize(keras.layers.serialize(layer))
    assert type(copy) is type(layer)
    assert copy.get_config() == layer.get_config()
    tensors = [random.normal(size=(2, 5, 6)).astype("float32") for _ in range(arguments)]
    tensors = tensors or [np.ones((2, 5), "int32")]
    expected = layer(*tensors)
    copy(*tensors)
    copy.set_weights(layer.get_weights())
    np.testing.assert_array_equal(copy(*tensors), expected)
