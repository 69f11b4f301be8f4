"""Search with the Keras model: from the ids of many sentences to their hypotheses."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from transformer_tf.config import DecodingConfig
from transformer_tf.decoding.batched import BatchedEngine
from transformer_tf.decoding.beam import BeamSearch
from transformer_tf.decoding.greedy import GreedySearch, sentence_seeds
from transformer_tf.decoding.loop import translate_ids
from transformer_tf.text.batching.batches import pad
from transformer_tf.transformer import Transformer

# Each new shape is compiled, so batches are padded to a few lengths and numbers of sentences.
SOURCE_LENGTHS = tuple(length * 2**octave for octave in range(12) for length in (8, 12))
BATCH_SIZES = (1, 8)  # and `batch_size`
# Options that do not change the compiled search, with their defaults.
NON_SEARCH_OPTIONS: dict[str, Any] = {
    name: getattr(DecodingConfig(), name)
    for name in (
        "batch_size", "seed", "precision", "replace_unknowns", "restore", "recase",
        "split_sentences", "check_slots", "alignment", "alignment_layer", "alignment_heads",
        "alignment_query",
    )
}  # fmt: skip


class KerasEngine(BatchedEngine):
    """Searches for translations with a Keras model.

    The search is compiled once for each shape, which takes seconds. Sentences of similar length
    share a batch.

    Args:
        model: The model.
        start_id: The id of the start token.
        end_id: The id of the end token.
        workers: Number of batches at the same time. With one batch, two CPUs are idle a third of
            the time, since many operations are too small to split.
    """

    def __init__(self, model: Transformer, start_id: int, end_id: int, workers: int = 2):
        learned = model.position == "learned"
        super().__init__(workers, model.max_length if learned else None)
        self.model = model
        self.start_id = start_id
        self.end_id = end_id
        self._functions: dict[DecodingConfig, Callable] = {}
        self._lock = threading.Lock()

    def _attend_batch(self, sources, target_inputs):
        rows = {"source": sources, "target_input": target_inputs}
        padded = {name: pad(ids, max(map(len, ids))) for name, ids in rows.items()}
        _, scores = self.model(padded, return_attention_scores=True)
        return {
            kind: np.stack([ops.convert_to_numpy(layer) for layer in layers], axis=1)
            for kind, layers in scores.items()
        }

    def _search_batch(self, sources, options, prefixes, numbers):
        count, longest = len(sources), max(map(len, sources))
        batch_size = min(size for size in (*BATCH_SIZES, options.batch_size) if size >= count)
        source_len = next(length for length in SOURCE_LENGTHS if length >= longest)
        if self.num_positions is not None:
            source_len = max(longest, min(source_len, self.num_positions))
        prefix_lengths = [0] * count if prefixes is None else [len(prefix) for prefix in prefixes]
        prefix_len = -(-max(1, *prefix_lengths) // 8) * 8
        limits = [
            options.limit(len(source), length)
            for source, length in zip(sources, prefix_lengths, strict=True)
        ]
        padding = batch_size - count
        seeds = sentence_seeds(options.seed, numbers) if options.temperature else [0] * count
        arguments = {
            "source": pad([*sources, *[sources[0]] * padding], source_len),
            "limit": np.array(limits + [1] * padding, "int32"),
            "seed": np.array([*seeds, *[0] * padding], "int32"),
        }
        if prefixes is not None:
            rows = [[*prefix, *[-1] * (prefix_len - len(prefix))] for prefix in prefixes]
            arguments["prefix"] = np.array(rows + [[-1] * prefix_len] * padding, "int32")
        max_length = options.limit(source_len, 0 if prefixes is None else prefix_len)

        search = self._make_search(options)
        results = self._function(options)(arguments, max_length)
        arrays = {name: ops.convert_to_numpy(tensor) for name, tensor in results.items()}
        return [
            search.hypotheses({name: array[row] for name, array in arrays.items()})
            for row in range(count)
        ]

    def _make_search(self, options: DecodingConfig) -> GreedySearch | BeamSearch:
        kind = GreedySearch if options.beam_size == 1 else BeamSearch
        return kind(options, self.end_id)

    def _function(self, options: DecodingConfig) -> Callable:
        """Returns the compiled search as a function of `(arguments, max_length)`."""
        options = dataclasses.replace(options, **NON_SEARCH_OPTIONS)
        with self._lock:
            if options not in self._functions:
                search = self._make_search(options)

                def function(arguments: dict[str, Any], max_length: int):
                    return translate_ids(
                        self.model, search, self.start_id, **arguments, max_length=max_length
                    )

                self._functions[options] = _compile(function, self.model)
            return self._functions[options]


def _compile(function: Callable, model: Transformer) -> Callable:
    """Compiles a function that reads the weights of a model.

    Args:
        function: A function of a dictionary of arrays and a static integer.
        model: The model.

    Returns:
        The function, compiled for each shape and integer. PyTorch runs it uncompiled.
    """
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        compiled = tf.function(function, jit_compile=True, autograph=False)
        # TensorFlow warns about many shapes, which are intended here.
        compiled._omit_frequent_tracing_warning = True
        return compiled
    if backend == "jax":
        import jax

        variables = model.variables

        def with_weights(values, arguments, max_length):
            # Weights that are not arguments would become constants of the program.
            state = list(zip(variables, values, strict=True))
            with keras.StatelessScope(state_mapping=state):
                return function(arguments, max_length)

        jitted = jax.jit(with_weights, static_argnums=2)
        return lambda *arguments: jitted([v.value for v in variables], *arguments)
    return function
