"""Word alignments from cross-attention."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from transformer_tf.attention_maps.words import group_words, is_special, merge_words
from transformer_tf.errors import ConfigError

Link = tuple[int, int]
"""A source word and a target word, both counted from 0."""

Query = Literal["output", "input"]
QUERIES: tuple[Query, ...] = get_args(Query)


@dataclasses.dataclass(frozen=True)
class AlignmentHeads:
    """The cross-attention heads that word alignments are read from.

    Attributes:
        layer: Number of the layer, from 1; None for the last layer.
        heads: Numbers of the heads of this layer to average, from 1; empty for all heads.
        query: The query of a target word: `output` is the step that produces the word, `input`
            the next step, which reads it (Chen et al. 2020, "Accurate Word Alignment Induction
            from Neural Machine Translation"). `output` tends to suit the last layers, `input` the
            lower ones.
    """

    layer: int | None = None
    heads: tuple[int, ...] = ()
    query: Query = "output"

    def maps(self, num_layers: int) -> list[tuple[int, int]]:
        """Returns layer and head, from 0, of the heads that are named."""
        return [((self.layer or num_layers) - 1, head - 1) for head in self.heads]


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
    scores: npt.NDArray[np.floating], choice: AlignmentHeads
) -> npt.NDArray[np.floating]:
    """Computes the mean of the chosen heads.

    Args:
        scores: Array `(num_layers, num_heads, query_len, key_len)`.
        choice: The heads.

    Returns:
        Array `(query_len, key_len)`.

    Raises:
        ConfigError: If there is no such layer or head.
    """
    num_layers, num_heads = scores.shape[:2]
    layer = num_layers if choice.layer is None else choice.layer
    if not 1 <= layer <= num_layers:
        raise ConfigError(f"decoding.alignment_layer must be from 1 to {num_layers}, not {layer}")
    for head in choice.heads:
        if not 1 <= head <= num_heads:
            raise ConfigError(f"decoding.alignment_heads are from 1 to {num_heads}, not {head}")
    heads = [head - 1 for head in choice.heads] or list(range(num_heads))
    return scores[layer - 1, heads].mean(axis=0)


def align_words(
    scores: npt.NDArray[np.floating],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    heads: AlignmentHeads,
) -> list[Link]:
    """Links the words of a translation with those of its source.

    Args:
        scores: Cross-attention, array `(num_layers, num_heads, query_len, key_len)`.
        source_tokens: As in `attention_of_words`.
        target_tokens: As in `attention_of_words`.
        heads: The heads to average.

    Returns:
        A link for each target word, sorted; none if there is no source word.

    Raises:
        ConfigError: If there is no such layer or head.
    """
    words = attention_of_words(scores, source_tokens, target_tokens, heads.query)
    return link_words(mean_of_heads(words, heads))


def most_attended(scores: npt.NDArray[np.floating], source_tokens: Sequence[str]) -> list[str]:
    """Returns the source token that each query attends to most, without `<start>` and `<end>`.

    Args:
        scores: Cross-attention, array `(num_layers, num_heads, query_len, key_len)`; it is
            averaged over layers and heads.
        source_tokens: The keys, `<start>` and `<end>` included.
    """
    return [source_tokens[key + 1] for key in scores.mean(axis=(0, 1))[:, 1:-1].argmax(axis=-1)]
