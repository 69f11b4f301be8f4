"""The process of one system of `benchmarks.decode`.

`python -m benchmarks.decode_worker KIND FOLDER THREADS` reads JSON lines with the search `options`,
the source ids of the `sentences`, and whether to translate them `one by one`. For each it prints
the seconds and the number of target tokens, end tokens included.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformer_tf.config import DecodingConfig, load_saved_config
from transformer_tf.decoding.hypothesis import BATCH_SIZE

Sentences = list[list[int]]
Translate = Callable[[Sentences, DecodingConfig], int]
"""Translates sentences and returns the number of target tokens."""


def ours(folder: Path, threads: int) -> Translate:
    """This package, with the NumPy engine."""
    from transformer_tf.translator import Translator

    engine = Translator.load(folder).engine
    return lambda sentences, options: count(engine.search(sentences, options))


def tutorial(folder: Path, threads: int) -> Translate:
    """The tutorial's loop, with the same weights."""
    from transformer_tf.utils.startup import import_keras_quietly

    import_keras_quietly()
    from benchmarks.baselines.tutorial import make_translate
    from transformer_tf.checkpoint import load_checkpoint

    _, model, _, target = load_checkpoint(folder)
    translate = make_translate(model, target.start_id, target.end_id, 128)
    return lambda sentences, options: sum(len(translate(sentence)) for sentence in sentences)


def ctranslate2(folder: Path, threads: int) -> Translate:
    """CTranslate2, with an exported folder."""
    import ctranslate2

    from transformer_tf.checkpoint import SOURCE_MODEL
    from transformer_tf.text.tokenization.tokenizer import Tokenizer

    tokenizer = Tokenizer.load(folder / SOURCE_MODEL)
    names = tokenizer.vocabulary
    settings = {"inter_threads": threads, "intra_threads": 1} if threads else {}
    translator = ctranslate2.Translator(str(folder), device="cpu", **settings)

    def translate(sentences: Sentences, options: DecodingConfig) -> int:
        results = translator.translate_batch(
            [[names[i] for i in sentence[1:-1]] for sentence in sentences],  # it adds start and end
            max_batch_size=BATCH_SIZE,
            beam_size=options.beam_size,
            length_penalty=options.length_penalty if options.beam_size > 1 else 0,
            max_decoding_length=options.max_length,
        )
        return sum(len(result.hypotheses[0]) + 1 for result in results)

    return translate


def count(found: list[list[Any]]) -> int:
    """Counts the tokens of the best hypotheses, end tokens included."""
    return sum(len(hypotheses[0].ids) + 1 for hypotheses in found)


def main() -> None:
    """Answers requests until standard input ends."""
    kind, folder, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    make = {"ours": ours, "tutorial": tutorial, "ctranslate2": ctranslate2}[kind]
    translate = make(folder, threads)
    base = load_saved_config(folder / "config.yaml").decoding
    for line in sys.stdin:
        question = json.loads(line)
        options = dataclasses.replace(base, **question["options"])
        sentences, tokens = question["sentences"], 0
        begin = time.perf_counter()
        if question["one by one"]:
            for sentence in sentences:
                tokens += translate([sentence], options)
        else:
            tokens = translate(sentences, options)
        print(json.dumps({"seconds": time.perf_counter() - begin, "tokens": tokens}), flush=True)


if __name__ == "__main__":
    main()
