"""ISO codes of languages."""

from __future__ import annotations

from transformer_tf.errors import DataError

# fmt: off
ISO_639_3 = {
    "af": "afr", "ar": "ara", "be": "bel", "bg": "bul", "bn": "ben", "ca": "cat", "cs": "ces",
    "da": "dan", "de": "deu", "el": "ell", "en": "eng", "es": "spa", "et": "est", "eu": "eus",
    "fa": "pes", "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin", "hu": "hun", "id": "ind",
    "is": "isl", "it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit", "lv": "lvs", "mk": "mkd",
    "mr": "mar", "nb": "nob", "nl": "nld", "no": "nob", "pl": "pol", "pt": "por", "ro": "ron",
    "ru": "rus", "sk": "slk", "sl": "slv", "sr": "srp", "sv": "swe", "th": "tha", "tl": "tgl",
    "tr": "tur", "uk": "ukr", "ur": "urd", "vi": "vie", "zh": "cmn",
}
# fmt: on
"""The ISO 639-3 code, as in the file names of manythings.org, of each ISO 639-1 code."""


def other_than_english(source: str, target: str) -> tuple[str, bool]:
    """Returns the language that is not English, and whether English is the source.

    Args:
        source: The source language, a two-letter or three-letter code.
        target: The target language, likewise.

    Returns:
        The ISO 639-3 code of the other language, and True if English is the source.

    Raises:
        DataError: If a code is unknown, or not exactly one language is English.
    """
    codes = []
    for language in (source, target):
        code = ISO_639_3.get(language, language)
        if not (len(code) == 3 and code.isascii() and code.isalpha() and code.islower()):
            raise DataError(
                f"Unknown language {language!r}: choose {', '.join(ISO_639_3)}, or "
                "a three-letter code (ISO 639-3)."
            )
        codes.append(code)
    if codes.count("eng") != 1:
        raise DataError(
            f"Exactly one of the two languages must be English (en), not {source} and {target}."
        )
    return (codes[1], True) if codes[0] == "eng" else (codes[0], False)
