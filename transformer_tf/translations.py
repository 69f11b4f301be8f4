"""Translations as lines of text or JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from transformer_tf.alignment import format_pharaoh
from transformer_tf.text.cleaning import normalize_text
from transformer_tf.translator import Translation


def format_translations(
    source: str,
    translations: Sequence[Translation],
    number: int,
    as_json: bool = False,
    scores: bool = False,
    alignment: bool = False,
    n_best: int = 1,
) -> list[str]:
    """The lines for a sentence.

    Args:
        source: The sentence.
        translations: Its translations, the best first.
        number: The number of its line, from 1.
        as_json: One line with a JSON object: `source` and `hypotheses`, each of them with what
            `Translation` knows.
        scores: Score and tab go before a translation.
        alignment: Tab and alignment, such as `0-0 1-2`, go after it.
        n_best: Above 1 a line for each translation, with line number, tab, score and tab before.

    Returns:
        Lines without their ends. A sentence with nothing to translate has one empty line.
    """
    if as_json:
        nothing = not normalize_text(source)
        hypotheses = [] if nothing else [_known(found) for found in translations]
        return [json.dumps({"source": source, "hypotheses": hypotheses}, ensure_ascii=False)]
    if not any(translation.text for translation in translations):
        return [""]
    lines = []
    for found in translations if n_best > 1 else translations[:1]:
        columns = [found.text]
        if scores or n_best > 1:
            columns.insert(0, f"{found.score:.4f}")
        if n_best > 1:
            columns.insert(0, str(number))
        if alignment:
            columns.append(format_pharaoh(found.alignment or ()))
        lines.append("\t".join(columns))
    return lines


def _known(translation: Translation) -> dict[str, Any]:
    """A translation as JSON has it; without an alignment if none was asked for."""
    known = dataclasses.asdict(translation)
    if translation.alignment is None:
        del known["alignment"]
    return known
