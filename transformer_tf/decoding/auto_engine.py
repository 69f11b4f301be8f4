"""An engine that uses NumPy where it can, and Keras for the other options."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from transformer_tf.config.schema import DecodingConfig
from transformer_tf.decoding.hypothesis import Engine, Hypothesis
from transformer_tf.decoding.numpy_engine import NumpyEngine, unsupported


class AutoEngine:
    """Searches with NumPy, or with Keras for options that the NumPy engine does not support.

    NumPy is faster even for many sentences. On a CPU, 1 000 of them take 2.7 s of processor time
    with greedy search and 8 s with beam 4. Compiled Keras takes 5.6 s and 19 s after its start
    (`checkpoints/en-de`, 2026-11-22).

    Args:
        numpy_engine: The NumPy engine.
        load_keras_engine: Loads the Keras engine; called at its first use.
    """

    def __init__(self, numpy_engine: NumpyEngine, load_keras_engine: Callable[[], Engine]):
        self.numpy_engine = numpy_engine
        self._load_keras_engine = load_keras_engine
        self._keras_engine: Engine | None = None

    def search(
        self,
        sources: Sequence[Sequence[int]],
        options: DecodingConfig,
        prefixes: Sequence[Sequence[int]] | None = None,
        progress: Callable[[int], object] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> list[list[Hypothesis]]:
        """Translates sentences: see `Engine.search`."""
        engine: Engine = self.numpy_engine
        if unsupported(options):
            if self._keras_engine is None:
                self._keras_engine = self._load_keras_engine()
            engine = self._keras_engine
        return engine.search(sources, options, prefixes, progress, numbers)

    def attend(
        self, sources: Sequence[Sequence[int]], target_inputs: Sequence[Sequence[int]]
    ) -> list[dict[str, np.ndarray]]:
        """Returns the attention scores of given translations: see `Engine.attend`."""
        return self.numpy_engine.attend(sources, target_inputs)
