"""From attention between sub-words to attention between words."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_MARK = "▁"  # SentencePiece's: a word begins
_SPECIAL = ("<start>", "<end>", "<pad>")
_SPACES = tuple(f"<0x{byte:02X}>" for byte in b"\t\n\v\f\r ")


def is_special(token: str) -> bool:
    """Whether a token is one that the model adds and no text has."""
    return token in _SPECIAL


def group_words(tokens: Sequence[str]) -> list[list[int]]:
    """The positions of the tokens that make each word.

    Args:
        tokens: Sub-words, with `▁` where a word begins. `<start>`, `<end>` and `<pad>` stand for
            themselves, as does `<unk>`, which is written with spaces around it.

    Returns:
        For each word the positions of its tokens, in order; each position is in one word.
    """
    groups: list[list[int]] = []
    closed = True  # whether the last group takes nothing more
    for position, token in enumerate(tokens):
        apart = is_special(token) or token == "<unk>"
        begins = apart or token.startswith(_MARK) or token in _SPACES
        # Spaces by themselves are no word: the next token, whatever it is, makes them one.
        pending = not closed and _is_blank([tokens[i] for i in groups[-1]])
        if closed or (begins and not pending) or is_special(token):
            groups.append([position])
        else:
            groups[-1].append(position)
        closed = apart
    return _without_blanks(groups, tokens)


def _without_blanks(groups: list[list[int]], tokens: Sequence[str]) -> list[list[int]]:
    """Gives spaces at the end of a text to the word before them, if there is one."""
    kept: list[list[int]] = []
    for group in groups:
        if kept and _is_blank([tokens[i] for i in group]) and not is_special(tokens[kept[-1][-1]]):
            kept[-1] = kept[-1] + group
        else:
            kept.append(group)
    return kept


def _is_blank(tokens: Sequence[str]) -> bool:
    return all(token in _SPACES or token.strip(_MARK) == "" for token in tokens)


def write_token(token: str) -> str:
    """A sub-word as a reader expects it: without the mark where a word begins."""
    return token.removeprefix(_MARK) or _MARK


def write_word(tokens: Sequence[str]) -> str:
    """A word as it is written, from its tokens.

    Bytes such as `<0xC3>` are put together to characters; those that make none are shown as they
    are.
    """
    if len(tokens) == 1 and not tokens[0].startswith((_MARK, "<0x")):
        return tokens[0]
    written, spelt = "", b""
    for token in [*tokens, ""]:
        if len(token) == 6 and token.startswith("<0x"):
            spelt += bytes([int(token[3:5], 16)])
            continue
        written += spelt.decode("utf-8", "backslashreplace") + token
        spelt = b""
    return written.replace(_MARK, "").strip() or _MARK


def merge_words(
    scores: npt.NDArray[np.floating],
    query_groups: Sequence[Sequence[int]],
    key_groups: Sequence[Sequence[int]],
) -> npt.NDArray[np.floating]:
    """Attention between words: summed over the keys of a word, averaged over its queries.

    What each word gives to all others still adds up to 1.

    Args:
        scores: Array of shape `(..., query_len, key_len)`.
        query_groups: The positions of each word among the queries.
        key_groups: And among the keys.

    Returns:
        Array of shape `(..., len(query_groups), len(key_groups))`.
    """
    keys = np.stack([scores[..., group].sum(axis=-1) for group in key_groups], axis=-1)
    return np.stack([keys[..., group, :].mean(axis=-2) for group in query_groups], axis=-2)
