"""The benchmark of the values in a translation."""

import re

import pytest

from benchmarks import copying

LANGUAGES = [("en", "de"), ("de", "en"), ("en", "es")]


@pytest.mark.parametrize("languages", LANGUAGES)
def test_every_sentence_has_values_and_what_is_right(languages):
    sentences = list(copying.make_sentences(*languages, 20))
    assert sentences == list(copying.make_sentences(*languages, 20))
    for kind in {kind for kind, *_ in sentences}:
        patterns = {re.sub(r"\d", "", sentence) for each, sentence, _ in sentences if each == kind}
        assert len(patterns) >= 15
    for _, sentence, right in sentences:
        assert right and "{" not in sentence
        assert not all(re.search(pattern, "Nothing is here.") for pattern in right)


@pytest.mark.parametrize(
    ("languages", "make", "good", "bad"),
    [
        ("en de", "time", ["19:05 Uhr", "19.05"], ["7:05 Uhr", "9:05 Uhr", "19:50 Uhr"]),
        ("en es", "time", ["7:05 p. m.", "19:05", "7:05 de la tarde"], ["7:05 a. m.", "7:05"]),
        ("de en", "time", ["7:05 p.m.", "7:05 PM", "19:05"], ["7:05 a.m.", "7:05", "19:05 p.m."]),
    ],
)
def test_a_time_is_right_in_every_spelling_of_the_language(languages, make, good, bad):
    class Draw:  # five past seven in the evening
        def randrange(self, _):
            return 19

        def choice(self, values):
            return values[6] if len(values) > 60 else values[0]

        def random(self):
            return 0

    _, pattern = copying.MAKERS[make](Draw(), *languages.split())
    whole = re.compile(rf"(?<![\w.,:−–-])(?i:{pattern})(?!\w|[.,:]\d)")
    assert all(whole.search(f"um {text}") for text in good)
    assert not any(whole.search(f"um {text}") for text in bad)


class Copier:
    """A translator that copies everything."""

    def translate(self, texts, beam_size):
        assert beam_size == 2
        return list(texts)


def test_right_values_are_counted(checkpoint, monkeypatch):
    monkeypatch.setattr(copying.Translator, "load", lambda folder: Copier())
    rows = {row["value"]: row for row in copying.measure_copying(checkpoint, 20, beam_size=2)}
    assert rows["web"]["right"] == rows["phone"]["right"] == 1
    assert rows["date"]["right"] == rows["half hours"]["right"] == 0
    counted = [row["number"] for kind, row in rows.items() if kind not in ("all", "in words")]
    assert rows["all"]["number"] == sum(counted) - rows["half hours"]["number"]
