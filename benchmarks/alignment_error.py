"""Measures how well cross-attention aligns words, on the phrasebook's gold alignments."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_tf.attention_maps.alignments import (
    QUERIES,
    Link,
    Query,
    link_words,
    mean_of_heads,
)
from transformer_tf.config import AlignmentHeads, load_saved_config
from transformer_tf.errors import ConfigError
from transformer_tf.text.corpora.phrasebook import Phrase, load_phrasebook
from transformer_tf.translator import Translator


def alignment_error_rate(
    found: Sequence[Collection[Link]],
    sure: Sequence[Collection[Link]],
    possible: Sequence[Collection[Link]],
) -> float:
    """Computes the alignment error rate over a corpus (Och & Ney 2003, equation 22).

    It combines precision against the possible links with recall of the sure links:
    `1 - (|A & S| + |A & P|) / (|A| + |S|)`.

    Args:
        found: For each sentence pair the predicted links, A.
        sure: The links that must be found, S.
        possible: The links that may be found, P, including the sure ones.

    Returns:
        The error rate, from 0 (all links correct) to 1.

    Raises:
        ValueError: If there are no links at all.
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
    query: Query,
    sure: Sequence[Collection[Link]],
    possible: Sequence[Collection[Link]],
) -> tuple[AlignmentHeads, float]:
    """Finds the heads of one layer whose mean aligns best.

    The search is greedy: in each layer, it starts with the best head and adds the best further head
    as long as the error falls.

    Args:
        weights: An array `(num_layers, num_heads, target_words, source_words)` for each pair.
        query: Which step the weights of a word come from.
        sure: As in `alignment_error_rate`.
        possible: As in `alignment_error_rate`.

    Returns:
        The heads and their alignment error rate.
    """
    candidates: list[tuple[float, AlignmentHeads]] = []
    num_layers, num_heads = weights[0].shape[:2]
    for layer in range(1, num_layers + 1):
        lowest_error = np.inf
        heads: tuple[int, ...] = ()
        while remaining := set(range(1, num_heads + 1)) - set(heads):
            extended = [
                AlignmentHeads(layer, tuple(sorted((*heads, head))), query)
                for head in sorted(remaining)
            ]
            errors = [
                alignment_error_rate(
                    [link_words(mean_of_heads(pair, choice)) for pair in weights], sure, possible
                )
                for choice in extended
            ]
            if min(errors) >= lowest_error:
                break
            lowest_error = min(errors)
            heads = extended[errors.index(lowest_error)].heads
        candidates.append((float(lowest_error), AlignmentHeads(layer, heads, query)))
    error, choice = min(candidates, key=lambda candidate: candidate[0])
    return choice, error


def measure_alignments(folder: Path) -> Iterator[dict[str, Any]]:
    """Compares word alignments with the gold alignments of the phrasebook.

    The decoder reads the reference translations, for which gold alignments exist. Heads are chosen
    on the validation pairs and measured on the test pairs.

    Args:
        folder: A checkpoint between English and German.

    Yields:
        Alignment error rates on validation and test: of the heads in the configuration, and of the
        heads that align the validation pairs best with each kind of query.

    Raises:
        ConfigError: If the checkpoint has other languages.
    """
    translator = Translator.load(folder)
    data = load_saved_config(folder / "config.yaml").data
    if {data.source_language, data.target_language} != {"en", "de"}:
        raise ConfigError(f"The phrasebook is English and German, unlike {folder}")
    phrases = load_phrasebook()
    if data.source_language == "de":
        phrases = [_reversed(phrase) for phrase in phrases]
    validation, test = (
        _Measured(translator, [phrase for phrase in phrases if phrase.split == split])
        for split in ("validation", "test")
    )
    configured = translator.options.alignment
    choices = [("configured", configured)]
    for query, weights in validation.weights.items():
        best, _ = choose_heads(weights, query, validation.sure, validation.possible)
        choices.append((f"best {query}", best))
    for name, heads in choices:
        yield {
            "choice": name,
            "decoding.alignment": dataclasses.asdict(heads) if heads else None,
            "validation": validation.error(heads),
            "test": test.error(heads),
        }


class _Measured:
    """The attention of a translator to sentence pairs with gold alignments."""

    def __init__(self, translator: Translator, phrases: Sequence[Phrase]) -> None:
        sources = [phrase.source for phrase in phrases]
        targets = [translator.target_tokenizer.encode(phrase.target) for phrase in phrases]
        self.weights = {
            query: list(translator.attend_words(sources, targets, query)) for query in QUERIES
        }
        self.sure = [phrase.sure for phrase in phrases]
        self.possible = [phrase.possible for phrase in phrases]

    def error(self, heads: AlignmentHeads | None) -> float:
        """Returns the alignment error rate of some heads."""
        query = heads.query if heads else "output"
        found = [link_words(mean_of_heads(pair, heads)) for pair in self.weights[query]]
        return alignment_error_rate(found, self.sure, self.possible)


def _reversed(phrase: Phrase) -> Phrase:
    sure, possible = (
        frozenset((target, source) for source, target in links)
        for links in (phrase.sure, phrase.possible)
    )
    return dataclasses.replace(
        phrase, source=phrase.target, target=phrase.source, sure=sure, possible=possible
    )
