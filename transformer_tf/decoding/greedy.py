"""Greedy search and sampling: one hypothesis, extended by the likeliest or by a random token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from keras import ops

from transformer_tf.decoding.hypothesis import Hypothesis
from transformer_tf.decoding.search import NEG_INF, Search, State, arg_max, write_step


class GreedySearch(Search):
    """Extends each translation by its likeliest next token until it ends.

    With a temperature above 0 the next token is drawn from softmax(logits / temperature), among
    the `top_k` likeliest tokens (Fan et al. 2018) or the likeliest tokens that together have the
    probability `top_p` (Holtzman et al. 2020). A draw depends only on the seed, the sentence's
    number and the position, not on the batch or the backend.
    """

    outputs = ("tokens", "log_probs", "length", "ended")

    def start(self, batch_size, max_length) -> State:
        shape = (batch_size, 1, max_length)
        state = {
            "tokens": ops.zeros(shape, "int32"),
            "length": ops.zeros((batch_size,), "int32"),
            "ended": ops.zeros((batch_size,), "bool"),
        }
        if self.options.scores:
            state["log_probs"] = ops.zeros(shape, "float32")
        return state

    def advance(self, state, logits, step):
        allowed = self.constrain(state, logits, step)
        if self.options.temperature:
            token = self._draw(state["seed"], allowed, step)
        else:
            _, token = arg_max(allowed)  # (batch, 1)
        done = state["done"]
        ends = token[:, 0] == self.end_id
        new_state = {
            **state,
            "token": token,
            "tokens": write_step(state["tokens"], step, token),
            "length": ops.where(done, state["length"], step + ops.cast(~ends, "int32")),
            "ended": ops.where(done, state["ended"], ends),
            "done": done | ends | (step + 1 >= state["limit"]),
        }
        if self.options.scores:
            logit = ops.take_along_axis(logits, token[..., None], axis=-1)[..., 0]
            log_prob = logit - ops.logsumexp(logits, axis=-1)
            new_state["log_probs"] = write_step(state["log_probs"], step, log_prob)
        return new_state

    def _draw(self, seed, logits, step):
        """Draws a token `(batch, 1)`: the arg-max of the logits plus Gumbel noise."""
        options, vocab_size = self.options, logits.shape[-1]
        logits = logits / options.temperature
        if options.top_k and options.top_k < vocab_size:
            smallest = self.top_k(logits[:, 0], options.top_k)[0][:, None, -1:]
            logits = ops.where(logits >= smallest, logits, NEG_INF)
        if options.top_p < 1:
            ordered = ops.flip(ops.sort(logits, axis=-1), axis=-1)
            probabilities = ops.softmax(ordered, axis=-1)
            before = ops.cumsum(probabilities, axis=-1) - probabilities
            kept = ops.where(before < options.top_p, ordered, -NEG_INF)
            logits = ops.where(logits >= ops.min(kept, axis=-1, keepdims=True), logits, NEG_INF)
        tokens = ops.arange(vocab_size, dtype="int32")
        gumbel = -ops.log(-ops.log(_uniform(seed[:, None], step, tokens)))
        return arg_max(logits + gumbel[:, None])[1]

    def hypotheses(self, found):
        length, ended = int(found["length"]), bool(found["ended"])
        ids = found["tokens"][0, :length].tolist()
        if "log_probs" not in found:
            return [Hypothesis(ids)]
        log_probs = found["log_probs"][0, : length + ended].astype(float)
        total = float(np.sum(log_probs))
        return [Hypothesis(ids, total, total, log_probs.tolist())]


def sentence_seeds(seed: int, numbers: Sequence[int]) -> np.ndarray:
    """Returns one seed for each sentence.

    Args:
        seed: The seed of the search, at least 0 and less than 2³².
        numbers: The number of each sentence, at least 0 and less than 2³¹.

    Returns:
        `int32` array `(sentences,)` of non-negative seeds.
    """
    mixed = _mix_in(_mix_in(np.uint32(0), np.array([seed], "uint32")), np.array(numbers, "uint32"))
    return (ops.convert_to_numpy(mixed) >> 1).astype("int32")


def _uniform(*integers):
    """Hashes integers to numbers between 0 and 1, exclusive.

    `keras.random` draws a whole batch from one seed, and different numbers on each backend.
    """
    bits = np.uint32(0)
    for integer in integers:
        bits = _mix_in(bits, ops.cast(integer, "uint32"))
    # 23 bits plus one half are exact in float32; with 24 bits the largest would round to 1.
    return (ops.cast(ops.right_shift(bits, np.uint32(9)), "float32") + 0.5) * 2.0**-23


def _mix_in(bits, integer):
    """Updates a 32-bit hash with one more integer."""
    return _mix(ops.bitwise_xor(_mix(integer + np.uint32(0x9E3779B9)), bits))


def _mix(x):
    """Applies the finalizer of MurmurHash3 (Appleby 2011)."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x = ops.bitwise_xor(x, ops.right_shift(x, np.uint32(shift))) * np.uint32(factor)
    return ops.bitwise_xor(x, ops.right_shift(x, np.uint32(16)))
