"""Scores of a translator on sentence pairs."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path

from transformer_tf.scoring import Scores, score
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
    translations = translator.translate(sources, progress=progress)
    seconds = time.perf_counter() - begin
    scores = score(translations, [reference for _, reference in pairs])
    return dataclasses.replace(scores, seconds=seconds)


def write_report(scores: Scores, path: Path) -> None:
    """Writes scores as JSON."""
    path.write_text(json.dumps(dataclasses.asdict(scores), indent=2) + "\n", encoding="utf-8")
