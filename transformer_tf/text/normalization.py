"""Normalizes text: Unicode NFC, single spaces, no invisible characters."""

from __future__ import annotations

import unicodedata

# Some scripts need these format characters, which change how letters join.
_JOINERS = frozenset("\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}")
_JOINERS_AND_SPACE = "".join(_JOINERS) + " "


def normalize_text(text: str) -> str:
    """Returns a sentence in Unicode NFC, with single spaces and without invisible characters.

    Control, format and private-use characters and lone surrogates are removed, such as NUL, the
    byte order mark and the soft hyphen. Every run of white space, including line breaks and
    no-break spaces, becomes one space, and both ends are stripped. The zero-width joiner and
    non-joiner stay in a text, because some scripts need them; a text with no other characters
    becomes empty. `▁`, which marks the beginning of a word in sub-words, becomes an underscore.

    Args:
        text: Any text.

    Returns:
        The normalized text; normalizing it again changes nothing.
    """
    text = text.replace("▁", "_")
    if not text.isprintable():
        text = "".join(filter(_is_text, text))
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return text if text.strip(_JOINERS_AND_SPACE) else ""


def _is_text(character: str) -> bool:
    """Whether a character is text or white space, not control, format or private use."""
    return (
        character.isspace()
        or character in _JOINERS
        or unicodedata.category(character) not in ("Cc", "Cf", "Co", "Cs")
    )
