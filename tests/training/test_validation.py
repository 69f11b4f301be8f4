import pytest

from transformer_tf.training.validation import evenly_spaced, score_translations


class Echo:
    """A translator that returns its input and keeps it."""

    def __init__(self):
        self.inputs = []

    def translate(self, sentences):
        self.inputs.append(sentences)
        return sentences


def test_translations_are_scored():
    pairs = [(f"word {n} of a sentence", f"word {n} of a sentence") for n in range(300)]
    translator = Echo()
    scores = score_translations(translator, pairs)
    assert scores == {"bleu": pytest.approx(100), "chrf": pytest.approx(100)}
    assert [len(sources) for sources in translator.inputs] == [200]


def test_evenly_spaced_pairs():
    """Many corpora begin with their shortest sentences."""
    pairs = [(str(n), str(n)) for n in range(11)]
    assert [source for source, _ in evenly_spaced(pairs, 3)] == ["0", "3", "7"]
    assert evenly_spaced(pairs, 10**6) == pairs
