import pytest

from transformer_tf.text.normalization import normalize_text

NFD_UMLAUT = "u\N{COMBINING DIAERESIS}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{NFD_UMLAUT}ber", "über"),
        ("\N{ZERO WIDTH NO-BREAK SPACE}a\0b\x07c", "abc"),
        (" a\t\tb\r\nc\N{NARROW NO-BREAK SPACE}d\N{LINE SEPARATOR}e ", "a b c d e"),
        ("Donau\N{SOFT HYPHEN}dampf", "Donaudampf"),
        ("a\ud800b", "ab"),
        ("a\ue008b\U000f0000", "ab"),
        # Removing the NUL brings the two parts of the letter together.
        ("u\0\N{COMBINING DIAERESIS}", "ü"),
        ("می\N{ZERO WIDTH NON-JOINER}خواهم", "می\N{ZERO WIDTH NON-JOINER}خواهم"),
        ("▁a ▁", "_a _"),  # the mark of sub-words
        ("\N{IDEOGRAPHIC SPACE}", ""),
        ("\N{ZERO WIDTH JOINER} \N{ZERO WIDTH NON-JOINER}", ""),
    ],
)
def test_normalize_text(text: str, expected: str) -> None:
    assert normalize_text(text) == expected
    assert normalize_text(expected) == expected
