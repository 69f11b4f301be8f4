"""Measures how well cross-attention aligns words, on the phrasebook's gold alignments."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from transformer_tf.attention_maps.alignments import (
    QUERIES,
    AlignmentHeads,
    Link,
    Query,
    link_words,
    mean_of_heads,
)
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
    weights: Mapping[Query, Sequence[npt.NDArray[np.floating]]],
    sure: Sequence[Collection[Link]],
    possible: Sequence[Collection[Link]],
) -> tuple[AlignmentHeads, float]:
    """Finds the heads of one layer whose mean aligns best.

    The search is greedy: in each layer, it starts with the best head and adds the best further head
    as long as the error falls.

    Args:
        weights: For each kind of query, an array
            `(num_layers, num_heads, target_words, source_words)` for each validation pair.
        sure: As in `alignment_error_rate`.
        possible: As in `alignment_error_rate`.

    Returns:
        The heads and their alignment error rate.
    """
    candidates: list[tuple[float, AlignmentHeads]] = []
    for query, of_pairs in weights.items():
        num_layers, num_heads = of_pairs[0].shape[:2]
        for layer in range(1, num_layers + 1):
            lowest_error, chosen = np.inf, AlignmentHeads(layer, (), query)
            while remaining := set(range(1, num_heads + 1)) - set(chosen.heads):
                extended = [
                    AlignmentHeads(layer, tuple(sorted((*chosen.heads, head))), query)
                    for head in sorted(remaining)
                ]
                errors = [
                    alignment_error_rate(
                        [link_words(mean_of_heads(pair, choice)) for pair in of_pairs],
                        sure,
                        possible,
                    )
                    for choice in extended
                ]
                if min(errors) >= lowest_error:
                    break
                lowest_error = min(errors)
                chosen = extended[errors.index(lowest_error)]
            candidates.append((float(lowest_error), chosen))
    error, choice = min(candidates, key=lambda candidate: candidate[0])
    return choice, error


@dataclasses.dataclass(frozen=True)
class AlignmentReport:
    """How well a translator's cross-attention aligns the words of the phrasebook.

    Attributes:
        configured: The heads in the translator's configuration.
        chosen: The heads that align the validation pairs best.
        pairs: Number of validation pairs and of test pairs.
        configured_errors: Alignment error rates of the configured heads on validation and test.
        chosen_errors: Those of the chosen heads.
    """

    configured: AlignmentHeads
    chosen: AlignmentHeads
    pairs: tuple[int, int]
    configured_errors: tuple[float, float]
    chosen_errors: tuple[float, float]

    def summary(self) -> str:
        """Formats the report; the last line has the keys for a configuration."""
        chosen = self.chosen
        return "\n".join(
            [
                f"{self.pairs[0]} validation and {self.pairs[1]} test pairs of the phrasebook, "
                "decoder inputs from the references",
                "alignment error rate, validation and test",
                "  as configured  {:.4f}  {:.4f}".format(*self.configured_errors),
                "  best heads     {:.4f}  {:.4f}".format(*self.chosen_errors),
                f"decoding.alignment_layer={chosen.layer} "
                f"decoding.alignment_heads={_compact(chosen.heads)} "
                f"decoding.alignment_query={chosen.query}",
            ]
        )


def _compact(numbers: Sequence[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"


def evaluate_alignments(translator: Translator, from_german: bool = False) -> AlignmentReport:
    """Compares word alignments with the gold alignments of the phrasebook.

    The decoder reads the reference translations, for which gold alignments exist. Heads are chosen
    on the validation pairs and measured on the test pairs.

    Args:
        translator: A translator from English to German.
        from_german: Whether it translates from German to English instead.
    """
    options = translator.options
    configured = AlignmentHeads(
        options.alignment_layer, options.alignment_heads, options.alignment_query
    )
    phrases = load_phrasebook()
    weights: dict[str, dict[Query, list[np.ndarray]]] = {}
    gold = {}
    for split in ("validation", "test"):
        pairs = [phrase for phrase in phrases if phrase.split == split]
        if from_german:
            pairs = [_reversed(pair) for pair in pairs]
        targets = [translator.target_tokenizer.encode(pair.target) for pair in pairs]
        sources = [pair.source for pair in pairs]
        weights[split] = {
            query: list(translator.attend_words(sources, targets, query)) for query in QUERIES
        }
        gold[split] = pairs

    def error(choice: AlignmentHeads, split: str) -> float:
        found = [link_words(mean_of_heads(pair, choice)) for pair in weights[split][choice.query]]
        return alignment_error_rate(
            found, [each.sure for each in gold[split]], [each.possible for each in gold[split]]
        )

    chosen, _ = choose_heads(
        weights["validation"],
        [each.sure for each in gold["validation"]],
        [each.possible for each in gold["validation"]],
    )
    return AlignmentReport(
        configured,
        chosen,
        (len(gold["validation"]), len(gold["test"])),
        (error(configured, "validation"), error(configured, "test")),
        (error(chosen, "validation"), error(chosen, "test")),
    )


def _reversed(phrase: Phrase) -> Phrase:
    sure, possible = (
        frozenset((target, source) for source, target in links)
        for links in (phrase.sure, phrase.possible)
    )
    return dataclasses.replace(
        phrase, source=phrase.target, target=phrase.source, sure=sure, possible=possible
    )
