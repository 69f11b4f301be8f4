import math

import pytest

from transformer_tf.training.validation import is_better, score_translations


class Echo:
    """A translator that returns its input and keeps it."""

    def __init__(self):
        self.inputs = []

    def translate(self, sentences, n_best):
        self.inputs.append(sentences)
        return sentences


@pytest.mark.parametrize("count", [11, 10**6])
def test_all_translations_are_scored(count):
    pairs = [(f"word {n} of a sentence", f"word {n} of a sentence") for n in range(11)]
    translator = Echo()
    scores = score_translations(translator, pairs, count)
    assert scores == {"bleu": pytest.approx(100), "chrf": pytest.approx(100)}
    assert translator.inputs == [[source for source, _ in pairs]]


def test_scored_translations_are_spread_over_the_pairs():
    """Many corpora begin with their shortest sentences."""
    pairs = [(str(n), str(n)) for n in range(11)]
    translator = Echo()
    score_translations(translator, pairs, 3)
    assert translator.inputs == [["0", "3", "7"]]


def test_no_translations_are_not_scored():
    translator = Echo()
    assert score_translations(translator, [("a", "b")], 0) == {}
    assert translator.inputs == []


@pytest.mark.parametrize(
    ("score", "best", "metric", "expected"),
    [
        (3.0, None, "bleu", True),
        (3.0, 2.0, "bleu", True),
        (3.0, 2.0, "perplexity", False),
        (1.0, 2.0, "perplexity", True),
        (2.0, 2.0, "chrf", False),
        (math.nan, None, "bleu", False),
        (math.inf, None, "perplexity", False),
    ],
)
def test_is_better(score, best, metric, expected):
    assert is_better(score, best, metric) is expected
