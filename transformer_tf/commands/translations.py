"""Formats translations as lines of text or JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from transformer_tf.attention_maps.alignments import format_pharaoh
from transformer_tf.text.normalization import normalize_text
from transformer_tf.text.segments import Translation


def format_translations(
    source: str,
    translations: Sequence[Translation],
    number: int,
    as_json: bool = False,
    scores: bool = False,
    alignment: bool = False,
    n_best: int = 1,
) -> list[str]:
    """Formats the translations of a sentence.

    Args:
        source: The sentence.
        translations: Its translations, the best first.
        number: Number of its line, from 1.
        as_json: Whether to write one line with a JSON object: `source`, and `hypotheses` with the
            attributes of each `Translation`.
        scores: Whether to write the score and a tab before the translation.
        alignment: Whether to write a tab and the alignment, such as `0-0 1-2`, after it.
        n_best: If above 1, each translation gets a line: line number, score, translation.

    Returns:
        The lines without line ends. An empty sentence has one empty line.
    """
    if as_json:
        empty = not normalize_text(source)
        hypotheses = [] if empty else [_attributes(translation) for translation in translations]
        return [json.dumps({"source": source, "hypotheses": hypotheses}, ensure_ascii=False)]
    if not any(translation.text for translation in translations):
        return [""]
    lines = []
    for translation in translations if n_best > 1 else translations[:1]:
        columns = [translation.text]
        if scores or n_best > 1:
            columns.insert(0, f"{translation.score:.4f}")
        if n_best > 1:
            columns.insert(0, str(number))
        if alignment:
            columns.append(format_pharaoh(translation.alignment or ()))
        lines.append("\t".join(columns))
    return lines


def _attributes(translation: Translation) -> dict[str, Any]:
    """Returns the attributes of a translation, without an alignment that was not requested."""
    attributes = dataclasses.asdict(translation)
    if translation.alignment is None:
        del attributes["alignment"]
    return attributes
