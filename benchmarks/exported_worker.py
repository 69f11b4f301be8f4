"""The process of one system of `benchmarks.exported`.

`python -m benchmarks.exported_worker KIND FOLDER EXAMPLE [decoding.key=value ...]` reads lists of
texts as JSON lines and prints the seconds of each list's translation.
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
    from transformer_tf.translator import Translator

    return Translator.load(folder, overrides).translate


def saved_model(folder: Path, example: Path, overrides: tuple[str, ...]) -> Translate:
    """TensorFlow with the operations of TensorFlow Text."""
    import tensorflow as tf
    import tensorflow_text

    assert tensorflow_text.__version__
    loaded = tf.saved_model.load(str(folder))
    signature = loaded.signatures["serving_default"]

    def translate(texts: list[str]) -> list[str]:
        found = signature(text=tf.constant(texts))["text"].numpy()
        return [text.decode() for text in found]

    translate.model = loaded  # type: ignore[attr-defined]  # the signature alone does not keep it
    return translate


def onnx(folder: Path, example: Path, overrides: tuple[str, ...]) -> Translate:
    """ONNX Runtime with the loop of the example."""
    import runpy

    return runpy.run_path(str(example))["Translator"](folder).translate


def main() -> None:
    """Answers requests until standard input ends."""
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
