"""Greedy search: always the likeliest next token."""

from collections.abc import Callable

import numpy as np


def greedy_search(
    step: Callable[[np.ndarray], np.ndarray],
    max_lengths: np.ndarray,
    start_id: int,
    end_id: int,
) -> list[list[int]]:
    """Extends every sentence of a batch by its likeliest token until all have ended.

    Args:
        step: From the target so far, `int32` `(batch, target_len)`, to the scores of the token
            that follows, `(batch, target_vocab_size)`.
        max_lengths: Most tokens of each result, `(batch,)`.
        start_id: The token every target starts with.
        end_id: The token that ends a target.

    Returns:
        A list of ids for each sentence, without start and end.
    """
    batch = len(max_lengths)
    target = np.full((batch, 1), start_id, dtype="int32")
    ended = max_lengths < 1
    lengths = np.zeros(batch, dtype="int32")
    while not ended.all():
        token = np.asarray(step(target)).argmax(axis=-1).astype("int32")
        target = np.concatenate([target, token[:, None]], axis=1)
        ended |= token == end_id
        lengths[~ended] += 1
        ended |= lengths >= max_lengths
    return [row[1 : 1 + length].tolist() for row, length in zip(target, lengths, strict=True)]
