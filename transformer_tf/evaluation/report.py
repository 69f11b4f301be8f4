"""Scores of a translator on sentence pairs."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer_tf.evaluation.scores import (
    Metric,
    score_all,
    score_by_length,
    score_sentences,
)
from transformer_tf.translator import Translator
from transformer_tf.utils.files import atomic_write_bytes
from transformer_tf.utils.tables import grouped, table


@dataclasses.dataclass(frozen=True)
class Report:
    """Speed and scores of a translator on sentence pairs, with its worst translations.

    Attributes:
        sentences: Number of sentences.
        seconds: Duration of the translation in seconds.
        tokens: Number of sub-words of the translations.
        metrics: BLEU, chrF, chrF++ and TER.
        lengths: BLEU and chrF by the number of source words.
        worst: The sentences with the lowest chrF: `chrF`, `source`, `translation`, `reference`.
    """

    sentences: int
    seconds: float
    tokens: int
    metrics: list[Metric]
    lengths: list[dict[str, Any]]
    worst: list[dict[str, Any]]

    def summary(self) -> str:
        """Formats the report for the terminal."""
        speeds = [grouped(count / self.seconds) for count in (self.sentences, self.tokens)]
        lines = [
            f"{grouped(self.sentences)} sentences in {self.seconds:.1f} s "
            f"({speeds[0]} sentences/s, {speeds[1]} tokens/s)",
            "",
        ]
        for metric in self.metrics:
            interval = "" if metric.interval is None else f" ± {metric.interval:.2f}"
            lines.append(f"{metric.name:<6} {metric.score:6.2f}{interval}  ({metric.signature})")
        lines += ["", table(self.lengths)]
        if self.worst:
            lines += ["", "sentences with the lowest chrF"]
        for sentence in self.worst:
            lines.append(f"{sentence['chrF']:6.1f}  {sentence['source']}")
            lines.append(f"     →  {sentence['translation']}")
            lines.append(f"     ≠  {sentence['reference']}")
        return "\n".join(lines)


def report(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    lowercase: bool = False,
    resamples: int = 1000,
    worst: int = 10,
    progress: bool = False,
) -> Report:
    """Translates sentences and scores the translations by every metric.

    Args:
        translator: The translator to score.
        sources: The sentences.
        references: Their translations.
        lowercase: Whether to ignore case.
        resamples: Number of bootstrap samples behind each confidence interval; 0 for none.
        worst: Number of sentences with the lowest chrF to list.
        progress: Whether to show a progress bar on stderr.

    Raises:
        ValueError: If sources and references differ in number, or there are none.
    """
    begin = time.perf_counter()
    translations = [best[0] for best in translator.search(sources, progress=progress)]
    seconds = time.perf_counter() - begin
    texts = [translation.text for translation in translations]
    by_sentence = score_sentences(texts, references, lowercase)
    order = sorted(range(len(texts)), key=lambda index: by_sentence[index])
    return Report(
        sentences=len(texts),
        seconds=seconds,
        tokens=sum(len(translation.tokens) for translation in translations),
        metrics=score_all(texts, references, lowercase, resamples),
        lengths=score_by_length(sources, texts, references, lowercase),
        worst=[
            {
                "chrF": by_sentence[index],
                "source": sources[index],
                "translation": texts[index],
                "reference": references[index],
            }
            for index in order[:worst]
        ],
    )


def write_report(found: Report, path: Path) -> None:
    """Writes a report as JSON, atomically.

    Raises:
        OSError: If it cannot be written.
    """
    atomic_write_bytes(path, (json.dumps(dataclasses.asdict(found), indent=2) + "\n").encode())
