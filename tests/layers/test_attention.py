import keras
import numpy as np
import pytest

from transformer_tf.layers import MultiHeadAttention, causal_mask, scaled_dot_product_attention


def slow_attention(query, key, value, mask):
    """Equation 1 of the paper, one query and one key at a time."""
    scores = np.zeros((len(query), len(key)))
    for i, q in enumerate(query):
        exponents = [
            np.exp(np.dot(q, k) / np.sqrt(len(k))) if mask[i, j] else 0.0 for j, k in enumerate(key)
        ]
        scores[i] = np.array(exponents) / sum(exponents)
    output = np.zeros((len(query), value.shape[1]))
    for i in range(len(query)):
        for j in range(len(key)):
            output[i] += scores[i, j] * value[j]
    return output, scores


def test_the_articles_example_finds_the_matching_key():
    key = np.array([[10, 0, 0], [0, 10, 0], [0, 0, 10], [0, 0, 10]], "float32")
    value = np.array([[1, 0], [10, 0], [100, 5], [1000, 6]], "float32")
    query = np.array([[0, 10, 0]], "float32")
    output, scores = scaled_dot_product_attention(query, key, value)
    assert scores.shape == (1, 4)
    assert output.shape == (1, 2)
    np.testing.assert_allclose(scores, [[0, 1, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(output, [[10, 0]], atol=1e-4)
    # A query between two equal keys takes the mean of their values.
    output, scores = scaled_dot_product_attention(
        np.array([[0, 0, 10]], "float32"), key, value, mask=None
    )
    np.testing.assert_allclose(scores, [[0, 0, 0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(output, [[550, 5.5]], rtol=1e-5)


@pytest.mark.parametrize("key_len", [1, 2, 7])
def test_equal_to_the_slow_formula(random, key_len):
    query, key = random.normal(size=(5, 3)), random.normal(size=(key_len, 3))
    value = random.normal(size=(key_len, 2))
    mask = random.random((5, key_len)) < 0.6
    mask[:, 0] = True
    output, scores = scaled_dot_product_attention(
        query.astype("float32"), key.astype("float32"), value.astype("float32"), mask
    )
    expected_output, expected_scores = slow_attention(query, key, value, mask)
    np.testing.assert_allclose(output, expected_output, atol=1e-5)
    np.testing.assert_allclose(scores, expected_scores, atol=1e-6)
    np.testing.assert_allclose(np.asarray(scores).sum(-1), 1, atol=1e-6)
    assert (np.asarray(scores)[~mask] == 0).all()


def test_a_fully_masked_query_gives_no_nan(random):
    x = random.normal(size=(3, 4)).astype("float32")
    _, scores = scaled_dot_product_attention(x, x, x, np.zeros((3, 3), bool))
    np.testing.assert_allclose(scores, 1 / 3, atol=1e-6)


def test_heads_share_the_depth():
    assert MultiHeadAttention(num_heads=8, d_model=512).head_dim == 64
    with pytest.raises(ValueError, match="Received: d_model=10, num_heads=3"):
        MultiHeadAttention(num_heads=3, d_model=10)
    with pytest.raises(ValueError, match="num_heads=0"):
        MultiHeadAttention(num_heads=0, d_model=10)


def keras_twin(layer, depths):
    """Keras's own layer with the weights of ours."""
    heads, size = layer.num_heads, layer.head_dim
    twin = keras.layers.MultiHeadAttention(heads, key_dim=size, value_dim=size)
    twin.build(*[(None, None, depth) for depth in depths])
    weights = []
    for projection, depth in zip(
        (layer.query_projection, layer.key_projection, layer.value_projection),
        (depths[0], depths[2], depths[1]),
        strict=True,
    ):
        kernel, bias = projection.get_weights()
        weights += [kernel.reshape(depth, heads, size), bias.reshape(heads, size)]
    kernel, bias = layer.output_projection.get_weights()
    twin.query_dense.set_weights(weights[0:2])
    twin.key_dense.set_weights(weights[2:4])
    twin.value_dense.set_weights(weights[4:6])
    twin.output_dense.set_weights([kernel.reshape(heads, size, -1), bias])
    return twin


@pytest.mark.parametrize(("masked", "num_heads"), [(False, 3), (True, 3), (True, 1)])
def test_equal_to_keras(random, masked, num_heads):
    layer = MultiHeadAttention(num_heads=num_heads, d_model=12)
    query = random.normal(size=(2, 5, 12)).astype("float32")
    value = random.normal(size=(2, 7, 12)).astype("float32")
    key = random.normal(size=(2, 7, 11)).astype("float32")
    layer.build(query.shape, key.shape, value.shape)
    for variable in layer.trainable_variables:
        variable.assign(random.normal(0, 0.4, variable.shape))
    twin = keras_twin(layer, (12, 12, 11))
    mask = None
    if masked:
        mask = random.random((2, 5, 7)) < 0.5
        mask[:, :, 2] = True
    output, scores = layer(
        query=query,
        key=key,
        value=value,
        attention_mask=None if mask is None else mask[:, None],
        return_attention_scores=True,
    )
    expected, expected_scores = twin(
        query, value, key=key, attention_mask=mask, return_attention_scores=True
    )
    assert scores.shape == (2, num_heads, 5, 7)
    np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(scores, expected_scores, atol=1e-6)


def test_causality(random):
    layer = MultiHeadAttention(num_heads=2, d_model=6)
    x = random.normal(size=(1, 5, 6)).astype("float32")
    changed = x.copy()
    changed[:, 3] += 1
    outputs = [
        np.asarray(layer(query=a, key=a, value=a, attention_mask=causal_mask(5)))
        for a in (x, changed)
    ]
    np.testing.assert_array_equal(outputs[0][:, :3], outputs[1][:, :3])
    assert np.abs(outputs[0][:, 3:] - outputs[1][:, 3:]).min() > 1e-4


def test_symbolic_shapes():
    layer = MultiHeadAttention(num_heads=2, d_model=6)
    query, key = keras.Input((5, 3)), keras.Input((7, 4))
    output, scores = layer(query=query, key=key, value=key, return_attention_scores=True)
    assert output.shape == (None, 5, 6)
    assert scores.shape == (None, 2, 5, 7)
    assert layer(query=query, key=key, value=key).shape == (None, 5, 6)
