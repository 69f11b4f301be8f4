import math

import keras
import numpy as np
import pytest

from transformer_tf.layers import PositionalEmbedding, positional_encoding


def test_points_of_the_paper_formula():
    encoding = np.asarray(positional_encoding(3, 20))
    np.testing.assert_array_equal(encoding[0], [0, 1] * 10)
    position_1 = [0.841470985, 0.540302306, 0.387674234, 0.921796446]
    position_1 += [0.157826640, 0.987466836, 0.0630538780, 0.998010124]
    position_2 = [0.909297427, -0.416146837, 0.714713463, 0.699417376]
    np.testing.assert_allclose(encoding[1, :8], position_1, rtol=1e-6)
    np.testing.assert_allclose(encoding[2, :4], position_2, rtol=1e-6)


def test_every_dimension_by_the_scalar_formula():
    encoding = np.asarray(positional_encoding(50, 6))
    for position in range(50):
        for i in range(3):
            angle = position / 10000 ** (2 * i / 6)
            assert encoding[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-5)
            assert encoding[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-5)


def test_a_shift_rotates_each_frequency():
    shift, d_model = 3, 8
    encoding = np.asarray(positional_encoding(20, d_model))
    for i in range(d_model // 2):
        angle = shift / 10000 ** (2 * i / d_model)
        rotation = np.array(
            [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
        )
        pair = encoding[:, 2 * i : 2 * i + 2]
        np.testing.assert_allclose(pair[shift:], pair[:-shift] @ rotation.T, atol=1e-5)


def test_odd_size():
    whole = np.asarray(positional_encoding(9, 5))
    assert whole.shape == (9, 5)
    np.testing.assert_allclose(whole[:, 4], np.sin(np.arange(9) / 10000 ** (4 / 5)), atol=1e-6)
    length = keras.ops.convert_to_tensor(9)  # as in a graph
    np.testing.assert_allclose(positional_encoding(length, 5), whole, atol=1e-6)


def test_embedding_is_scaled_and_positions_are_added():
    layer = PositionalEmbedding(vocab_size=11, d_model=6)
    ids = np.array([[3, 3, 0]])
    output = np.asarray(layer(ids))
    table = np.asarray(layer.embeddings)
    expected = table[ids[0]] * math.sqrt(6) + np.asarray(positional_encoding(3, 6))
    np.testing.assert_allclose(output[0], expected, atol=1e-6)


def test_sinusoidal_has_no_longest_sequence():
    layer = PositionalEmbedding(vocab_size=3, d_model=4, max_length=5)
    assert layer(np.ones((1, 999), "int32")).shape == (1, 999, 4)


def test_learned_positions_differ_and_end():
    layer = PositionalEmbedding(vocab_size=3, d_model=4, position="learned", max_length=5)
    output = np.asarray(layer(np.ones((1, 5), "int32")))
    assert not np.allclose(output[0, 0], output[0, 1])
    assert [weight.name for weight in layer.weights] == ["embeddings", "position_embeddings"]
    positions = layer.position_table(5)[3:]
    shifted = np.asarray(layer(np.ones((1, 2), "int32"), positions=positions))
    np.testing.assert_allclose(shifted[0], output[0, 3:], atol=1e-6)
    with pytest.raises(ValueError, match=r"5 learned positions.*length 6"):
        layer(np.ones((1, 6), "int32"))
    with pytest.raises(ValueError, match="length 6"):
        layer.position_table(6)


def test_initial_scales():
    """Scaled embeddings have a standard deviation of 1, learned positions one of 0.02."""
    layer = PositionalEmbedding(1009, 97, position="learned", max_length=503)
    layer.build((None, None))
    embeddings, positions = map(np.asarray, (layer.embeddings, layer.position_embeddings))
    assert (embeddings * 97**0.5).std() == pytest.approx(1, rel=0.02)
    assert positions.std() == pytest.approx(0.02, rel=0.02)
    assert np.abs([embeddings.mean(), positions.mean()]).max() < 0.001


def test_unknown_position_is_an_error():
    with pytest.raises(ValueError, match="Received: position='rotary'"):
        PositionalEmbedding(3, 4, position="rotary")


def test_project_scores_by_the_embedding(random):
    layer = PositionalEmbedding(vocab_size=7, d_model=4)
    layer.build((None, None))
    hidden = random.normal(size=(2, 3, 4)).astype("float32")
    expected = hidden @ np.asarray(layer.embeddings).T
    np.testing.assert_allclose(layer.project(keras.ops.array(hidden)), expected, atol=1e-6)


def test_half_precision_stays():
    layer = PositionalEmbedding(7, 4, "learned", max_length=5, dtype="mixed_float16")
    embedded = layer(np.ones((2, 3), "int32"))
    for tensor in (embedded, layer.position_table(3), layer.project(embedded)):
        assert keras.backend.standardize_dtype(tensor.dtype) == "float16"
