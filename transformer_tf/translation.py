"""A translation: from the tokens of a hypothesis to its text, and with its scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

from transformer_tf.text.normalization import normalize_text
from transformer_tf.text.placeholders import Placeholders
from transformer_tf.text.segments import Segment

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Translation:
    """A translation and its scores.

    Attributes:
        text: The translation.
        tokens: Its sub-words, without start and end.
        score: The value that translations are ranked by, see `Hypothesis`.
        log_prob: Natural logarithm of the probability of the translation; None if unknown.
        token_log_probs: Natural logarithm of the probability of each token, and of the end token
            if there is one; None if unknown.
        alignment: Pairs (source word, target word), counted from 0; None unless requested.
    """

    text: str
    tokens: list[str]
    score: float
    log_prob: float | None = None
    token_log_probs: list[float] | None = None
    alignment: list[tuple[int, int]] | None = None


def finished_text(decoded: str, segment: Segment, placeholders: Placeholders | None) -> str:
    """Writes the values of the source in their placeholders, and a text in capitals in capitals.

    Byte tokens can spell a line break, but a translation is one line.
    """
    text = placeholders.unmask(decoded, segment.values) if placeholders else decoded
    return segment.restore_case(normalize_text(text))


def join_translations(
    segments: Sequence[Segment], translations: Sequence[Sequence[Translation]]
) -> list[Translation]:
    """Joins the translations of the segments of a text with spaces.

    Args:
        segments: The segments of the text.
        translations: For each segment its translations, the best first.

    Returns:
        The translations of the text. The n-th joins the n-th translation of each segment, or its
        last one if it has fewer. A text without segments has the translation "".
    """
    if not segments:
        return [Translation("", [], 0.0, 0.0, [], [])]
    if len(segments) == 1:
        return list(translations[0])
    return [
        _join(segments, [ranked[min(rank, len(ranked) - 1)] for ranked in translations])
        for rank in range(max(map(len, translations)))
    ]


def _join(segments: Sequence[Segment], translations: Sequence[Translation]) -> Translation:
    lengths = [len(translation.text.split()) for translation in translations]
    first_target_words = [sum(lengths[:index]) for index in range(len(lengths))]
    alignments = [
        None
        if translation.alignment is None
        else [(s + segment.first_word, t + first_target) for s, t in translation.alignment]
        for segment, translation, first_target in zip(
            segments, translations, first_target_words, strict=True
        )
    ]
    return Translation(
        " ".join(translation.text for translation in translations),
        [token for translation in translations for token in translation.tokens],
        sum(translation.score for translation in translations),
        _sum([translation.log_prob for translation in translations]),
        _chain([translation.token_log_probs for translation in translations]),
        _chain(alignments),
    )


def _sum(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _chain(lists: Sequence[list[T] | None]) -> list[T] | None:
    known = [items for items in lists if items is not None]
    return [item for items in known for item in items] if len(known) == len(lists) else None
