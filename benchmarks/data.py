"""Measures the seconds and the memory from a corpus file to training batches."""

from __future__ import annotations

import dataclasses
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transformer_tf.config import Config
from transformer_tf.text.batching.batches import Batches
from transformer_tf.text.batching.encoded import encode_pairs
from transformer_tf.text.corpora.corpus import load_corpus
from transformer_tf.text.tokenization.tokenizer import (
    Tokenizer,
    auto_vocab_size,
    training_sentences,
)
from transformer_tf.utils.memory import peak_memory_mb

MEASURED_BATCHES = 2000


def measure_data(config: Config, generated_pairs: int = 0) -> Iterator[dict[str, Any]]:
    """Reads, cleans, splits, encodes and batches a corpus, and times each stage.

    Args:
        config: The corpus and the settings of the tokenizer, which is trained.
        generated_pairs: If not 0, replace the corpus by a generated file of this many pairs.

    Yields:
        For each stage its seconds and the peak memory up to its end.
    """
    with tempfile.TemporaryDirectory() as folder:
        data = config.data
        if generated_pairs:
            path = Path(folder) / "generated.tsv"
            generate_pairs(path, generated_pairs)
            data = dataclasses.replace(data, corpus="files", files=((str(path),),))

        clock = _Clock()
        corpus = load_corpus(data, config.training.seed)
        yield clock.row("read, clean, split", pairs=len(corpus.train))

        size = config.tokenizer.vocab_size
        size = auto_vocab_size(len(corpus.train)) if size == "auto" else int(size)
        source, target = (
            Tokenizer.train(
                training_sentences(corpus.train, side),
                size,
                Path(folder) / f"{side}.model",
            )
            for side in (0, 1)
        )
        yield clock.row("train both tokenizers", pairs=len(corpus.train))

        encoded = encode_pairs(corpus.train, source, target, data.max_length)
        yield clock.row("encode", pairs=len(encoded))

        training = config.training
        batches = Batches(encoded, training.tokens_per_batch, training.max_buckets, training.seed)
        yield clock.row(
            "choose shapes, shuffle",
            pairs=len(encoded),
            batches=len(batches),
            shapes=len(batches.shapes),
            padding=batches.padding_share,
        )
        number = min(len(batches), MEASURED_BATCHES)
        for index in range(number):
            batches[index]
        yield clock.row("make batches", batches=number)


def generate_pairs(path: Path, number: int) -> None:
    """Writes pairs of random sentences with the length distribution of everyday sentences.

    Args:
        path: The file to write: a source, a tab and a target on each line.
        number: Number of pairs, all different.
    """
    draw = random.Random(0)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(20_000)]
    with path.open("w", encoding="utf-8") as file:
        for index in range(number):
            length = min(40, 2 + int(draw.expovariate(1 / 5)))
            source = " ".join(draw.choices(words, k=length))
            target = " ".join(draw.choices(words, k=max(1, length + draw.randint(-2, 2))))
            file.write(f"{source} {index}.\t{target} {index}.\n")


class _Clock:
    """Measures the time between rows."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()

    def row(self, stage: str, **more: Any) -> dict[str, Any]:
        seconds = time.perf_counter() - self._begin
        row = {"stage": stage, "seconds": seconds, "peak_memory_mb": peak_memory_mb(), **more}
        self._begin = time.perf_counter()
        return row
