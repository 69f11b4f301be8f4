"""Merges attention between sub-words into attention between words, and labels tokens."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from transformer_tf.text.symbols import is_special

_MARK = "▁"  # SentencePiece puts it where a word begins
_SPACES = tuple(f"<0x{byte:02X}>" for byte in b"\t\n\v\f\r ")


def group_words(tokens: Sequence[str]) -> list[list[int]]:
    """Groups the positions of tokens by word.

    Args:
        tokens: Sub-words, with `▁` where a word begins. Each `<start>`, `<end>`, `<pad>` and
            `<unk>` is a word by itself.

    Returns:
        For each word the positions of its tokens, in order. Each position is in one word.
    """
    groups: list[list[int]] = []
    complete = True  # whether the last group is a complete word
    for position, token in enumerate(tokens):
        apart = is_special(token) or token == "<unk>"
        begins = apart or token.startswith(_MARK) or token in _SPACES
        # A group of spaces is not a word: the next token joins it.
        pending = not complete and _is_blank([tokens[i] for i in groups[-1]])
        if complete or (begins and not pending) or is_special(token):
            groups.append([position])
        else:
            groups[-1].append(position)
        complete = apart
    return _without_blanks(groups, tokens)


def _without_blanks(groups: list[list[int]], tokens: Sequence[str]) -> list[list[int]]:
    """Moves spaces at the end of a text to the word before them, if there is one."""
    kept: list[list[int]] = []
    for group in groups:
        if kept and _is_blank([tokens[i] for i in group]) and not is_special(tokens[kept[-1][-1]]):
            kept[-1] = kept[-1] + group
        else:
            kept.append(group)
    return kept


def _is_blank(tokens: Sequence[str]) -> bool:
    return all(token in _SPACES or token.strip(_MARK) == "" for token in tokens)


def label_tokens(
    tokens: Sequence[str], words: bool, special: bool
) -> tuple[list[list[int]], list[str]]:
    """Makes the rows or columns of a map.

    Args:
        tokens: As in `group_words`.
        words: Whether to merge sub-words into words. The bytes of a character are always merged.
        special: Whether to keep `<start>`, `<end>` and `<pad>`.

    Returns:
        The positions of the tokens of each row or column, and its label.
    """
    groups = group_words(tokens) if words else _group_characters(tokens)
    groups = [group for group in groups if special or not is_special(tokens[group[0]])]
    return groups, [write_word([tokens[i] for i in group]) for group in groups]


def label_steps(
    read: Sequence[str], said: Sequence[str], words: bool, special: bool, by_read: bool
) -> tuple[list[list[int]], list[str]]:
    """Makes the rows of a map of the decoder: each reads one token and chooses the next one.

    Args:
        read: The tokens that the queries read, from `<start>` on.
        said: The tokens that the queries choose.
        words: As in `label_tokens`.
        special: As in `label_tokens`.
        by_read: Whether a row is a word that is read, instead of one that is chosen.

    Returns:
        As `label_tokens`; a label has both tokens: "Vater ▸ hat".
    """
    groups, _ = label_tokens(read if by_read else said, words, special)
    before, after = (
        {
            position: label
            for group, label in zip(*label_tokens(tokens, words, special=True), strict=True)
            for position in group
        }
        for tokens in (read, said)
    )
    return groups, [f"{before[group[0]]} ▸ {after[group[-1]]}" for group in groups]


def _group_characters(tokens: Sequence[str]) -> list[list[int]]:
    """Groups the bytes of each character; any other token is a group by itself."""
    groups: list[list[int]] = []
    for position, token in enumerate(tokens):
        if groups and "<0x80>" <= token <= "<0xBF>" and len(token) == 6:  # a byte inside UTF-8
            groups[-1].append(position)
        else:
            groups.append([position])
    return groups


def write_word(tokens: Sequence[str]) -> str:
    """Joins the tokens of a word.

    Bytes such as `<0xC3>` are decoded. Bytes that spell no character become "�".
    """
    if len(tokens) == 1 and tokens[0] and not tokens[0].startswith((_MARK, "<0x")):
        return tokens[0]
    written, spelled = "", b""
    for token in [*tokens, ""]:
        if len(token) == 6 and token.startswith("<0x"):
            spelled += bytes([int(token[3:5], 16)])
            continue
        written += spelled.decode("utf-8", "replace") + token
        spelled = b""
    return written.replace(_MARK, "").strip() or _MARK


def merge_words(
    scores: npt.NDArray[np.floating],
    query_groups: Sequence[Sequence[int]],
    key_groups: Sequence[Sequence[int]],
) -> npt.NDArray[np.floating]:
    """Sums weights over the keys of each word and averages them over its queries.

    The weights of each query still add up to 1.

    Args:
        scores: Array of shape `(..., query_len, key_len)`.
        query_groups: The positions of the queries of each word.
        key_groups: The positions of the keys of each word.

    Returns:
        Array of shape `(..., len(query_groups), len(key_groups))`.
    """
    means = np.zeros((len(query_groups), scores.shape[-2]), scores.dtype)
    sums = np.zeros((scores.shape[-1], len(key_groups)), scores.dtype)
    for row, group in enumerate(query_groups):
        means[row, group] = 1 / len(group)
    for column, group in enumerate(key_groups):
        sums[group, column] = 1
    return means @ scores @ sums
