"""Word alignments from cross-attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from transformer_tf.attention_maps.words import group_words, merge_words, write_word
from transformer_tf.config import AlignmentHeads
from transformer_tf.text.symbols import is_special

Link = tuple[int, int]
"""A source word and a target word, both counted from 0."""

Query = Literal["output", "input"]
QUERIES: tuple[Query, ...] = get_args(Query)


def attention_of_words(
    scores: npt.NDArray[np.floating],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    query: Query,
) -> npt.NDArray[np.floating]:
    """Computes cross-attention between the words of a sentence and of its translation.

    Punctuation belongs to the word before it. Its weights are ignored unless the word has no
    letters or digits.

    Args:
        scores: Array `(..., query_len, key_len)`.
        source_tokens: The keys, `<start>` and `<end>` included.
        target_tokens: The tokens that the queries produce, `<end>` included.
        query: As in `AlignmentHeads`.

    Returns:
        Array `(..., target_words, source_words)`, without `<start>` and `<end>`.
    """
    queries, keys = (
        [
            _with_letters(group, tokens)
            for group in group_words(tokens)
            if not is_special(tokens[group[0]])
        ]
        for tokens in (target_tokens, source_tokens)
    )
    # The text leaves out bytes that spell no character.
    written = [write_word([target_tokens[i] for i in group]) for group in queries]
    queries = [group for group, word in zip(queries, written, strict=True) if word.strip("�")]
    if query == "input":
        queries = [[position + 1 for position in group] for group in queries]
    return merge_words(scores, queries, keys)


def _with_letters(group: Sequence[int], tokens: Sequence[str]) -> Sequence[int]:
    chosen = [i for i in group if any(character.isalnum() for character in tokens[i])]
    return chosen or group


def link_words(weights: npt.NDArray[np.floating]) -> list[Link]:
    """Links each target word with the source word that it attends to most.

    Args:
        weights: Array `(target_words, source_words)`.

    Returns:
        A link for each target word, sorted; none if there is no source word.
    """
    if not weights.size:
        return []
    return sorted((int(source), target) for target, source in enumerate(weights.argmax(axis=-1)))


def mean_of_heads(
    scores: npt.NDArray[np.floating], choice: AlignmentHeads | None
) -> npt.NDArray[np.floating]:
    """Computes the mean of the chosen heads.

    Args:
        scores: Array `(num_layers, num_heads, query_len, key_len)`.
        choice: The heads; None for those of the last layer.

    Returns:
        Array `(query_len, key_len)`.
    """
    if choice is None:
        return scores[-1].mean(axis=0)
    return scores[choice.layer - 1, [head - 1 for head in choice.heads]].mean(axis=0)


def align_words(
    scores: npt.NDArray[np.floating],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    heads: AlignmentHeads | None,
) -> list[Link]:
    """Links the words of a translation with those of its source.

    Args:
        scores: Cross-attention, array `(num_layers, num_heads, query_len, key_len)`.
        source_tokens: As in `attention_of_words`.
        target_tokens: As in `attention_of_words`.
        heads: The heads to average; None for those of the last layer.

    Returns:
        A link for each target word, sorted; none if there is no source word.
    """
    query = heads.query if heads else "output"
    words = attention_of_words(scores, source_tokens, target_tokens, query)
    return link_words(mean_of_heads(words, heads))
