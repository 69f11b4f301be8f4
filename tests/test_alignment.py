import numpy as np
import pytest

from transformer_tf.alignment import (
    alignment_error_rate,
    choose_heads,
    cross_attention_of_words,
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


def test_words_without_start_and_end():
    scores = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [1, 0, 0, 0]])
    weights = cross_attention_of_words(
        scores, ["<start>", "▁Gar", "dens", "<end>"], ["▁Gär", "ten", "<end>"]
    )
    np.testing.assert_allclose(weights, [[0.5]])
    nothing = cross_attention_of_words(scores[:1], ["<start>", "<end>"], ["<end>"])
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
    weights, gold = [], []
    for _ in range(20):
        truth = random.permutation(5)
        each = random.dirichlet(np.ones(5), size=(3, 4, 5))
        for head, rows in ((1, slice(0, 3)), (3, slice(3, 5))):
            each[2, head] = 0.2
            each[2, head, rows] = 0.01
            each[2, head, range(*rows.indices(5)), truth[rows]] = 0.96
        weights.append(each)
        gold.append({(int(source), target) for target, source in enumerate(truth)})
    assert choose_heads(weights, gold, gold) == (3, (2, 4), 0.0)


def test_mean_of_heads(random):
    weights = random.random((3, 4, 5, 7))
    np.testing.assert_allclose(mean_of_heads(weights, 1, (2, 4)), weights[0, [1, 3]].mean(axis=0))
    np.testing.assert_allclose(mean_of_heads(weights, None, ()), weights[1].mean(axis=0))
    np.testing.assert_allclose(mean_of_heads(weights[:1], None, ()), weights[0].mean(axis=0))
    with pytest.raises(ConfigError, match="alignment_layer must be from 1 to 3, not 4"):
        mean_of_heads(weights, 4, ())
    with pytest.raises(ConfigError, match="alignment_heads are from 1 to 4, not 0"):
        mean_of_heads(weights, 1, (0,))
