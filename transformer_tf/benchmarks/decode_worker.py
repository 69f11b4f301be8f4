"""The process in which one system of `benchmarks.decode` translates.

`python -m transformer_tf.benchmarks.decode_worker KIND FOLDER THREADS` reads lines of JSON with
`options` of the search, `sentences`, as source ids, and whether they go `one by one`; it prints a
line with the seconds it took and the number of target tokens, their ends included.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformer_tf.config import DecodingConfig, load_config

Sentences = list[list[int]]
Translate = Callable[[Sentences, DecodingConfig], int]
"""Translates sentences and returns the number of target tokens."""


def ours(folder: Path, threads: int) -> Translate:
    """This package, compiled from the first sentence on."""
    from transformer_tf.startup import import_keras_quietly

    import_keras_quietly()
    from transformer_tf.checkpoint import load_checkpoint
    from transformer_tf.decoding import KerasEngine, engine

    engine.STEPS_THAT_PAY = 0
    _, model, _, target = load_checkpoint(folder)
    searcher = KerasEngine(model, target.start_id, target.end_id)
    return lambda sentences, options: count(searcher.search(sentences, options))


def tutorial(folder: Path, threads: int) -> Translate:
    """The tutorial's loop, with the same weights."""
    from transformer_tf.startup import import_keras_quietly

    import_keras_quietly()
    from transformer_tf.benchmarks.baselines.tutorial import make_translate
    from transformer_tf.checkpoint import load_checkpoint

    _, model, _, target = load_checkpoint(folder)
    functions = {
        until_end: make_translate(model, target.start_id, target.end_id, 128, until_end)
        for until_end in (True, False)
    }

    def translate(sentences: Sentences, options: DecodingConfig) -> int:
        function = functions[options.min_length == 0]
        return sum(len(function(sentence)) for sentence in sentences)

    return translate


def ctranslate2(folder: Path, threads: int) -> Translate:
    """CTranslate2 itself, on a folder that was exported."""
    import ctranslate2

    from transformer_tf.checkpoint import SOURCE_MODEL
    from transformer_tf.text.tokenizer import Tokenizer

    tokenizer = Tokenizer.load(folder / SOURCE_MODEL)
    names = tokenizer.tokens(range(tokenizer.vocab_size))
    # So many batches at a time, each by one thread; 0 for the library's defaults.
    settings = {"inter_threads": threads, "intra_threads": 1} if threads else {}
    translator = ctranslate2.Translator(str(folder), device="cpu", **settings)

    def translate(sentences: Sentences, options: DecodingConfig) -> int:
        results = translator.translate_batch(
            [[names[i] for i in sentence] for sentence in sentences],
            max_batch_size=options.batch_size,
            beam_size=options.beam_size,
            length_penalty=options.length_penalty if options.beam_size > 1 else 0,
            max_decoding_length=options.max_length,
            min_decoding_length=options.min_length,
        )
        return sum(len(result.hypotheses[0]) + 1 for result in results)

    return translate


def count(found: list[list[Any]]) -> int:
    """The tokens of the best hypotheses, their ends included."""
    return sum(len(hypotheses[0].ids) + 1 for hypotheses in found)


def main() -> None:
    """Translates when told to, until standard input ends."""
    kind, folder, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    make = {"ours": ours, "tutorial": tutorial, "ctranslate2": ctranslate2}[kind]
    translate = make(folder, threads)
    base = load_config(folder / "config.yaml").decoding
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
