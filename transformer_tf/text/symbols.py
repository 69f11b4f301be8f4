"""The sub-words that no user types: reserved characters, and those that the model adds.

The reserved characters are private-use ones, each of which is one sub-word of a trained tokenizer.
`normalize_text` removes private-use characters, so no user's text contains one.
"""

from __future__ import annotations

from collections.abc import Sequence

RESERVED = tuple(chr(0xE000 + number) for number in range(16))
"""All reserved characters, U+E000 to U+E00F."""

SLOTS = RESERVED[:8]
"""Numbered placeholders, shown as `<1>` to `<8>`."""

TAGS = RESERVED[8:]
"""Source tokens that mark the origin of a training pair, assigned in the order of first use."""

_SPECIAL = ("<start>", "<end>", "<pad>")


def is_special(token: str) -> bool:
    """Whether the model adds this token to a text."""
    return token in _SPECIAL


def token_labels(tags: Sequence[str] = ()) -> dict[str, str]:
    """Returns the readable label of each reserved character.

    Args:
        tags: The names of the tags in use, such as `["bt"]`.

    Returns:
        A label for each reserved character: `<1>` for the first placeholder, `<bt>` for the tag
        `bt`, and `<tag2>` for a second tag without a name.
    """
    shown = {slot: f"<{number}>" for number, slot in enumerate(SLOTS, start=1)}
    for number, tag in enumerate(TAGS):
        shown[tag] = f"<{tags[number]}>" if number < len(tags) else f"<tag{number + 1}>"
    return shown
