"""Translations as lines of text or JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from transformer_tf.translator import Translation


def format_translations(
    source: str,
    translations: Sequence[Translation],
    number: int,
    as_json: bool = False,
    scores: bool = False,
    n_best: int = 1,
) -> list[str]:
    """The lines for a sentence.

    Args:
        source: The sentence.
        translations: Its translations, the best first.
        number: The number of its line, from 1.
        as_json: One line with a JSON object: `source` and `hypotheses`, each of them with what
            `Translation` knows.
        scores: One line with score, tab and translation.
        n_best: Above 1 a line for each translation with line number, score and text between tabs.

    Returns:
        Lines without their ends. A sentence of nothing but spaces has one empty line.
    """
    if as_json:
        nothing = not source.strip()
        hypotheses = [] if nothing else [dataclasses.asdict(found) for found in translations]
        return [json.dumps({"source": source, "hypotheses": hypotheses}, ensure_ascii=False)]
    if not any(translation.text for translation in translations):
        return [""]
    if n_best > 1:
        return [f"{number}\t{found.score:.4f}\t{found.text}" for found in translations]
    best = translations[0]
    return [f"{best.score:.4f}\t{best.text}" if scores else best.text]
