"""Scores of translations by sacreBLEU (Post 2018): BLEU, chrF, chrF++ and TER."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics import BLEU, CHRF, TER

# The upper bounds of the length ranges, in source words.
LENGTHS = (5, 10, 15, 20, 30)


@dataclasses.dataclass(frozen=True)
class Scores:
    """BLEU and chrF of translations.

    Attributes:
        bleu: BLEU, 0 to 100, with sacreBLEU's 13a tokens.
        chrf: chrF2, 0 to 100.
    """

    bleu: float
    chrf: float


def score(translations: Sequence[str], references: Sequence[str]) -> Scores:
    """Compares translations with one reference each by BLEU and chrF.

    Args:
        translations: The translations.
        references: Their references, in the same order.

    Raises:
        ValueError: If translations and references differ in number, or there are none.
    """
    _check(translations, references)
    bleu, chrf = (
        metric.corpus_score(translations, [references]).score for metric in (BLEU(), CHRF())
    )
    return Scores(bleu, chrf)


@dataclasses.dataclass(frozen=True)
class Metric:
    """A score with its confidence interval.

    Attributes:
        name: `BLEU`, `chrF`, `chrF++` or `TER`.
        score: From 0 to 100; lower TER is better, and it can exceed 100.
        interval: Half the width of its 95 % confidence interval, by resampling the sentences;
            None if it was not requested, or there are too few sentences.
        signature: sacreBLEU's settings, to quote with the score.
    """

    name: str
    score: float
    interval: float | None
    signature: str


def score_all(
    translations: Sequence[str],
    references: Sequence[str],
    lowercase: bool = False,
    resamples: int = 1000,
) -> list[Metric]:
    """Compares translations with one reference each by BLEU, chrF, chrF++ and TER.

    Args:
        translations: The translations.
        references: Their references, in the same order.
        lowercase: Whether to ignore case.
        resamples: Number of bootstrap samples behind each confidence interval, at least 2; 0 for
            none.

    Raises:
        ValueError: If translations and references differ in number, there are none, or `resamples`
            is 1.
    """
    _check(translations, references)
    if resamples == 1:
        raise ValueError("`resamples` must be 0, or at least 2. Received: resamples=1")
    metrics = []
    for name, metric in _metrics(lowercase).items():
        interval = None
        try:
            result: Any = metric.corpus_score(
                translations, [references], n_bootstrap=resamples or 1
            )
            signature = str(metric.get_signature())
            if resamples:
                details = json.loads(result.format(width=4, signature=signature, is_json=True))
                interval = details.get("confidence_var", 0.0)  # absent if every sample scores 0
        except TypeError:
            # sacreBLEU fails if only some samples have a score of exactly 0. The sentences are then
            # too few for a meaningful interval.
            metric = _metrics(lowercase)[name]
            result = metric.corpus_score(translations, [references])
            signature = str(metric.get_signature())
        metrics.append(Metric(name, float(result.score), interval, signature))
    return metrics


def score_by_length(
    sources: Sequence[str],
    translations: Sequence[str],
    references: Sequence[str],
    lowercase: bool = False,
) -> list[dict[str, Any]]:
    """Computes BLEU and chrF by sentence length.

    Args:
        sources: The source sentences.
        translations: Their translations.
        references: Their references.
        lowercase: Whether to ignore case.

    Returns:
        A row for each range of source words that occurs: `words`, `sentences`, `BLEU`, `chrF`.
    """
    rows = []
    for low, high in zip((0, *LENGTHS), (*LENGTHS, None), strict=True):
        chosen = [
            index
            for index, source in enumerate(sources)
            if low < max(len(source.split()), 1) and (high is None or len(source.split()) <= high)
        ]
        if not chosen:
            continue
        metrics = _metrics(lowercase)
        said, wanted = ([side[index] for index in chosen] for side in (translations, references))
        rows.append(
            {
                "words": f"{low + 1}-{high}" if high else f"over {low}",
                "sentences": len(chosen),
                **{
                    name: float(metrics[name].corpus_score(said, [wanted]).score)
                    for name in ("BLEU", "chrF")
                },
            }
        )
    return rows


def score_sentences(
    translations: Sequence[str], references: Sequence[str], lowercase: bool = False
) -> list[float]:
    """Computes the chrF of each sentence, because BLEU is unreliable for single sentences."""
    _check(translations, references)
    metric = _metrics(lowercase)["chrF"]
    return [
        float(metric.sentence_score(said, [wanted]).score)
        for said, wanted in zip(translations, references, strict=True)
    ]


def _metrics(lowercase: bool) -> dict[str, Any]:
    return {
        "BLEU": BLEU(lowercase=lowercase),
        "chrF": CHRF(lowercase=lowercase),
        "chrF++": CHRF(word_order=2, lowercase=lowercase),
        "TER": TER(case_sensitive=not lowercase),
    }


def _check(translations: Sequence[str], references: Sequence[str]) -> None:
    if len(translations) != len(references) or not references:
        raise ValueError(
            "There must be one reference for each translation, and at least one. "
            f"Received: {len(translations)} translations, {len(references)} references"
        )
