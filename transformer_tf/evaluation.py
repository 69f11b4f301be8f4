"""Scores of translations, by sacreBLEU (Post 2018)."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF

from transformer_tf.translator import Translator


@dataclasses.dataclass(frozen=True)
class Scores:
    """How near translations are to their references.

    Attributes:
        bleu: BLEU, 0 to 100, cased, with sacreBLEU's 13a tokens.
        chrf: chrF2, 0 to 100.
        bleu_signature: The settings of BLEU, to be quoted with it.
        chrf_signature: The settings of chrF.
        sentences: Number of sentences.
        seconds: Time the translations took; 0 if they were not timed.
    """

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str
    sentences: int
    seconds: float = 0.0

    def summary(self) -> str:
        """The scores in a few lines, for people."""
        speed = f" in {self.seconds:.1f} s" if self.seconds else ""
        return (
            f"{self.sentences} sentences{speed}\n"
            f"BLEU {self.bleu:.2f}  ({self.bleu_signature})\n"
            f"chrF {self.chrf:.2f}  ({self.chrf_signature})"
        )


def score(translations: Sequence[str], references: Sequence[str]) -> Scores:
    """Compares translations with one reference each.

    Args:
        translations: What the model said.
        references: What it should have said, in the same order.

    Raises:
        ValueError: If the two differ in number, or there are none.
    """
    if len(translations) != len(references) or not references:
        raise ValueError(
            "There must be one reference for each translation, and at least one. "
            f"Received: {len(translations)} translations, {len(references)} references"
        )
    bleu, chrf = BLEU(), CHRF()
    # The scores first: a signature tells the number of references they have seen.
    bleu_score = bleu.corpus_score(translations, [references]).score
    chrf_score = chrf.corpus_score(translations, [references]).score
    return Scores(
        bleu=bleu_score,
        chrf=chrf_score,
        bleu_signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
        sentences=len(references),
    )


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
    translations = translator.translate(sources, progress=progress)
    seconds = time.perf_counter() - begin
    scores = score(translations, [reference for _, reference in pairs])
    return dataclasses.replace(scores, seconds=seconds)


def write_report(scores: Scores, path: Path) -> None:
    """Writes scores as JSON."""
    path.write_text(json.dumps(dataclasses.asdict(scores), indent=2) + "\n", encoding="utf-8")
