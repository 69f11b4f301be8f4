"""Texts that nobody expects: every engine answers them, and equally.

`FUZZ_TEXTS=2000 python -m pytest -m slow tests/test_hostile_texts.py` tries more than the quick
tests do, with a shipped translator.
"""

import os

import numpy as np
import pytest

from transformer_tf.errors import TransformerTFError
from transformer_tf.translator import Translator

TEXTS = int(os.environ.get("FUZZ_TEXTS", "60"))
SHOWN = "\N{REPLACEMENT CHARACTER}"
KINDS = {
    "words": ["I", "see", "a", "tree", "Tom's", "house", "where", "is", "the", "station?", "good."],
    "emoji": ["😀", "👍🏽", "👨‍👩‍👧", "🇩🇪", "❤️", "🏳️‍🌈", "☎", "\U0001fae8"],
    "combining": ["a\u0301", "e\u0308\u0323", "x" + "\u0334" * 40, "\u0301", "ﬁ", "Å", "각"],
    "right to left": ["שלום", "مرحبا", "\u202eabc\u202c", "\u200fab", "العربية123"],
    "scripts": ["木", "日本語です。", "नमस्ते", "ไทย", "Ελλάδα", "Привет", "𝔘𝔫𝔦", "𓂀"],
    "control": ["\0", "\x07", "\x1b[31m", "\r", "\u2028", "\x85", "\ufeff", "\u00ad", "\t", "\n"],
    "broken": ["\ud800", "\udfff", SHOWN, "\ufffe", "\U0010ffff", "\ue000", "\ue00f", "\uf8ff"],
    "long": ["a" * 300, "ab-" * 90, "http://a.b/" + "c/" * 60, "." * 200, "木" * 150, "1" * 120],
    "numbers": ["$45.90", "7:05 PM", "1,234,567.89", "1/2", "٣", "Ⅳ", "-0", "1e999", "12:99", "²"],
    "placeholders": ["<1>", "<8>", "<9>", "<1", "<bt>", "<start>", "<end>", "<unk>", "<0xE2>"],
    "markup": ["▁", "▁▁a", "<b>x</b>", "&amp;", "%s", "{0}", "\\n", "';--", "```", "$(x)"],
}


def hostile_texts(count, seed=0):
    """Returns random texts of one to three kinds of parts, with the same seed the same ones."""
    random = np.random.default_rng(seed)
    names = sorted(KINDS)
    texts = []
    for _ in range(count):
        parts = [
            part for name in random.choice(names, random.integers(1, 4)) for part in KINDS[name]
        ]
        chosen = [parts[place] for place in random.integers(len(parts), size=random.integers(1, 9))]
        texts.append(random.choice(["", " ", "  ", ", "]).join(chosen))
    return texts


@pytest.mark.filterwarnings("ignore:KerasEngine lost, repeated or invented a value")
@pytest.mark.parametrize("name", ["tiny", pytest.param("en-de", marks=pytest.mark.slow)])
def test_hostile_texts_have_equal_answers(checkpoint, name):
    place = checkpoint if name == "tiny" else name
    numpy, keras = (Translator.load(place, engine=engine) for engine in ("numpy", "keras"))
    numpy.engine.copies = {}  # Keras's search does not see to it that placeholders are copied
    texts = hostile_texts(TEXTS)
    # One by one, so that an error names its text.
    found = [numpy.search([text], beam_size=1, alignment=True)[0][0] for text in texts]
    for text, (other,), ours in zip(texts, keras.search(texts, beam_size=1), found, strict=True):
        if SHOWN not in text:
            assert SHOWN not in ours.text, text
        assert len(ours.text.splitlines()) <= 1, text
        words = len(ours.text.split())
        assert all(target < words for _, target in ours.alignment), text
        assert (ours.text, ours.tokens) == (other.text, other.tokens), text


def test_hostile_prefixes_and_attention_are_answered_or_refused(checkpoint):
    translator = Translator.load(checkpoint)
    for text, prefix in zip(hostile_texts(TEXTS), hostile_texts(TEXTS, 1), strict=True):
        for ask in (
            lambda text=text, prefix=prefix: translator.translate([text], prefixes=[prefix]),
            lambda text=text: translator.attend(text),
        ):
            try:
                ask()
            except TransformerTFError as error:
                assert len(str(error).splitlines()) == 1
