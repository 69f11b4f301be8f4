"""The engine cuts a text as the Python package does."""

import pytest

from tests.export.web.conftest import CHECKPOINTS
from transformer_tf.checkpoint import open_checkpoint
from transformer_tf.text.placeholders import make_placeholders
from transformer_tf.text.segments import read_segments

pytestmark = pytest.mark.slow

LONG = "He said that he had seen her, and that she was well; but nobody believed him"
TEXTS = [
    "",
    "  \t ",
    "A short text. It has two sentences.",
    f"{LONG}. {LONG}! “Really?” he asked. {LONG}…",
    f"Dr. Smith and Mrs. Miller met at 5 p.m. in No. 5. {LONG}. It was 3 p.m. They left. {LONG}.",
    f"See fig. 3, e.g. here. No. I will not etc. and so. On 14. March J. R. came. {LONG}. {LONG}",
    f"{LONG}, {LONG}, {LONG} without any end: {LONG}",
    "word" * 200,
    f"a\u00ad\u200bb  {LONG}.\u00a0{LONG}.\x07 cafe\u0301 {LONG}.",
    f"{LONG}. {LONG}. {LONG}. STOP. NO".upper(),
    f"{LONG}. {LONG}. WHERE IS THE STATION? {LONG}.",
    "I?",
    *("😀 " * 70, "12.50 " * 60, "a, " * 200, "Hi. See? " * 30, f"{LONG} " * 9),
]


def test_segments_are_those_of_the_package(start_engine, shipped_packs):
    engine = start_engine(shipped_packs["en-de"])
    config, _, source, _ = open_checkpoint(CHECKPOINTS / "en-de")
    placeholders = make_placeholders(config.data, source)
    length, split = config.data.max_length, config.decoding.split_sentences
    for text in TEXTS:
        expected = read_segments(text, source, length, split, placeholders)
        found = engine("segments", text)
        assert [each["allCaps"] for each in found] == [each.all_caps for each in expected]
        unmasked = [each.unmasked or each.text for each in expected]
        assert [each["text"] for each in found] == unmasked


def test_segments_know_their_places(start_engine, shipped_packs):
    engine = start_engine(shipped_packs["en-de"])
    text = f"  One line.\n\n{LONG}.   {LONG}. {LONG}. {LONG}.\nTHE LAST ONE!"
    found = engine("segments", text)
    typed = [text[each["begin"] : each["end"]] for each in found]
    assert typed == ["One line.", *[f"{LONG}."] * 4, "THE LAST ONE!"]
    assert [each["line"] for each in found] == [0, 2, 2, 2, 2, 3]
    assert found[-1]["text"] == "The last one!" and found[-1]["allCaps"]
