"""Formats translations as lines of text or JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from transformer_tf.text.normalization import normalize_text
from transformer_tf.translation import Translation


def format_json(source: str, translations: Sequence[Translation]) -> str:
    """Formats the translations of a sentence as a JSON object.

    It has the `source`, and `hypotheses` with the attributes of each `Translation`, the best first;
    an alignment only if there is one. An empty sentence has no hypotheses.
    """
    hypotheses = [
        {
            name: value
            for name, value in dataclasses.asdict(translation).items()
            if value is not None
        }
        for translation in (translations if normalize_text(source) else ())
    ]
    return json.dumps({"source": source, "hypotheses": hypotheses}, ensure_ascii=False)


def format_lines(translations: Sequence[Translation], number: int, n_best: int) -> list[str]:
    """Formats the translations of a sentence as lines of text.

    Args:
        translations: The translations, the best first.
        number: Number of the sentence, from 1.
        n_best: If above 1, each translation gets a line: number, score, translation.

    Returns:
        The lines. An empty sentence has one empty line.
    """
    if n_best == 1 or not any(translation.text for translation in translations):
        return [translations[0].text]
    return [
        f"{number}\t{translation.score:.4f}\t{translation.text}" for translation in translations
    ]
