"""BLEU and chrF of translations, by sacreBLEU (Post 2018)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from sacrebleu.metrics import BLEU, CHRF


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
