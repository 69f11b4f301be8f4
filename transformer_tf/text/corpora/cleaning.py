"""Removes unusable sentence pairs, in named steps."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from transformer_tf.text.normalization import normalize_text
from transformer_tf.utils.tables import grouped

Pair = tuple[str, str]
"""A source sentence and its translation."""

# The steps that examine a single pair, in this order.
WRONG_COLUMNS = "wrong column count"
NOT_UTF8 = "not UTF-8"
CONTROL = "control characters"
EMPTY = "empty side"
IDENTICAL = "identical sides"
RATIO = "length ratio"
OVER_LONG = "over-long"
PAIR_STEPS = (WRONG_COLUMNS, NOT_UTF8, CONTROL, EMPTY, IDENTICAL, RATIO, OVER_LONG)

MAX_IDENTICAL_CHARACTERS = 20  # names and loan words may be the same in both languages
# Of the longer to the shorter side, in bytes of UTF-8. Bytes compare scripts more fairly than
# characters: a Chinese character carries more meaning and has more bytes.
MAX_LENGTH_RATIO = 4.0
MIN_RATIO_BYTES = 60  # of the longer side; short sentences are exempt from the length ratio
MAX_WORDS = 100
MAX_CHARACTERS = 1000  # for scripts without spaces between words


def clean_pair(source: str, target: str) -> Pair | str:
    """Normalizes a pair, or returns the reason to leave it out.

    Args:
        source: A sentence.
        target: Its translation.

    Returns:
        The normalized pair, or the name of the step that removes it: `control characters`,
        `empty side`, `identical sides`, `length ratio` or `over-long`.
    """
    if _is_broken(source) or _is_broken(target):
        return CONTROL
    source, target = normalize_text(source), normalize_text(target)
    if not source or not target:
        return EMPTY
    if len(source) > MAX_IDENTICAL_CHARACTERS and fold(source) == fold(target):
        return IDENTICAL
    shorter, longer = sorted((_utf8_length(source), _utf8_length(target)))
    if longer > MIN_RATIO_BYTES and longer > MAX_LENGTH_RATIO * shorter:
        return RATIO
    if longer > MAX_WORDS and any(
        len(side) > MAX_CHARACTERS or len(side.split()) > MAX_WORDS for side in (source, target)
    ):
        return OVER_LONG
    return source, target


def fold(text: str) -> str:
    """Returns a key that is equal for sentences that differ in case, punctuation or spaces only.

    Args:
        text: A normalized sentence.

    Returns:
        Its letters, digits and symbols, case-folded. A sentence that has none of them is its own
        key, so that "?!" and "..." stay different.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.translate(_FOLD_TABLE) or text


def removed_table(removed: Mapping[str, int], splits: Mapping[str, int]) -> str:
    """Formats a table of the pairs that each step removed and of the splits.

    Args:
        removed: Number of pairs that each step removed.
        splits: Number of pairs of each split.
    """
    total = sum(removed.values()) + sum(splits.values())
    rows = [("pairs read", total), *((f"- {step}", count) for step, count in removed.items())]
    rows += [(f"= {name}", count) for name, count in splits.items()]
    width = max(len(name) for name, _ in rows)
    return "\n".join(
        f"{name:<{width}}  {grouped(count):>11}  {count / max(total, 1):>7.2%}"
        for name, count in rows
    )


def _is_broken(text: str) -> bool:
    """Whether a text has characters that indicate a wrong decoding."""
    if text.isprintable():
        return "\N{REPLACEMENT CHARACTER}" in text
    return any(
        character == "\N{REPLACEMENT CHARACTER}"
        or (unicodedata.category(character) in ("Cc", "Cs", "Co") and not character.isspace())
        for character in text
    )


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


class _FoldTable(dict[int, int | None]):
    """A table for `str.translate` that deletes punctuation, spaces and control characters."""

    def __missing__(self, code_point: int) -> int | None:
        kept = None if unicodedata.category(chr(code_point))[0] in "PZC" else code_point
        self[code_point] = kept
        return kept


_FOLD_TABLE = _FoldTable()
