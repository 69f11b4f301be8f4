"""Encoded sentences in flat arrays: five million pairs take 300 MB."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import chain, compress
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from transformer_tf.text.corpora.cleaning import Pair
    from transformer_tf.text.tokenization.tokenizer import Tokenizer

_CHUNK = 20_000  # pairs that are encoded together


class Sequences(Sequence[np.ndarray]):
    """Integer sequences of different lengths, one after the other in a single array.

    Args:
        ids: All ids.
        lengths: Length of each sequence.
    """

    def __init__(self, ids: np.ndarray, lengths: np.ndarray):
        self.ids = ids
        self.lengths = lengths
        self._ends = np.cumsum(lengths, dtype=np.int64)

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[int]], dtype: Any = np.int32) -> Sequences:
        """Joins lists of ids in one array."""
        lengths = np.fromiter(map(len, lists), dtype=np.int32, count=len(lists))
        ids = np.fromiter(chain.from_iterable(lists), dtype=dtype, count=int(lengths.sum()))
        return cls(ids, lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: Any) -> Any:
        end = self._ends[index]
        return self.ids[end - self.lengths[index] : end]


@dataclasses.dataclass(frozen=True)
class EncodedPairs:
    """Sentence pairs as ids, each sentence with start and end.

    Attributes:
        source: The sources.
        target: The targets, in the same order.
        weights: How often an epoch shows each pair, `(num_pairs,)`; None for once.
    """

    source: Sequences
    target: Sequences
    weights: np.ndarray | None = None

    @classmethod
    def from_lists(cls, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> EncodedPairs:
        """Joins pairs of lists of ids in arrays."""
        source, target = (Sequences.from_lists([pair[side] for pair in pairs]) for side in (0, 1))
        return cls(source, target)

    def __len__(self) -> int:
        return len(self.source)


def encode_pairs(
    pairs: Sequence[Pair],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    max_length: int,
    weights: np.ndarray | None = None,
) -> EncodedPairs:
    """Encodes pairs and removes those with a side that is too long.

    Args:
        pairs: Sentence pairs.
        source_tokenizer: The tokenizer of the sources.
        target_tokenizer: The tokenizer of the targets.
        max_length: Maximum number of sub-words of a side, without start and end.
        weights: How often an epoch shows each pair, `(len(pairs),)`; None for once.

    Returns:
        The pairs in their order.
    """
    tokenizers = source_tokenizer, target_tokenizer
    dtypes = [
        np.uint16 if tokenizer.vocab_size <= 1 << 16 else np.int32 for tokenizer in tokenizers
    ]
    chunks = [[Sequences.from_lists([], dtype)] for dtype in dtypes]
    kept: list[bool] = []
    for begin in range(0, len(pairs), _CHUNK):
        sides = zip(*pairs[begin : begin + _CHUNK], strict=True)
        encoded = [
            tokenizer.encode_sentences(texts)
            for tokenizer, texts in zip(tokenizers, sides, strict=True)
        ]
        fits = [max(map(len, pair)) <= max_length + 2 for pair in zip(*encoded, strict=True)]
        kept += fits
        for parts, lists, dtype in zip(chunks, encoded, dtypes, strict=True):
            parts.append(Sequences.from_lists([*compress(lists, fits)], dtype))
    source, target = (
        Sequences(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.lengths for part in parts]),
        )
        for parts in chunks
    )
    return EncodedPairs(source, target, None if weights is None else weights[kept])
