import json

import pytest

from transformer_tf.evaluation.report import report, write_report
from transformer_tf.evaluation.scores import (
    score,
    score_all,
    score_by_length,
    score_sentences,
)
from transformer_tf.translation import Translation

REFERENCES = ["Der Hund läuft schnell nach Hause.", "Ich habe 25 Bücher gekauft."]


def test_equal_sentences_score_100():
    scores = score(REFERENCES, REFERENCES)
    assert scores.bleu == pytest.approx(100)
    assert scores.chrf == pytest.approx(100)


def test_bleu_by_hand():
    # 4 of 5 unigrams, 3 of 4 bigrams, 2 of 3 trigrams, 1 of 2 4-grams; no brevity penalty.
    scores = score(["a b c d x"], ["a b c d e"])
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert scores.bleu == pytest.approx(expected)


def test_scores_are_case_sensitive():
    assert score([r.lower() for r in REFERENCES], REFERENCES).bleu < 90


def test_number_of_sentences_must_agree():
    with pytest.raises(ValueError, match="1 translations, 2 references"):
        score(["a"], REFERENCES)
    with pytest.raises(ValueError, match="0 references"):
        score([], [])


class Parrot:
    """A translator with given translations."""

    def __init__(self, answers):
        self.answers = answers

    def search(self, texts, progress=False):
        return [[Translation(self.answers[text], ["a", "b", "c"], 0.0)] for text in texts]


def test_all_metrics_with_their_intervals():
    references = [f"Das ist der Satz Nummer {n} von vielen." for n in range(30)]
    said = [r if n % 3 else f"Etwas anderes {n}." for n, r in enumerate(references)]
    found = {metric.name: metric for metric in score_all(said, references, resamples=200)}
    assert list(found) == ["BLEU", "chrF", "chrF++", "TER"]
    assert found["BLEU"].score == pytest.approx(score(said, references).bleu)
    assert found["chrF"].score == pytest.approx(score(said, references).chrf)
    assert found["chrF++"].score != found["chrF"].score
    assert all(metric.interval > 1 for metric in found.values())
    assert "bs:200" in found["BLEU"].signature and "nw:2" in found["chrF++"].signature
    perfect = score_all(references, references, resamples=0)
    assert [metric.score for metric in perfect] == pytest.approx([100, 100, 100, 0])
    assert {metric.interval for metric in perfect} == {None}


def test_an_interval_needs_enough_sentences():
    with pytest.raises(ValueError, match="resamples=1"):
        score_all(REFERENCES, REFERENCES, resamples=1)
    # Some samples have only the second sentence, whose chrF is 0.
    said = [REFERENCES[0], "xyz"]
    found, plain = (score_all(said, REFERENCES, resamples=count)[1] for count in (50, 0))
    assert (found.interval, found.score, found.signature) == (None, plain.score, plain.signature)
    hopeless = score_all(["xyz"] * 30, ["a b c d e"] * 30, resamples=2)
    assert [metric.interval for metric in hopeless] == [0, 0, 0, 0]


def test_lowercase_ignores_case():
    said = [reference.upper() for reference in REFERENCES]
    for metric in score_all(said, REFERENCES, lowercase=True, resamples=0):
        assert metric.score == pytest.approx(0 if metric.name == "TER" else 100)
        assert "case:lc" in metric.signature
    assert score_all(said, REFERENCES, resamples=0)[3].score > 50
    assert score_sentences(said, REFERENCES, lowercase=True) == pytest.approx([100, 100])
    assert max(score_sentences(said, REFERENCES)) < 50
    sources = ["word"] * 2
    (row,) = score_by_length(sources, said, REFERENCES, lowercase=True)
    assert (row["BLEU"], row["chrF"]) == (pytest.approx(100), pytest.approx(100))
    assert score_by_length(sources, said, REFERENCES)[0]["chrF"] < 50


def test_by_length():
    sources = ["a", "a b c d e", "a b c d e f", "", "word " * 31]
    said = ["x", "y", *REFERENCES, "z"]
    rows = score_by_length(sources, said, ["x", "n", *REFERENCES, "z"])
    assert [(row["words"], row["sentences"]) for row in rows] == [
        ("1-5", 3),
        ("6-10", 1),
        ("over 30", 1),
    ]
    assert rows[1]["chrF"] == pytest.approx(100)


def test_report_names_the_worst():
    answers = {"one": REFERENCES[0], "two": "Nichts davon."}
    found = report(Parrot(answers), ["one", "two"], REFERENCES, resamples=0, worst=1)
    assert found.sentences == 2 and found.tokens == 2 * 3
    assert [sentence["source"] for sentence in found.worst] == ["two"]
    assert found.worst[0]["chrF"] == score_sentences(["Nichts davon."], REFERENCES[1:])[0]
    text = found.summary()
    assert "Nichts davon." in text and "TER" in text and " ± " not in text
    with pytest.raises(ValueError, match="1 translations, 2 references"):
        report(Parrot(answers), ["one"], REFERENCES)


def test_a_report_as_json(tmp_path):
    parrot = Parrot(dict(zip(["one", "two"], REFERENCES, strict=True)))
    found = report(parrot, ["two", "one"], REFERENCES[::-1], resamples=0, worst=0)
    assert found.seconds > 0
    write_report(found, tmp_path / "test.json")
    written = json.loads((tmp_path / "test.json").read_text())
    assert written["sentences"] == 2
    assert written["metrics"][0]["score"] == pytest.approx(100)
    assert "tok:13a" in written["metrics"][0]["signature"]
