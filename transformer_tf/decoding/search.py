"""What all searches share."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from keras import ops

from transformer_tf.config import DecodingConfig
from transformer_tf.hypothesis import Hypothesis

# Instead of minus infinity, which makes a nan of a difference.
IMPOSSIBLE = -1e9

BLOCK = 16

State = dict[str, Any]


class Search(abc.ABC):
    """Chooses the tokens of many translations, one position at a time.

    A search knows no model: it is given the scores of the next token and says which ones it takes.
    It works on a state, a dictionary of tensors whose first axis is the batch. The loop keeps in it

    | key | shape | what |
    | --- | --- | --- |
    | `token` | `(batch, beam_size)` | the newest token of each hypothesis |
    | `parent` | `(batch, beam_size)` | which hypothesis of the step before it extends |
    | `position` | `(batch,)` | the number of tokens before the one that is to be chosen |
    | `limit` | `(batch,)` | most tokens of a translation, its end included |
    | `done` | `(batch,)` | whether the sentence needs no more steps |
    | `seed` | `(batch,)` | what the random draws of the sentence depend on |
    | `prefix` | `(batch, prefix_len)` | tokens to begin with, -1 after the last of them |

    and a search adds its own.

    Args:
        options: How to search.
        end_id: The token that ends a translation.
        compiled: Whether XLA will compile the search, for which some things are better written in
            another way.
    """

    beam_size = 1

    def __init__(self, options: DecodingConfig, end_id: int, compiled: bool = True):
        self.options = options
        self.end_id = end_id
        self.top_k = top_k if compiled else ops.top_k

    @abc.abstractmethod
    def start(self, batch_size, slots, source_len) -> State:
        """The search's own part of the state at the beginning of each sentence.

        Args:
            batch_size: Number of sentences.
            slots: Number of positions to keep.
            source_len: Length of the padded sources.
        """

    @abc.abstractmethod
    def advance(self, state: State, logits, attention, slot) -> State:
        """Takes a step.

        Args:
            state: The state.
            logits: Scores of the next token, `(batch, beam_size, vocab_size)`.
            attention: Where the hypotheses look in the source, `(batch, beam_size, source_len)`.
            slot: Where among the positions that are kept this step belongs.

        Returns:
            The new state: `token`, `parent`, `done` and the search's own part.
        """

    @abc.abstractmethod
    def hypotheses(self, found: dict[str, np.ndarray]) -> list[Hypothesis]:
        """The translations of a sentence, the best first.

        Args:
            found: The search's own part of the state of the sentence once it is done, with
                position 0 at index 0 of what is kept by position.
        """

    # Keys of `start` that are kept by position, with the axis of the position.
    by_position: tuple[str, ...] = ()
    # Keys of `start` that `hypotheses` needs.
    outputs: tuple[str, ...] = ()

    def constrain(self, state: State, logits):
        """Rules out what may not come next: an end that is too early, all but a forced token."""
        ids = ops.arange(logits.shape[-1], dtype="int32")[None, None]
        position = state["position"][:, None, None]
        if self.options.min_length:
            early = ops.logical_and(ids == self.end_id, position < self.options.min_length)
            logits = ops.where(early, IMPOSSIBLE, logits)
        prefix = state.get("prefix")
        if prefix is not None:
            length = ops.shape(prefix)[1]
            index = ops.minimum(state["position"], length - 1)[:, None]
            forced = ops.take_along_axis(prefix, index, axis=1)[:, :, None]
            free = ops.logical_or(forced < 0, position >= length)
            logits = ops.where(ops.logical_or(free, ids == forced), logits, IMPOSSIBLE)
        return logits


def keep(history, slot, values):
    """Puts the values of a step among those of the others.

    Args:
        history: Tensor `(batch, beam_size, slots)`.
        slot: Where.
        values: Tensor `(batch, beam_size)`.
    """
    return ops.slice_update(history, (0, 0, slot), ops.cast(values, history.dtype)[..., None])


def arg_max(scores):
    """The largest of the scores and its index, over the last axis.

    In two reductions over numbers, which vectorise; `ops.argmax` reduces pairs of score and index,
    which does not: 1.1 ms instead of 0.2 for 64 × 8 000 scores on a CPU.

    Args:
        scores: Tensor `(..., size)`, of at most 2²⁴ scores.

    Returns:
        The scores `(...)` and the indices `(...)`, int32; of equal scores the first.
    """
    size = scores.shape[-1]
    best = ops.max(scores, axis=-1)
    index = ops.where(scores >= best[..., None], ops.arange(size, dtype="float32"), float(size - 1))
    return best, ops.cast(ops.min(index, axis=-1), "int32")


def top_k(scores, k: int):
    """The k largest of the scores and their indices, over the last axis.

    XLA sorts all of them for `ops.top_k`: 175 ms for 128 × 8 000 scores on a CPU. But the k
    largest are in the k blocks with the largest maxima, and those are found in the same way.

    Args:
        scores: Tensor `(batch, size)`, of at most 2²⁴ scores.
        k: How many, at most `size`.

    Returns:
        The scores `(batch, k)`, falling, and the indices `(batch, k)`, int32.
    """
    size, batch = scores.shape[-1], ops.shape(scores)[0]
    blocks = size // BLOCK
    if blocks < 2 * k:
        return _largest(scores, k)
    whole = blocks * BLOCK
    maxima = ops.max(ops.reshape(scores[:, :whole], (batch, blocks, BLOCK)), axis=-1)
    _, block = top_k(maxima, k)
    index = ops.reshape(
        block[..., None] * BLOCK + ops.arange(BLOCK, dtype="int32"), (batch, k * BLOCK)
    )
    rest = ops.broadcast_to(ops.arange(whole, size, dtype="int32"), (batch, size - whole))
    index = ops.concatenate([index, rest], axis=-1)
    best, which = _largest(ops.take_along_axis(scores, index, axis=-1), k)
    return best, ops.take_along_axis(index, which, axis=-1)


def _largest(scores, k: int):
    """`top_k` by taking the largest k times."""
    found = []
    for _ in range(k):
        best, index = arg_max(scores)
        found.append((best, index))
        here = ops.arange(scores.shape[-1], dtype="int32") == index[..., None]
        scores = ops.where(here, 2 * IMPOSSIBLE, scores)
    bests, indices = zip(*found, strict=True)
    return ops.stack(bests, axis=-1), ops.stack(indices, axis=-1)
