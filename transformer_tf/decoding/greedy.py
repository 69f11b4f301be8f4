"""Greedy search: always the likeliest next token; and sampling: one drawn at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from keras import ops

from transformer_tf.decoding.search import IMPOSSIBLE, Search, State, arg_max, keep
from transformer_tf.hypothesis import Hypothesis


class GreedySearch(Search):
    """Extends every sentence by its likeliest token until it ends.

    With a temperature above 0 the token is drawn instead: from softmax(logits / temperature), of
    the `top_k` likeliest tokens (Fan et al. 2018), of the likeliest that make up the share `top_p`
    together (Holtzman et al. 2020). A draw depends on the seed, the sentence's number and the
    position alone, not on the batch or the back end.
    """

    by_position = ("ids", "log_probs")
    outputs = ("ids", "log_probs", "length", "ended")

    def start(self, batch_size, slots, source_len) -> State:
        state = {
            "ids": ops.zeros((batch_size, 1, slots), "int32"),
            "length": ops.zeros((batch_size,), "int32"),
            "ended": ops.zeros((batch_size,), "bool"),
        }
        if self.options.scores:
            state["log_probs"] = ops.zeros((batch_size, 1, slots), "float32")
        return state

    def advance(self, state, logits, attention, slot):
        allowed = self.constrain(state, logits)
        choose = self._draw if self.options.temperature else _likeliest
        token = choose(state, allowed)  # (batch, 1)
        done, position = state["done"], state["position"]
        ends = token[:, 0] == self.end_id
        new = {
            **state,
            "token": token,
            "ids": keep(state["ids"], slot, token),
            "length": ops.where(done, state["length"], position + ops.cast(~ends, "int32")),
            "ended": ops.where(done, state["ended"], ends),
            "done": done | ends | (position + 1 >= state["limit"]),
        }
        if self.options.scores:
            chosen = ops.take_along_axis(logits, token[..., None], axis=-1)[..., 0]
            log_prob = chosen - ops.logsumexp(logits, axis=-1)
            new["log_probs"] = keep(state["log_probs"], slot, log_prob)
        return new

    def _draw(self, state, logits):
        """A token `(batch, 1)`: the arg-max of the scores with noise of Gumbel's distribution."""
        options, vocab_size = self.options, logits.shape[-1]
        logits = logits / options.temperature
        if options.top_k and options.top_k < vocab_size:
            least = self.top_k(logits[:, 0], options.top_k)[0][:, None, -1:]
            logits = ops.where(logits >= least, logits, IMPOSSIBLE)
        if options.top_p < 1:
            ordered = ops.flip(ops.sort(logits, axis=-1), axis=-1)
            shares = ops.softmax(ordered, axis=-1)
            before = ops.cumsum(shares, axis=-1) - shares
            kept = ops.where(before < options.top_p, ordered, -IMPOSSIBLE)
            logits = ops.where(logits >= ops.min(kept, axis=-1, keepdims=True), logits, IMPOSSIBLE)
        tokens = ops.arange(vocab_size, dtype="int32")
        uniform = _uniform(state["seed"][:, None], state["position"][:, None], tokens)
        gumbel = -ops.log(-ops.log(uniform))
        return arg_max(logits + gumbel[:, None])[1]

    def hypotheses(self, found):
        length, ended = int(found["length"]), bool(found["ended"])
        ids = found["ids"][0, :length].tolist()
        if "log_probs" not in found:
            return [Hypothesis(ids)]
        log_probs = found["log_probs"][0, : length + ended].astype(float)
        total = float(np.sum(log_probs))
        return [Hypothesis(ids, total, total, log_probs.tolist())]


def _likeliest(state, logits):
    return arg_max(logits)[1]


def sentence_seeds(seed: int, numbers: Sequence[int]) -> np.ndarray:
    """Seeds of the draws of sentences, from the seed of all and the number of each.

    Args:
        seed: At least 0 and less than 2³².
        numbers: Numbers at least 0 and less than 2³¹.

    Returns:
        `int32` array `(sentences,)`.
    """
    mixed = _mixed(_mixed(np.uint32(0), np.array([seed], "uint32")), np.array(numbers, "uint32"))
    return (ops.convert_to_numpy(mixed) >> 1).astype("int32")  # no sign


def _uniform(*integers):
    """Numbers between 0 and 1 that depend on integers alone."""
    bits = np.uint32(0)
    for integer in integers:
        bits = _mixed(bits, ops.cast(integer, "uint32"))
    # 23 bits and a half are exact in float32; with one more the largest number would round to 1.
    return (ops.cast(ops.right_shift(bits, np.uint32(9)), "float32") + 0.5) * 2.0**-23


def _mixed(bits, integer):
    """32 bits of earlier integers and of another one, by the finaliser of MurmurHash3.

    See Appleby 2011.
    """
    return _mix(ops.bitwise_xor(_mix(integer + np.uint32(0x9E3779B9)), bits))


def _mix(x):
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x = ops.bitwise_xor(x, ops.right_shift(x, np.uint32(shift))) * np.uint32(factor)
    return ops.bitwise_xor(x, ops.right_shift(x, np.uint32(16)))
