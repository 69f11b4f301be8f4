"""One spelling for every text, and named steps that leave out pairs not worth learning from."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

# The steps that look at one pair, in the order in which they are tried.
WRONG_COLUMNS = "wrong column count"
NOT_UTF8 = "not UTF-8"
CONTROL = "control characters"
EMPTY = "empty side"
IDENTICAL = "identical sides"
RATIO = "length ratio"
OVER_LONG = "over-long"
PAIR_STEPS = (WRONG_COLUMNS, NOT_UTF8, CONTROL, EMPTY, IDENTICAL, RATIO, OVER_LONG)

MAX_IDENTICAL_CHARACTERS = 20  # names and loan words may be the same in both languages
MIN_RATIO_BYTES = 60  # of the longer side: short sentences differ in length for good reasons
MAX_WORDS = 100
MAX_CHARACTERS = 1000  # for scripts that put no spaces between words

# Format characters that change how neighbouring letters join, so they belong to the text.
_JOINERS = frozenset("\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}")
_JOINERS_AND_SPACE = "".join(_JOINERS) + " "


def normalize_text(text: str) -> str:
    """Brings a sentence to the one spelling that the rest of the package sees.

    Control and format characters (NUL, byte order mark, soft hyphen, ...) and lone surrogates are
    removed, the rest is composed (Unicode NFC), every run of white space, line breaks and
    no-break spaces included, becomes one space, and both ends are stripped. The zero-width joiner
    and non-joiner stay, but not by themselves: some scripts spell with them.

    Args:
        text: Any text.

    Returns:
        The normalized text; normalizing it again changes nothing.
    """
    if not text.isprintable():
        text = "".join(filter(_is_text, text))
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return text if text.strip(_JOINERS_AND_SPACE) else ""


def clean_pair(source: str, target: str, max_length_ratio: float) -> tuple[str, str] | str:
    """Normalizes a pair, or says why it is left out.

    Args:
        source: A sentence.
        target: Its translation.
        max_length_ratio: How many times as many bytes of UTF-8 the longer side may have as the
            shorter, once it has more than 60. Bytes, because scripts that say more with a
            character need more bytes for it.

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
    if longer > MIN_RATIO_BYTES and longer > max_length_ratio * shorter:
        return RATIO
    if longer > MAX_WORDS and any(
        len(side) > MAX_CHARACTERS or len(side.split()) > MAX_WORDS for side in (source, target)
    ):
        return OVER_LONG
    return source, target


def fold(text: str) -> str:
    """What two spellings of one sentence share: neither case, punctuation nor spaces.

    Args:
        text: A normalized sentence.

    Returns:
        Its letters, digits and symbols in one case; the sentence itself if it has none of them,
        so that "?!" and "..." stay two different sentences.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.translate(_FOLD_TABLE) or text


def removed_table(removed: Mapping[str, int], splits: Mapping[str, int]) -> str:
    """A table for people: what each step removed, and what is left.

    Args:
        removed: Number of pairs that each step left out.
        splits: Number of pairs of each split.
    """
    total = sum(removed.values()) + sum(splits.values())
    rows = [("pairs read", total), *((f"- {step}", count) for step, count in removed.items())]
    rows += [(f"= {name}", count) for name, count in splits.items()]
    width = max(len(name) for name, _ in rows)
    return "\n".join(
        f"{name:<{width}}  {count:>11,}  {count / max(total, 1):>7.2%}" for name, count in rows
    )


def _is_text(character: str) -> bool:
    """Whether a character carries text or space, rather than control or format."""
    return (
        character.isspace()
        or character in _JOINERS
        or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
    )


def _is_broken(text: str) -> bool:
    """Whether a text has characters that no sentence has: most often a wrong decoding."""
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
    """A table for `str.translate` that deletes punctuation, spaces and controls, made lazily."""

    def __missing__(self, code_point: int) -> int | None:
        kept = None if unicodedata.category(chr(code_point))[0] in "PZC" else code_point
        self[code_point] = kept
        return kept


_FOLD_TABLE = _FoldTable()
