"""From token ids to hypotheses, with as few shapes and compilations as it takes."""

from __future__ import annotations

import dataclasses
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import keras
import numpy as np
from keras import ops

from transformer_tf.config import DecodingConfig
from transformer_tf.decoding.beam import BeamSearch
from transformer_tf.decoding.greedy import GreedySearch, sentence_seeds
from transformer_tf.decoding.loop import translate_ids
from transformer_tf.errors import ConfigError
from transformer_tf.hypothesis import Hypothesis
from transformer_tf.text.batching import pad
from transformer_tf.transformer import Transformer

# Sources are padded to one of few lengths (two an octave), and handed over in one of few numbers.
LENGTHS = tuple(length * 2**octave for octave in range(12) for length in (8, 12))
NUMBERS = (1, 8, 64)
TOKENS_AT_A_TIME = 8192
ATTENDED_AT_A_TIME = 32
# The steps after which a compilation has earned its time: about 2.5 s for 2 to 5 ms a step.
STEPS_THAT_PAY = 600
# Options that no search knows: a loop that was traced for others does for these, too.
OUTSIDE: dict[str, Any] = {
    name: getattr(DecodingConfig(), name)
    for name in (
        "seed", "precision", "replace_unknowns", "restore", "recase", "split_sentences",
        "alignment", "alignment_layer", "alignment_heads", "alignment_query",
    )
}  # fmt: skip


class KerasEngine:
    """Searches for translations with a Keras model.

    Under TensorFlow there are two ways. The plain one is traced once and takes any shape; it is
    what a few sentences need. The compiled one, by XLA, takes seconds for each shape and is then
    several times faster; it is made once the plain steps of a shape have cost as much as it will.
    Elsewhere everything is compiled.

    Args:
        model: The model.
        start_id: The token every target starts with.
        end_id: The token that ends a target.
        workers: Number of batches computed side by side. A batch alone leaves a third of two
            processors idle, since many of a step's operations are too small to be shared.
    """

    def __init__(self, model: Transformer, start_id: int, end_id: int, workers: int = 2):
        self.model = model
        self.workers = workers
        self.start_id = start_id
        self.end_id = end_id
        self._functions: dict[tuple, Callable] = {}
        self._plain_steps: dict[tuple, float] = defaultdict(float)
        self._lock = threading.Lock()

    def search(
        self,
        sources: Sequence[Sequence[int]],
        options: DecodingConfig,
        prefixes: Sequence[Sequence[int]] | None = None,
        progress: Callable[[int], object] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> list[list[Hypothesis]]:
        """Translates sentences.

        Args:
            sources: The source ids of each sentence, start and end included.
            options: How to search.
            prefixes: For each sentence the tokens its translation begins with.
            progress: Called with a number of sentences whenever so many more are done.
            numbers: What the draws of each sentence depend on; by default its place among these.

        Returns:
            For each sentence its `n_best` hypotheses, the best first.

        Raises:
            ConfigError: If translations may be longer than the positions that the model has
                learned.
        """
        model = self.model
        if model.position == "learned" and options.max_length > model.max_length:
            raise ConfigError(
                f"decoding.max_length must be at most {model.max_length}, the number of positions "
                f"the model has learned, not {options.max_length}"
            )
        found: list[list[Hypothesis]] = [[] for _ in sources]
        seeds = np.zeros(len(sources), "int32")
        if options.temperature:
            places = range(len(sources)) if numbers is None else numbers
            seeds = sentence_seeds(options.seed, places)
        options = dataclasses.replace(options, **OUTSIDE)

        def run(job: tuple[int, int, bool, list[int]]) -> None:
            length, size, compiled, chunk = job
            results = self._search_chunk(
                [sources[index] for index in chunk],
                None if prefixes is None else [prefixes[index] for index in chunk],
                seeds[chunk],
                length,
                size,
                options,
                compiled,
            )
            for index, hypotheses in zip(chunk, results, strict=True):
                found[index] = hypotheses
            if progress:
                progress(len(chunk))

        jobs = []
        for length, indices in self._groups(sources):
            size = max(options.batch_size, TOKENS_AT_A_TIME // length)
            compiled = self._compilation_pays(length, len(indices), options)
            # At least one for each worker, unless a batch is about all there is.
            number = -(-len(indices) // size)
            if len(indices) > 4 * options.batch_size:
                number = max(number, self.workers)
            share = -(-len(indices) // number)
            for begin in range(0, len(indices), share):
                jobs.append((length, size, compiled, indices[begin : begin + share]))
        if len(jobs) == 1:
            run(jobs[0])
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                list(pool.map(run, jobs))
        return found

    def attend(
        self, sources: Sequence[Sequence[int]], target_inputs: Sequence[Sequence[int]]
    ) -> list[dict[str, np.ndarray]]:
        """The attention scores of translations, from one pass over all of each.

        A causal decoder sees in it just what it saw step by step.

        Args:
            sources: The source ids of each sentence, start and end included.
            target_inputs: The ids the decoder reads, from the start token on.

        Returns:
            For each sentence, for each kind (`encoder`, `decoder`, `cross`), an array
            `(num_layers, num_heads, query_len, key_len)`.
        """
        found: list[dict[str, np.ndarray]] = [{} for _ in sources]
        order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
        for begin in range(0, len(order), ATTENDED_AT_A_TIME):
            chunk = order[begin : begin + ATTENDED_AT_A_TIME]
            ids = {
                "source": [sources[index] for index in chunk],
                "target_input": [target_inputs[index] for index in chunk],
            }
            padded = {name: pad(rows, max(map(len, rows))) for name, rows in ids.items()}
            _, scores = self.model(padded, return_attention_scores=True)
            arrays = {
                kind: np.stack([ops.convert_to_numpy(layer) for layer in layers], axis=1)
                for kind, layers in scores.items()
            }
            for row, index in enumerate(chunk):
                source, target = len(sources[index]), len(target_inputs[index])
                sizes = {
                    "encoder": (source, source),
                    "decoder": (target, target),
                    "cross": (target, source),
                }
                found[index] = {
                    kind: arrays[kind][row, :, :, :queries, :keys]
                    for kind, (queries, keys) in sizes.items()
                }
        return found

    def _groups(self, sources) -> Iterator[tuple[int, list[int]]]:
        """The sentences of a padded length, the longest first."""
        groups = defaultdict(list)
        for index in sorted(range(len(sources)), key=lambda index: -len(sources[index])):
            length = next(length for length in LENGTHS if length >= len(sources[index]))
            if self.model.position == "learned":
                length = max(len(sources[index]), min(length, self.model.max_length))
            groups[length].append(index)
        yield from groups.items()

    def _compilation_pays(self, length: int, sentences: int, options: DecodingConfig) -> bool:
        """Whether the compiled way is the shorter one, as far as can be known."""
        if keras.backend.backend() != "tensorflow":
            return True
        batch = min(sentences, options.batch_size)
        shape = (length, batch == 1, options)
        self._plain_steps[shape] += sentences / batch * length / 2
        return self._plain_steps[shape] >= STEPS_THAT_PAY

    def _search_chunk(self, sources, prefixes, seeds, length, size, options, compiled):
        count = len(sources)
        given = [0] * count if prefixes is None else [len(prefix) for prefix in prefixes]
        limits = [
            options.limit(len(source), known) for source, known in zip(sources, given, strict=True)
        ]
        rows, max_length = count, max(limits)
        if compiled:
            rows = min(number for number in (*NUMBERS, max(size, *NUMBERS)) if number >= count)
            max_length = options.limit(length, 0 if prefixes is None else _width(prefixes))
        else:
            length = max(map(len, sources))
        batch_size = min(rows, options.batch_size)
        arguments = {
            "source": pad([*sources, *[sources[-1]] * (rows - count)], length),
            "limit": np.array(limits + [1] * (rows - count), "int32"),
            "seed": np.array([*seeds, *[0] * (rows - count)], "int32"),
        }
        if prefixes is not None:
            arguments["prefix"] = _pad_prefixes([*prefixes, *[[]] * (rows - count)], compiled)
        with self._lock:
            function = self._function(options, arguments, batch_size, max_length, compiled)
        sizes = np.int32(count), np.int32(batch_size), np.int32(max_length)
        results = function(arguments, *sizes)
        arrays = {name: ops.convert_to_numpy(tensor) for name, tensor in results.items()}
        search = self._make_search(options, compiled)
        return [
            search.hypotheses({name: array[row] for name, array in arrays.items()})
            for row in range(count)
        ]

    def _make_search(self, options: DecodingConfig, compiled: bool) -> GreedySearch | BeamSearch:
        kind = GreedySearch if options.beam_size == 1 else BeamSearch
        return kind(options, self.end_id, compiled)

    def _function(self, options, arguments, batch_size, max_length, compiled) -> Callable:
        """The loop as a function of `(arguments, count, batch_size, max_length)`."""
        # The plain function takes the last two as tensors: one trace for all.
        rows = len(arguments["source"])
        shapes = tuple((name, array.shape) for name, array in arguments.items())
        if compiled:
            key: tuple = (shapes, options, batch_size, max_length)
        else:
            # One sentence alone needs half as much, and is traced in half the time.
            key = (tuple(arguments), options, rows == 1)
        if key not in self._functions:
            search = self._make_search(options, compiled)

            def function(arguments: dict[str, Any], *sizes):
                return translate_ids(
                    self.model,
                    search,
                    self.start_id,
                    **arguments,
                    count=sizes[0],
                    batch_size=batch_size if compiled or rows == 1 else sizes[1],
                    max_length=max_length if compiled else sizes[2],
                )

            self._functions[key] = _compile(function, self.model, None if compiled else arguments)
        return self._functions[key]


def _width(prefixes: Sequence[Sequence[int]]) -> int:
    """The length to pad prefixes to, so that there are few shapes to compile for."""
    return -(-max(1, *map(len, prefixes)) // 8) * 8


def _pad_prefixes(prefixes: Sequence[Sequence[int]], compiled: bool) -> np.ndarray:
    longest = _width(prefixes) if compiled else max(1, *map(len, prefixes))
    return np.array([[*prefix, *[-1] * (longest - len(prefix))] for prefix in prefixes], "int32")


def _compile(function: Callable, model: Transformer, any_shape_of: dict | None) -> Callable:
    """A function of arrays that reads the weights of a model, as the back end runs it best.

    Args:
        function: The function, of a dictionary of arrays and three numbers.
        model: The model.
        any_shape_of: Under TensorFlow, arrays such as the function is to take in any shape without
            being compiled; None to compile it for each shape.
    """
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        if any_shape_of is None:
            traced = tf.function(function, jit_compile=True, autograph=False)
        else:
            shapes = {
                name: tf.TensorSpec(
                    [1 if len(array) == 1 else None, *[None] * (array.ndim - 1)], "int32"
                )
                for name, array in any_shape_of.items()
            }
            number = tf.TensorSpec([], "int32")
            signature = [shapes, number, number, number]
            traced = tf.function(function, autograph=False, input_signature=signature)
        # Every shape is a function of its own; that is no mistake to be warned of.
        traced._omit_frequent_tracing_warning = True
        return traced
    if backend == "jax":
        import jax

        variables = model.variables

        def with_weights(values, *arguments):
            # As arguments: weights that a function closes over become constants of its program.
            state = list(zip(variables, values, strict=True))
            with keras.StatelessScope(state_mapping=state):
                return function(*arguments)

        jitted = jax.jit(with_weights)
        return lambda *arguments: jitted([v.value for v in variables], *arguments)
    return function
