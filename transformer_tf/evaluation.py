"""Scores of a translator on sentence pairs."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from transformer_tf.alignment import (
    QUERIES,
    AlignmentHeads,
    Query,
    alignment_error_rate,
    choose_heads,
    link_words,
    mean_of_heads,
)
from transformer_tf.errors import DataError
from transformer_tf.files import write_whole
from transformer_tf.scoring import (
    Metric,
    Scores,
    score,
    score_all,
    score_by_length,
    score_sentences,
    score_tokenized,
)
from transformer_tf.tables import table
from transformer_tf.text.lines import read_lines
from transformer_tf.text.phrasebook import generate_phrasebook
from transformer_tf.text.phrasebook.alignment import align_words
from transformer_tf.translator import Translator


def evaluate(
    translator: Translator, pairs: Sequence[tuple[str, str]], progress: bool = False
) -> Scores:
    """Translates the sources of sentence pairs and scores the result.

    Args:
        translator: What to score.
        pairs: Sources with their references.
        progress: Whether to show a progress bar on stderr.
    """
    sources = [source for source, _ in pairs]
    begin = time.perf_counter()
    translations = translator.translate(sources, progress=progress, n_best=1)
    seconds = time.perf_counter() - begin
    scores = score(translations, [reference for _, reference in pairs])
    return dataclasses.replace(scores, seconds=seconds)


@dataclasses.dataclass(frozen=True)
class Report:
    """All there is to say of a translator's work on sentence pairs.

    Attributes:
        sentences: Number of sentences.
        seconds: Time the translations took.
        tokens: Number of sub-words they have.
        metrics: BLEU, chrF, chrF++ and TER.
        lengths: BLEU and chrF by the number of source words.
        worst: The sentences of lowest chrF: `chrF`, `source`, `translation`, `reference`.
    """

    sentences: int
    seconds: float
    tokens: int
    metrics: list[Metric]
    lengths: list[dict[str, Any]]
    worst: list[dict[str, Any]]

    def summary(self) -> str:
        """For people."""
        speed = f"{self.sentences / self.seconds:,.0f} sentences/s"
        lines = [
            f"{self.sentences} sentences in {self.seconds:.1f} s "
            f"({speed}, {self.tokens / self.seconds:,.0f} tokens/s)",
            "",
        ]
        for metric in self.metrics:
            sure = "" if metric.interval is None else f" ± {metric.interval:.2f}"
            lines.append(f"{metric.name:<6} {metric.score:6.2f}{sure}  ({metric.signature})")
        lines += ["", table(self.lengths)]
        if self.worst:
            lines += ["", "furthest from their references, by chrF"]
        for each in self.worst:
            lines.append(f"{each['chrF']:6.1f}  {each['source']}")
            lines.append(f"     →  {each['translation']}")
            lines.append(f"     ≠  {each['reference']}")
        return "\n".join(lines)


def report(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    lowercase: bool = False,
    resamples: int = 1000,
    worst: int = 10,
    moses: str | None = None,
    progress: bool = False,
) -> Report:
    """Translates sentences and compares the translations with references in every way.

    Args:
        translator: What to judge.
        sources: The sentences.
        references: Their translations.
        lowercase: Whether capitals do not count.
        resamples: Number of bootstrap samples behind each confidence interval; 0 for none.
        worst: Number of sentences to show of those that came out worst.
        moses: The target language, for BLEU over Moses tokens too; None for none.
        progress: Whether to show a progress bar on stderr.

    Raises:
        ValueError: If the two differ in number, or there are none.
    """
    begin = time.perf_counter()
    found = [best[0] for best in translator.search(sources, progress=progress)]
    seconds = time.perf_counter() - begin
    said = [translation.text for translation in found]
    by_sentence = score_sentences(said, references, lowercase)
    order = sorted(range(len(said)), key=lambda index: by_sentence[index])
    metrics = score_all(said, references, lowercase, resamples)
    if moses:
        metrics.append(score_tokenized(said, references, moses))
    return Report(
        sentences=len(said),
        seconds=seconds,
        tokens=sum(len(translation.tokens) for translation in found),
        metrics=metrics,
        lengths=score_by_length(sources, said, references, lowercase),
        worst=[
            {
                "chrF": by_sentence[index],
                "source": sources[index],
                "translation": said[index],
                "reference": references[index],
            }
            for index in order[:worst]
        ],
    )


@dataclasses.dataclass(frozen=True)
class Challenge:
    """A sentence that is hard in some way, and what a sound translation has in it.

    Attributes:
        kind: What is hard about it.
        source: The sentence.
        expected: A regular expression that is found in every sound translation.
    """

    kind: str
    source: str
    expected: str


@dataclasses.dataclass(frozen=True)
class ChallengeReport:
    """What became of challenges.

    Attributes:
        answers: For each its `kind`, `source`, `translation`, and whether it is `sound`.
    """

    answers: list[dict[str, Any]]

    def summary(self) -> str:
        """For people: each translation, marked, and how many of each kind are sound."""
        lines = [
            f"{'+' if each['sound'] else '-'} {each['source']}\n  → {each['translation']}"
            for each in self.answers
        ]
        kinds = dict.fromkeys(each["kind"] for each in self.answers)
        rows: list[dict[str, Any]] = []
        for kind in (*kinds, "all"):
            sound = [each["sound"] for each in self.answers if kind in (each["kind"], "all")]
            rows.append({"kind": kind, "sound": sum(sound), "of": len(sound)})
        return "\n".join([*lines, "", table(rows)])


def read_challenges(path: Path) -> list[Challenge]:
    """Reads lines of kind, sentence and regular expression between tabs; `#` begins a remark.

    Raises:
        DataError: One line that names the line that is wrong.
    """
    challenges = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split("\t")
        try:
            kind, source, expected = parts
            re.compile(expected)
        except (ValueError, re.error) as error:
            raise DataError(
                f"{path}: line {number} is not kind, sentence and regular expression between "
                f"tabs ({error})"
            ) from error
        challenges.append(Challenge(kind, source, expected))
    if not challenges:
        raise DataError(f"{path} has no challenges")
    return challenges


def challenge(translator: Translator, challenges: Sequence[Challenge]) -> ChallengeReport:
    """Translates challenges and looks for what a sound translation has in it."""
    said = translator.translate([each.source for each in challenges], n_best=1)
    return ChallengeReport(
        [
            {
                "kind": each.kind,
                "source": each.source,
                "translation": translation,
                "sound": re.search(each.expected, translation) is not None,
            }
            for each, translation in zip(challenges, said, strict=True)
        ]
    )


@dataclasses.dataclass(frozen=True)
class AlignmentReport:
    """How well a translator's cross-attention aligns the words of the phrasebook.

    Attributes:
        configured: The heads of its configuration.
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
        """A few lines for the terminal, the last of them what to put in a configuration."""
        chosen = self.chosen
        return "\n".join(
            [
                f"{self.pairs[0]} validation and {self.pairs[1]} test pairs of the phrasebook, "
                "references forced",
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


def evaluate_alignments(translator: Translator) -> AlignmentReport:
    """Measures alignments on the phrasebook, whose grammar knows the true ones.

    The decoder reads the reference, so that every link has a judge. Heads are chosen on the
    validation pairs; the test pairs tell how good they are.

    Args:
        translator: From English to German.
    """
    options = translator.options
    configured = AlignmentHeads(
        options.alignment_layer, options.alignment_heads, options.alignment_query
    )
    phrases = generate_phrasebook()
    weights: dict[str, dict[Query, list[np.ndarray]]] = {}
    gold = {}
    for split in ("validation", "test"):
        pairs = [phrase for phrase in phrases if phrase.split == split]
        targets = [translator.target_tokenizer.encode(pair.target) for pair in pairs]
        sources = [pair.source for pair in pairs]
        weights[split] = {
            query: list(translator.attend_words(sources, targets, query)) for query in QUERIES
        }
        gold[split] = [align_words(pair.source, pair.target) for pair in pairs]

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


def write_report(scores: Scores, path: Path) -> None:
    """Writes scores as JSON, whole or not at all.

    Raises:
        OSError: If they cannot be written.
    """
    write_whole(path, (json.dumps(dataclasses.asdict(scores), indent=2) + "\n").encode())
