"""Greedy search with the Keras model, as one loop that a backend can compile."""

from __future__ import annotations

import functools
from collections.abc import Callable

import keras
import numpy as np
from keras import ops

from transformer_tf.decoding.batched import BatchedEngine
from transformer_tf.decoding.hypothesis import BATCH_SIZE, Hypothesis
from transformer_tf.errors import ConfigError
from transformer_tf.text.batching.batches import pad
from transformer_tf.transformer import Transformer

SOURCE_MULTIPLE = 16  # JAX compiles each new shape, so sources are padded to few lengths


def greedy_search(model: Transformer, start_id: int, end_id: int, source, limit, steps):
    """Greedy search with a Keras model, as one loop inside the graph.

    Args:
        model: The model.
        start_id: The id of the start token.
        end_id: The id of the end token.
        source: Integer tensor `(batch, source_len)`.
        limit: Integer tensor `(batch,)`: the maximum number of tokens of each translation, the end
            token included; at least 1.
        steps: The largest limit; an int or a scalar tensor.

    Returns:
        A dictionary: `"tokens"` `(batch, steps)`; `"log_probs"` `(batch, steps)`, the natural
        logarithms of their probabilities; and `"length"` `(batch,)`, the number of tokens of each
        translation, the end token included. The tokens after them have no meaning.
    """
    batch_size = ops.shape(source)[0]
    cross_attention_cache = model.encode_for_search(source)
    position_table = model.target_embedding.position_table(steps)

    def is_unfinished(step, state):
        return ops.logical_not(ops.all(state["done"]))

    def advance(step, state):
        visible = _write(state["visible"], step, state["token"] != model.pad_id)
        position = ops.take(position_table, ops.reshape(step, (1, 1)), axis=0)  # (1, 1, d_model)
        logits, cache = model.step(
            state["token"][:, None],
            position,
            cross_attention_cache,
            state["cache"],
            step,
            visible[:, None, None],
        )
        token = ops.cast(ops.argmax(logits, axis=1), "int32")
        log_prob = ops.max(logits, axis=1) - ops.logsumexp(logits, axis=1)
        done = state["done"]
        return step + 1, {
            "token": token,
            "tokens": _write(state["tokens"], step, token),
            "log_probs": _write(state["log_probs"], step, log_prob),
            "length": ops.where(done, state["length"], step + 1),
            "done": done | (token == end_id) | (step + 1 >= limit),
            "visible": visible,
            "cache": cache,
        }

    state = {
        "token": ops.full((batch_size,), start_id, "int32"),
        "tokens": ops.zeros((batch_size, steps), "int32"),
        "log_probs": ops.zeros((batch_size, steps), "float32"),
        "length": ops.zeros((batch_size,), "int32"),
        "done": ops.zeros((batch_size,), "bool"),
        "visible": ops.zeros((batch_size, steps), "bool"),
        "cache": model.decoder.new_cache(batch_size, steps),
    }
    _, state = ops.while_loop(is_unfinished, advance, (ops.zeros((), "int32"), state))
    return {name: state[name] for name in ("tokens", "log_probs", "length")}


def _write(history, step, values):
    """Writes values `(batch,)` into a column of a tensor `(batch, steps)`."""
    return ops.slice_update(history, (0, step), values[:, None])


class KerasEngine(BatchedEngine):
    """Greedy search with a Keras model.

    Args:
        model: The model.
        start_id: The id of the start token.
        end_id: The id of the end token.
    """

    def __init__(self, model: Transformer, start_id: int, end_id: int):
        super().__init__(1, model.max_length if model.position == "learned" else None)
        self.model = model
        self.end_id = end_id
        self._search = _compile(model, start_id, end_id)

    def _search_batch(self, sources, options, prefixes, n_best):
        if options.beam_size > 1 or prefixes:
            setting = "prefixes" if prefixes else f"decoding.beam_size={options.beam_size}"
            advice = "" if prefixes else "set decoding.beam_size=1, or "
            raise ConfigError(
                f"The Keras engine has plain greedy search: {advice}use the NumPy engine for "
                f"{setting}"
            )
        count, longest = len(sources), max(map(len, sources))
        source_len = -(-longest // SOURCE_MULTIPLE) * SOURCE_MULTIPLE
        source_len = min(source_len, self.num_positions or source_len)
        padding = (BATCH_SIZE if count > 1 else 1) - count
        limits = [options.limit(len(source)) for source in sources] + [1] * padding
        found = self._search(
            pad([*sources, *[sources[0]] * padding], source_len),
            np.array(limits, "int32"),
            options.limit(source_len),
        )
        tokens, log_probs, lengths = (
            ops.convert_to_numpy(found[name]) for name in ("tokens", "log_probs", "length")
        )
        return [
            [self._hypothesis(tokens[row, :length], log_probs[row, :length])]
            for row, length in enumerate(lengths[:count])
        ]

    def _hypothesis(self, tokens: np.ndarray, log_probs: np.ndarray) -> Hypothesis:
        ids = tokens.tolist()
        ids = ids[:-1] if ids[-1] == self.end_id else ids
        total = float(log_probs.astype(float).sum())
        return Hypothesis(ids, total, total, log_probs.tolist())

    def _attend_batch(self, sources, target_inputs):
        _, scores = self.model(
            {"source": pad(sources), "target_input": pad(target_inputs)},
            return_attention_scores=True,
        )
        return {
            kind: np.stack([ops.convert_to_numpy(layer) for layer in layers], axis=1)
            for kind, layers in scores.items()
        }


def _compile(model: Transformer, start_id: int, end_id: int) -> Callable:
    """Returns `greedy_search` as a compiled function of source, limit and steps."""
    search = functools.partial(greedy_search, model, start_id, end_id)
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        signature = [tf.TensorSpec([None] * axes, tf.int32) for axes in (2, 1, 0)]
        return tf.function(search, input_signature=signature, autograph=False)
    if backend == "jax":
        import jax

        variables = model.variables

        def with_weights(values, source, limit, steps):
            # Weights that are not arguments would become constants of the program.
            with keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True))):
                return search(source, limit, steps)

        jitted = jax.jit(with_weights, static_argnums=3)
        return lambda *arguments: jitted([v.value for v in variables], *arguments)
    return search
