"""Word alignments from cross-attention, and how right they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from transformer_tf.errors import ConfigError
from transformer_tf.text.words import group_words, is_special, merge_words

Link = tuple[int, int]
"""A source word and a target word, both counted from 0."""

Query = Literal["output", "input"]
QUERIES: tuple[Query, ...] = get_args(Query)


@dataclasses.dataclass(frozen=True)
class AlignmentHeads:
    """Where in the cross-attention to look for the words that belong together.

    Attributes:
        layer: The layer, from 1; None for the last.
        heads: Its heads, from 1, whose mean is taken; none for all.
        query: For each target word, `output` takes the query that says it, `input` the one that
            reads it, a step later (Chen et al. 2020, "Accurate Word Alignment Induction from Neural
            Machine Translation"). Last layers tend to know the first, lower layers the second.
    """

    layer: int | None = None
    heads: tuple[int, ...] = ()
    query: Query = "output"


def attention_of_words(
    scores: npt.NDArray[np.floating],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    query: Query,
) -> npt.NDArray[np.floating]:
    """Cross-attention between the words of a sentence and those of its translation.

    Marks such as full stops belong to the word before them, but their weights count only where
    there is nothing else.

    Args:
        scores: Array `(..., query_len, key_len)`.
        source_tokens: The keys, `<start>` and `<end>` included.
        target_tokens: The tokens that the queries say, `<end>` included.
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
    if not queries or not keys:
        return np.zeros((*scores.shape[:-2], len(queries), len(keys)))
    if query == "input":
        queries = [[position + 1 for position in group] for group in queries]
    return merge_words(scores, queries, keys)


def _with_letters(group: Sequence[int], tokens: Sequence[str]) -> Sequence[int]:
    chosen = [i for i in group if any(character.isalnum() for character in tokens[i])]
    return chosen or group


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
    scores: npt.NDArray[np.floating], choice: AlignmentHeads
) -> npt.NDArray[np.floating]:
    """The mean of the chosen heads.

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
    weights: Mapping[Query, Sequence[npt.NDArray[np.floating]]],
    sure: Sequence[Collection[Link]],
    possible: Sequence[Collection[Link]],
) -> tuple[AlignmentHeads, float]:
    """Finds the heads of one layer whose mean aligns best.

    From the best head of each layer on, heads are added as long as one makes it better.

    Args:
        weights: For each kind of query, for each sentence pair of validation data, an array
            `(num_layers, num_heads, target_words, source_words)`.
        sure: As in `alignment_error_rate`.
        possible: See there.

    Returns:
        The heads and their alignment error rate.
    """
    candidates: list[tuple[float, AlignmentHeads]] = []
    for query, of_pairs in weights.items():
        num_layers, num_heads = of_pairs[0].shape[:2]
        for layer in range(1, num_layers + 1):
            reached, chosen = np.inf, AlignmentHeads(layer, (), query)
            while rest := set(range(1, num_heads + 1)) - set(chosen.heads):
                larger = [
                    AlignmentHeads(layer, tuple(sorted((*chosen.heads, head))), query)
                    for head in sorted(rest)
                ]
                errors = [
                    alignment_error_rate(
                        [link_words(mean_of_heads(pair, choice)) for pair in of_pairs],
                        sure,
                        possible,
                    )
                    for choice in larger
                ]
                if min(errors) >= reached:
                    break
                reached = min(errors)
                chosen = larger[errors.index(reached)]
            candidates.append((float(reached), chosen))
    error, choice = min(candidates, key=lambda candidate: candidate[0])
    return choice, error
