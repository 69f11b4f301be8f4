"""The process in which one system of `benchmarks.exported` translates.

`python -m transformer_tf.benchmarks.exported_worker KIND FOLDER EXAMPLE [decoding.key=value ...]`
reads lines of JSON, each a list of texts, and prints the seconds that their translation took.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

Translate = Callable[[list[str]], Sequence[str]]


def checkpoint(folder: Path, example: Path, overrides: tuple[str, ...]) -> Translate:
    """This package."""
    from transformer_tf.startup import import_keras_quietly

    import_keras_quietly()
    from transformer_tf.translator import Translator

    return Translator.load(folder, overrides).translate


def saved_model(folder: Path, example: Path, overrides: tuple[str, ...]) -> Translate:
    """TensorFlow, and the operations of TensorFlow Text."""
    import tensorflow as tf
    import tensorflow_text

    assert tensorflow_text.__version__
    loaded = tf.saved_model.load(str(folder))  # kept: the signature does not hold it
    signature = loaded.signatures["serving_default"]

    def translate(texts: list[str]) -> list[str]:
        found = signature(text=tf.constant(texts))["text"].numpy()
        return [text.decode() for text in found]

    translate.model = loaded  # type: ignore[attr-defined]
    return translate


def onnx(folder: Path, example: Path, overrides: tuple[str, ...]) -> Translate:
    """ONNX Runtime, with the loop of the example."""
    import runpy

    return runpy.run_path(str(example))["Translator"](folder).translate


def main() -> None:
    """Translates when told to, until standard input ends."""
    kind, folder, example, *overrides = sys.argv[1:]
    make = {"checkpoint": checkpoint, "saved-model": saved_model, "onnx": onnx}[kind]
    translate = make(Path(folder), Path(example), tuple(overrides))
    for line in sys.stdin:
        texts = json.loads(line)
        begin = time.perf_counter()
        found = translate(texts)
        seconds = time.perf_counter() - begin
        assert len(found) == len(texts)
        print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main()
