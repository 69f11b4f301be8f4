import numpy as np

from transformer_tf.layers import causal_mask, padding_mask


def test_causal_mask_of_length_three():
    expected = [[True, False, False], [True, True, False], [True, True, True]]
    np.testing.assert_array_equal(causal_mask(3), expected)


def test_padding_mask_marks_real_tokens():
    mask = np.asarray(padding_mask(np.array([[7, 6, 0, 0, 1], [1, 2, 3, 0, 0]])))
    assert mask.shape == (2, 1, 1, 5)
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask[:, 0, 0], [[1, 1, 0, 0, 1], [1, 1, 1, 0, 0]])


def test_padding_mask_of_another_id():
    np.testing.assert_array_equal(
        padding_mask(np.array([[0, 5]]), pad_id=5)[0, 0, 0], [True, False]
    )
