import numpy as np
import pytest

from transformer_tf.alignment import (
    AlignmentHeads,
    alignment_error_rate,
    attention_of_words,
    choose_heads,
    format_pharaoh,
    link_words,
    mean_of_heads,
)
from transformer_tf.errors import ConfigError


def test_each_target_word_is_linked_with_what_it_looked_at_most():
    weights = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.1, 0.6]])
    links = link_words(weights)
    assert links == [(0, 0), (2, 1), (2, 2)]
    assert format_pharaoh(links) == "0-0 2-1 2-2"
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


def test_error_rate_by_hand():
    found = [{(0, 0), (1, 1), (2, 2)}]
    sure = [{(0, 0), (1, 2)}]
    possible = [{(0, 0), (1, 2), (1, 1)}]
    # |A & S| = 1, |A & P| = 2, |A| = 3, |S| = 2
    assert alignment_error_rate(found, sure, possible) == pytest.approx(1 - 3 / 5)
    assert alignment_error_rate(sure, sure, possible) == 0
    assert alignment_error_rate([{(5, 5)}], sure, possible) == 1
    with pytest.raises(ValueError, match="at least one link"):
        alignment_error_rate([set()], [set()], [set()])


def test_the_heads_that_align_are_found(random):
    """Heads 2 and 4 of layer 3 know half of the truth each, together all of it."""
    weights, gold, noise = [], [], []
    for _ in range(20):
        truth = random.permutation(5)
        each = random.dirichlet(np.ones(5), size=(3, 4, 5))
        for head, rows in ((1, slice(0, 3)), (3, slice(3, 5))):
            each[2, head] = 0.2
            each[2, head, rows] = 0.01
            each[2, head, range(*rows.indices(5)), truth[rows]] = 0.96
        weights.append(each)
        noise.append(random.dirichlet(np.ones(5), size=(3, 4, 5)))
        gold.append({(int(source), target) for target, source in enumerate(truth)})
    for query, other in (("output", "input"), ("input", "output")):
        choice, error = choose_heads({other: noise, query: weights}, gold, gold)
        assert (choice, error) == (AlignmentHeads(3, (2, 4), query), 0.0)


def test_mean_of_heads(random):
    weights = random.random((3, 4, 5, 7))
    chosen = mean_of_heads(weights, AlignmentHeads(1, (2, 4)))
    np.testing.assert_allclose(chosen, weights[0, [1, 3]].mean(axis=0))
    np.testing.assert_allclose(mean_of_heads(weights, AlignmentHeads()), weights[2].mean(axis=0))
    with pytest.raises(ConfigError, match="alignment_layer must be from 1 to 3, not 4"):
        mean_of_heads(weights, AlignmentHeads(4))
    with pytest.raises(ConfigError, match="alignment_heads are from 1 to 4, not 0"):
        mean_of_heads(weights, AlignmentHeads(1, (0,)))
