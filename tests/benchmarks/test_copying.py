"""The benchmark of what a translation copies."""

import pytest

from benchmarks import copying
from transformer_tf.text.slots import Slots


class Copier:
    """A translator that converts all numbers but leaves out names."""

    def translate(self, texts, beam_size):
        assert beam_size == 2
        if any("fifteen" in text or "half past" in text for text in texts):
            return ["Es sind fünfzehn um halb vier."] * len(texts)
        values = [values for _, values in copying.make_sentences("en", len(texts))]
        convert = Slots("en", "de").convert
        return [
            " ".join(convert(text) for kind, text in found if kind != "name") for found in values
        ]


@pytest.mark.parametrize("language", ["en", "de"])
def test_sentences_have_their_values(language):
    sentences = list(copying.make_sentences(language, 60))
    assert sentences == list(copying.make_sentences(language, 60))
    assert len({sentence for sentence, _ in sentences}) > 50
    for sentence, values in sentences:
        assert values and all(text in sentence for _, text in values)
        assert "{" not in sentence


def test_copies_are_counted(checkpoint, monkeypatch):
    monkeypatch.setattr(copying.Translator, "load", lambda folder: Copier())
    rows = {row["value"]: row for row in copying.measure_copying(checkpoint, 40, beam_size=2)}
    assert rows["name"]["copied"] == 0
    assert rows.pop("in words")["copied"] == pytest.approx(1 / 87)
    assert rows.pop("half hours")["copied"] == pytest.approx(1 / 12)
    assert {rows[kind]["copied"] for kind in rows if kind not in ("name", "all")} == {1}
    assert rows["all"]["number"] == sum(rows[kind]["number"] for kind in rows if kind != "all")
