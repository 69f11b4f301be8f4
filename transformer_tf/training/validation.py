"""A validation: metrics on held-out pairs, and the scores of their translations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import keras

from transformer_tf.evaluation.scores import score
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.training.stream import BatchStream, as_dataset

NUM_SAMPLES = 3
NUM_TRANSLATIONS = 200  # scored at each validation


class SampleTranslator(Protocol):
    """The method of a translator that a validation uses."""

    def translate(self, texts: Sequence[str]) -> list[str]:
        """Translates sentences."""


def evaluate(training_model: keras.Model, stream: BatchStream) -> dict[str, float]:
    """Computes loss, accuracy and perplexity over all batches of an epoch."""
    steps = stream.steps_per_epoch
    metrics = training_model.evaluate(
        as_dataset(lambda: stream.take(0, steps), steps),
        steps=steps,
        verbose=0,
        return_dict=True,
    )
    return {name: float(value) for name, value in metrics.items() if name != "tokens"}


def evenly_spaced(pairs: Sequence[Pair], count: int) -> list[Pair]:
    """Returns up to `count` of the pairs, spread evenly.

    Many corpora begin with their shortest sentences.
    """
    count = min(count, len(pairs))
    return [pairs[number * len(pairs) // count] for number in range(count)]


def score_translations(translator: SampleTranslator, pairs: Sequence[Pair]) -> dict[str, float]:
    """Translates `NUM_TRANSLATIONS` evenly spaced pairs and computes BLEU and chrF.

    Args:
        translator: The translator.
        pairs: Sentences and their references.
    """
    chosen = evenly_spaced(pairs, NUM_TRANSLATIONS)
    translations = translator.translate([source for source, _ in chosen])
    scores = score(translations, [target for _, target in chosen])
    return {"bleu": scores.bleu, "chrf": scores.chrf}
