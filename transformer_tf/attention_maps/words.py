"""Merges attention between sub-words into attention between words, and labels tokens."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_MARK = "▁"  # SentencePiece puts it where a word begins
_SPECIAL = ("<start>", "<end>", "<pad>")
_SPACES = tuple(f"<0x{byte:02X}>" for byte in b"\t\n\v\f\r ")


def is_special(token: str) -> bool:
    """Whether the model adds this token to a text."""
    return token in _SPECIAL


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


def write_token(token: str) -> str:
    """Returns a sub-word without the mark where a word begins."""
    return token.removeprefix(_MARK) or _MARK


def token_labels(tokens: Sequence[str]) -> list[str]:
    """Returns a readable label for each sub-word.

    A byte such as `<0xF0>` is labeled with its character and its place in it: "🍕 1/4". Bytes that
    spell no character stay as they are.
    """
    labels = [write_token(token) for token in tokens]
    for start in range(len(tokens)):
        for count in range(1, 5):  # UTF-8 writes a character in up to 4 bytes
            try:
                spelled = b"".join(map(_byte, tokens[start : start + count])).decode()
            except ValueError:
                continue
            if len(spelled) == 1 and start + count <= len(tokens):
                places = [f" {place}/{count}" if count > 1 else "" for place in range(1, count + 1)]
                labels[start : start + count] = [spelled + place for place in places]
    return labels


def _byte(token: str) -> bytes:
    """Returns the byte of a token such as `<0xC3>`; raises a ValueError for any other token."""
    if not (len(token) == 6 and token.startswith("<0x") and token.endswith(">")):
        raise ValueError(f"{token!r} is not a byte")
    return bytes.fromhex(token[3:5])


def write_word(tokens: Sequence[str]) -> str:
    """Joins the tokens of a word.

    Bytes such as `<0xC3>` are decoded. Bytes that spell no character are escaped.
    """
    if len(tokens) == 1 and not tokens[0].startswith((_MARK, "<0x")):
        return tokens[0]
    written, spelled = "", b""
    for token in [*tokens, ""]:
        if len(token) == 6 and token.startswith("<0x"):
            spelled += bytes([int(token[3:5], 16)])
            continue
        written += spelled.decode("utf-8", "backslashreplace") + token
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
