import numpy as np

from transformer_tf.attention_maps.alignments import (
    attention_of_words,
    link_words,
    mean_of_heads,
)
from transformer_tf.config import AlignmentHeads


def test_each_target_word_is_linked_with_its_most_attended_source_word():
    weights = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.1, 0.6]])
    assert link_words(weights) == [(0, 0), (2, 1), (2, 2)]
    assert link_words(np.zeros((3, 0))) == []


SOURCE = ["<start>", "▁Gar", "dens", "!", "<end>"]
TARGET = ["▁Gär", "ten", ".", "<end>"]


def test_words_without_start_and_end_and_marks():
    scores = np.array(
        [
            [0.1, 0.2, 0.3, 0.3, 0.1],  # says Gär
            [0.4, 0.3, 0.0, 0.2, 0.1],  # says ten, reads Gär
            [1.0, 0.0, 0.0, 0.0, 0.0],  # says ".", reads ten
            [0.0, 0.0, 0.0, 0.0, 1.0],  # says the end, reads "."
        ]
    )
    said = attention_of_words(scores, SOURCE, TARGET, "output")
    np.testing.assert_allclose(said, [[(0.5 + 0.3) / 2]])
    read = attention_of_words(scores, SOURCE, TARGET, "input")
    np.testing.assert_allclose(read, [[(0.3 + 0.0) / 2]])
    marks = attention_of_words(scores, ["<start>", "▁.", ".", "!", "<end>"], TARGET, "output")
    np.testing.assert_allclose(marks, [[(0.8 + 0.5) / 2]])
    nothing = attention_of_words(scores[:1, :2], ["<start>", "<end>"], ["<end>"], "output")
    assert nothing.shape == (0, 0)


def test_mean_of_heads(random):
    weights = random.random((3, 4, 5, 7))
    chosen = mean_of_heads(weights, AlignmentHeads(1, (2, 4)))
    np.testing.assert_allclose(chosen, weights[0, [1, 3]].mean(axis=0))
    np.testing.assert_allclose(mean_of_heads(weights, None), weights[2].mean(axis=0))
