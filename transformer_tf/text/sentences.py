"""A text in parts that a model of sentences can take."""

from __future__ import annotations

import re
from collections.abc import Callable

# A mark that may end a sentence, with the quotes and brackets that close after it.
_END = re.compile(
    r"""(?P<mark>[.!?…]+)["'”’»)\]]*\s+|[。！？]+["'”’»)\]」』）]*(?!["'”’»)\]」』）。！？])\s*"""
)
# What a full stop does not end a sentence after, besides numbers ("14. März") and initials.
_ABBREVIATIONS = frozenset(
    (
        *("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "inc", "ltd"),
        *("vs", "etc", "e.g", "i.e", "a.m", "p.m", "cf", "ca", "approx"),
        *("hr", "fr", "nr", "str", "bzw", "usw", "z.b", "d.h", "u.a"),
        *("sra", "srta", "ud", "mme", "mlle", "p.ex"),
    )
)
_CLAUSE_MARKS = (",", ";", ":", "–", "—", "，", "、", "；", "：")


def split_sentences(text: str) -> list[str]:
    """Cuts a text behind its sentences.

    Args:
        text: A normalised text.

    Returns:
        The sentences without the spaces between them; `[text]` if there is nothing to cut.
    """
    sentences, begin = [], 0
    for match in _END.finditer(text):
        if match.end() == len(text) or (
            match["mark"] == "." and _is_short(text[begin : match.start()])
        ):
            continue
        sentences.append(text[begin : match.end()].strip())
        begin = match.end()
    rest = text[begin:].strip()
    return [*sentences, rest] if rest else sentences


def _is_short(before: str) -> bool:
    """Whether the full stop after this belongs to its last word."""
    words = before.split()
    if not words:
        return True
    last = words[-1].strip("\"'“”‘’„«»([").casefold()
    return len(last) < 2 or last.isdigit() or last in _ABBREVIATIONS


def split_text(text: str, fits: Callable[[str], bool], sentences: bool = False) -> list[str]:
    """Cuts a text into parts that fit: behind sentences, clauses, words, else anywhere.

    Args:
        text: A normalised text.
        fits: Says whether a part is short enough. A single character is left as it is.
        sentences: Whether a text that fits is cut behind its sentences all the same.

    Returns:
        The parts, which one after the other are the text but for spaces; none of an empty text.
    """
    if not text:
        return []
    if fits(text) and not sentences:
        return [text]
    parts: list[str] = []
    for sentence in split_sentences(text):
        for words in _cut(sentence.split(" "), " ", fits):
            # Some scripts have no spaces, and nobody writes words of sixty pieces.
            parts += [words] if fits(words) else _cut(list(words), "", fits)
    return parts


def _cut(units: list[str], glue: str, fits: Callable[[str], bool]) -> list[str]:
    """The longest parts that fit, of one unit at least, ending with a clause if they can."""
    parts = []
    while units:
        end = _longest(units, glue, fits)
        parts.append(glue.join(units[:end]))
        units = units[end:]
    return parts


def _longest(units: list[str], glue: str, fits: Callable[[str], bool]) -> int:
    """How many units make the next part: up to the last clause that fits, if it is not short."""
    low, high = 1, 2  # `low` units are taken, `high` are too many
    while high <= len(units) and fits(glue.join(units[:high])):
        low, high = high, 2 * high
    high = min(high, len(units) + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(glue.join(units[:middle])) else (low, middle)
    if low == len(units):
        return low
    for place in range(low, low // 3, -1):
        if units[place - 1].endswith(_CLAUSE_MARKS):
            return place
    return low
