"""Word alignments from cross-attention, and how right they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from transformer_tf.attention_maps.words import group_words, is_special, merge_words
from transformer_tf.errors import ConfigError

Link = tuple[int, int]
"""A source word and a target word, both counted from 0."""


def cross_attention_of_words(
    scores: npt.NDArray[np.floating],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
) -> npt.NDArray[np.floating]:
    """Cross-attention between the words of a sentence and those of its translation.

    Args:
        scores: Array `(..., query_len, key_len)`.
        source_tokens: The keys, `<start>` and `<end>` included.
        target_tokens: The tokens that the queries produced, `<end>` included.

    Returns:
        Array `(..., target_words, source_words)`, without `<start>` and `<end>`.
    """
    queries, keys = (
        [group for group in group_words(tokens) if not is_special(tokens[group[0]])]
        for tokens in (target_tokens, source_tokens)
    )
    if not queries or not keys:
        return np.zeros((*scores.shape[:-2], len(queries), len(keys)))
    return merge_words(scores, queries, keys)


def link_words(weights: npt.NDArray[np.floating]) -> list[Link]:
    """Links each target word with the source word that it looked at most.

    Args:
        weights: Array `(target_words, source_words)`.

    Returns:
        A link for each target word, sorted; none if there is no source word.
    """
    if not weights.size:
        return []
    return sorted((int(source), target) for target, source in enumerate(weights.argmax(axis=-1)))


def mean_of_heads(
    weights: npt.NDArray[np.floating], layer: int | None, heads: Sequence[int]
) -> npt.NDArray[np.floating]:
    """The mean of some heads of a layer.

    Args:
        weights: Array `(num_layers, num_heads, target_words, source_words)`.
        layer: The layer, from 1; None for the last but one, which knows the source word best where
            nothing else is known: the last one already looks for the next.
        heads: The heads, from 1; none for all.

    Raises:
        ConfigError: If there is no such layer or head.
    """
    num_layers, num_heads = weights.shape[:2]
    layer = max(num_layers - 1, 1) if layer is None else layer
    if not 1 <= layer <= num_layers:
        raise ConfigError(f"decoding.alignment_layer must be from 1 to {num_layers}, not {layer}")
    for head in heads:
        if not 1 <= head <= num_heads:
            raise ConfigError(f"decoding.alignment_heads are from 1 to {num_heads}, not {head}")
    chosen = [head - 1 for head in heads] or list(range(num_heads))
    return weights[layer - 1, chosen].mean(axis=0)


def format_pharaoh(links: Sequence[Link]) -> str:
    """Links as `0-0 1-2`: source word, target word."""
    return " ".join(f"{source}-{target}" for source, target in links)


def alignment_error_rate(
    found: Sequence[Collection[Link]],
    sure: Sequence[Collection[Link]],
    possible: Sequence[Collection[Link]],
) -> float:
    """The alignment error rate over a corpus (Och & Ney 2003, equation 22).

    One minus what precision against the possible links and recall of the sure ones have in
    common: `1 - (|A & S| + |A & P|) / (|A| + |S|)`.

    Args:
        found: For each sentence pair the links to judge, A.
        sure: The links that have to be found, S.
        possible: The links that may be found, P, the sure ones among them.

    Returns:
        From 0, all right, to 1.

    Raises:
        ValueError: If there is nothing to judge.
    """
    hits = sizes = 0
    for links, needed, allowed in zip(found, sure, possible, strict=True):
        hits += len(set(links) & set(needed)) + len(set(links) & set(allowed))
        sizes += len(set(links)) + len(set(needed))
    if not sizes:
        raise ValueError("An alignment error rate needs at least one link")
    return 1 - hits / sizes


def choose_heads(
    weights: Sequence[npt.NDArray[np.floating]],
    sure: Sequence[Collection[Link]],
    possible: Sequence[Collection[Link]],
) -> tuple[int, tuple[int, ...], float]:
    """Finds the heads of one layer whose mean aligns best.

    From the best head of each layer on, heads are added as long as one makes it better.

    Args:
        weights: For each sentence pair an array `(num_layers, num_heads, target_words,
            source_words)`, of validation data.
        sure: As in `alignment_error_rate`.
        possible: See there.

    Returns:
        The layer and the heads, from 1, and their alignment error rate.
    """
    num_layers, num_heads = weights[0].shape[:2]

    def rate(layer: int, heads: tuple[int, ...]) -> float:
        found = [link_words(of_pair[layer, list(heads)].mean(axis=0)) for of_pair in weights]
        return alignment_error_rate(found, sure, possible)

    candidates: list[tuple[float, int, tuple[int, ...]]] = []
    for layer in range(num_layers):
        reached = np.inf
        chosen: tuple[int, ...] = ()
        while rest := [head for head in range(num_heads) if head not in chosen]:
            least, head = min((rate(layer, (*chosen, head)), head) for head in rest)
            if least >= reached:
                break
            reached, chosen = least, (*chosen, head)
        candidates.append((float(reached), layer, chosen))
    error, layer, heads = min(candidates)
    return layer + 1, tuple(head + 1 for head in sorted(heads)), error
