"""Languages: their names, their ISO 639-3 codes and their most common words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

_MIN_COMMON_WORDS = 20  # of the language that texts seem to have
_CLEARLY_MORE = 1.5  # times as many common words as of the expected language


class Language(NamedTuple):
    """A language.

    Attributes:
        name: Its English name.
        iso_639_3: Its three-letter code, as in the file names of manythings.org.
        common_words: Its most common words: enough to recognize it in a few dozen sentences.
    """

    name: str
    iso_639_3: str
    common_words: str = ""


LANGUAGES = {
    "af": Language("Afrikaans", "afr"),
    "ar": Language("Arabic", "ara"),
    "be": Language("Belarusian", "bel"),
    "bg": Language("Bulgarian", "bul"),
    "bn": Language("Bengali", "ben"),
    "ca": Language("Catalan", "cat"),
    "cs": Language("Czech", "ces", "je se to na že jsem si jsi v co tak ale"),
    "da": Language("Danish", "dan", "og det er jeg ikke en at du på til har der"),
    "de": Language("German", "deu", "der die und das ist nicht ich zu den ein es er"),
    "el": Language("Greek", "ell"),
    "en": Language("English", "eng", "the and is of to you that it in was not he"),
    "es": Language("Spanish", "spa", "el la de que y los no un una es por en"),
    "et": Language("Estonian", "est"),
    "eu": Language("Basque", "eus"),
    "fa": Language("Persian", "pes"),
    "fi": Language("Finnish", "fin", "on ja ei se oli että hän minä ole tämä mutta olen"),
    "fr": Language("French", "fra", "le la les et est des une que je pas vous il"),
    "he": Language("Hebrew", "heb"),
    "hi": Language("Hindi", "hin"),
    "hu": Language("Hungarian", "hun", "a az és nem hogy van egy ez meg is volt de"),
    "id": Language("Indonesian", "ind"),
    "is": Language("Icelandic", "isl"),
    "it": Language("Italian", "ita", "il che di e è la non un una per sono ho"),
    "ja": Language("Japanese", "jpn"),
    "ko": Language("Korean", "kor"),
    "lt": Language("Lithuanian", "lit"),
    "lv": Language("Latvian", "lvs"),
    "mk": Language("Macedonian", "mkd"),
    "mr": Language("Marathi", "mar"),
    "nb": Language("Norwegian", "nob"),
    "nl": Language("Dutch", "nld", "de het een en van ik niet dat je is zijn hij"),
    "no": Language("Norwegian", "nob"),
    "pl": Language("Polish", "pol", "nie się jest to w na że i z jak czy ja"),
    "pt": Language("Portuguese", "por", "o a que não de um uma é os do eu ele"),
    "ro": Language("Romanian", "ron", "nu să este și un o în la că pe cu am"),
    "ru": Language("Russian", "rus", "и в не на я что он это с как ты у"),
    "sk": Language("Slovak", "slk"),
    "sl": Language("Slovenian", "slv"),
    "sr": Language("Serbian", "srp"),
    "sv": Language("Swedish", "swe", "och att det är jag en som inte på för den har"),
    "th": Language("Thai", "tha"),
    "tl": Language("Tagalog", "tgl"),
    "tr": Language("Turkish", "tur", "bir ve bu o ne için ben çok var değil mi da"),
    "uk": Language("Ukrainian", "ukr", "і в не на я що він це з як ти у"),
    "ur": Language("Urdu", "urd"),
    "vi": Language("Vietnamese", "vie"),
    "zh": Language("Chinese", "cmn"),
}
"""The languages by their two-letter codes."""


def listed_code(spelling: str) -> str:
    """Returns the two-letter code of a listed language: `de` for `DE`, `deu` and `German`.

    Any other spelling, such as `zh_classical`, stays as it is.
    """
    word = spelling.strip().lower()
    for code, language in LANGUAGES.items():
        if word in (code, language.iso_639_3, language.name.lower()):
            return code
    return spelling


def language_code(spelling: str) -> str:
    """Returns the two-letter code of a language: also `de` for `de-DE`, and `no` for `nb`.

    A language that is not listed stays as it is, in lower case and without a region.
    """
    code = listed_code(spelling.strip().lower().replace("_", "-").partition("-")[0])
    return "no" if code == "nb" else code  # both are listed as Norwegian


def language_name(code: str) -> str:
    """Returns the name of a language by its two-letter code, or the code of one not listed."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def three_letter_code(code: str) -> str:
    """Returns the ISO 639-3 code of a two-letter code, or the code of a language not listed."""
    return LANGUAGES[code].iso_639_3 if code in LANGUAGES else code


def common_words(code: str) -> list[str]:
    """Returns the most common words of a language; none if they are not listed."""
    return LANGUAGES[code].common_words.split() if code in LANGUAGES else []


def guess_language(texts: Iterable[str], expected: str) -> str:
    """Guesses the language of texts from their common words.

    Args:
        texts: Many sentences.
        expected: The code of the expected language.

    Returns:
        The code of the language whose common words are clearly more frequent than those of the
        expected one; `expected` if there is none, or if its common words are not listed.
    """
    words = Counter(word for text in texts for word in text.lower().split())
    counts, seen = {}, {}
    for code in LANGUAGES:
        own = common_words(code)
        counts[code] = sum(words[word] for word in own)
        seen[code] = bool(own) and sum(word in words for word in own) >= len(own) / 2
    if not common_words(expected):
        return expected
    # Half of the words must occur, because the Polish "i" is in English texts, too.
    found = max((code for code in counts if seen[code]), key=counts.__getitem__, default=expected)
    enough = max(_MIN_COMMON_WORDS, _CLEARLY_MORE * counts[expected])
    return found if counts[found] >= enough else expected
