import json

import pytest

from transformer_tf.evaluation import evaluate, score, write_report

REFERENCES = ["Der Hund läuft schnell nach Hause.", "Ich habe 25 Bücher gekauft."]


def test_equal_sentences_score_100():
    scores = score(REFERENCES, REFERENCES)
    assert scores.bleu == pytest.approx(100)
    assert scores.chrf == pytest.approx(100)
    assert "tok:13a" in scores.bleu_signature
    assert "case:mixed" in scores.bleu_signature


def test_bleu_by_hand():
    # 4 of 5 unigrams, 3 of 4 bigrams, 2 of 3 trigrams, 1 of 2 4-grams; no brevity penalty.
    scores = score(["a b c d x"], ["a b c d e"])
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert scores.bleu == pytest.approx(expected)


def test_case_counts():
    assert score([r.lower() for r in REFERENCES], REFERENCES).bleu < 90


def test_number_of_sentences_must_agree():
    with pytest.raises(ValueError, match="1 translations, 2 references"):
        score(["a"], REFERENCES)
    with pytest.raises(ValueError, match="0 references"):
        score([], [])


class Parrot:
    """A translator that says what it was told to."""

    def __init__(self, answers):
        self.answers = answers

    def translate(self, texts, progress=False):
        return [self.answers[text] for text in texts]


def test_evaluate_and_report(tmp_path):
    parrot = Parrot(dict(zip(["one", "two"], REFERENCES, strict=True)))
    scores = evaluate(parrot, list(zip(["two", "one"], REFERENCES[::-1], strict=True)))
    assert scores.bleu == pytest.approx(100)
    assert scores.seconds > 0
    assert "BLEU 100.00" in scores.summary()
    write_report(scores, tmp_path / "test.json")
    assert json.loads((tmp_path / "test.json").read_text())["sentences"] == 2
