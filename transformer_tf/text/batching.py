"""Ids → length-bucketed, padded batches of a bounded number of shapes, in NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Batch = tuple[dict[str, np.ndarray], np.ndarray]


def shift_target(target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the decoder reads and what it should say: the one place where they are shifted.

    Args:
        target: Integer array `(batch, target_len + 1)`: start, sub-words, end, padding.

    Returns:
        `target_input` and `target_output`, both `(batch, target_len)`: at each position the
        decoder sees the tokens of `target_input` up to there and should produce
        `target_output` there. No row of `target_input` loses a token but the last one, whose
        successor nobody asks for.
    """
    return target[:, :-1], target[:, 1:]


def pad(
    sequences: Sequence[Sequence[int]] | np.ndarray, length: int, rows: int | None = None
) -> np.ndarray:
    """Fills sequences up with padding (id 0).

    Args:
        sequences: Lists of ids, none longer than `length`.
        length: Length of every row.
        rows: Number of rows; by default as many as sequences. Rows beyond them are all padding.

    Returns:
        `int32` array `(rows, length)`.
    """
    padded = np.zeros((rows or len(sequences), length), dtype="int32")
    for row, sequence in zip(padded, sequences, strict=False):
        row[: len(sequence)] = sequence
    return padded


class Batches:
    """Batches of similar lengths, in a new order each epoch.

    Pairs are put into buckets by their lengths, and each bucket has one shape: the longest source
    and target in it, and as many rows as the token budget allows. A bucket's last batch of an
    epoch is filled up with rows of padding, so that a compiled training step meets each of at
    most `max_shapes` shapes, whatever the corpus.

    Args:
        pairs: Pairs of id lists, source and target, each with start and end.
        tokens_per_batch: Most tokens of a batch on either side, padding included.
        max_shapes: Most different shapes.
        seed: Seed of the order. The order of an epoch depends on nothing but the seed and the
            epoch's number.
        shuffle: Whether to shuffle at all; a validation set need not be.

    Raises:
        ValueError: If there are no pairs, or one is longer than `tokens_per_batch`.
    """

    def __init__(
        self,
        pairs: Sequence[tuple[Sequence[int], Sequence[int]]],
        tokens_per_batch: int = 1024,
        max_shapes: int = 16,
        seed: int = 0,
        shuffle: bool = True,
    ):
        if not pairs:
            raise ValueError("`pairs` must hold at least one pair. Received: none")
        self.pairs = pairs
        self.seed = seed
        self.shuffle = shuffle
        source_lengths = np.array([len(source) for source, _ in pairs])
        target_lengths = np.array([len(target) - 1 for _, target in pairs])  # after the shift
        longest = max(source_lengths.max(), target_lengths.max())
        if longest > tokens_per_batch:
            raise ValueError(
                "`tokens_per_batch` must hold the longest sentence. "
                f"Received: tokens_per_batch={tokens_per_batch}, {longest} tokens long"
            )
        self.num_target_tokens = int(target_lengths.sum())
        self.shapes, members = choose_shapes(source_lengths, target_lengths, max_shapes)
        self._batches: list[tuple[int, int, int, np.ndarray]] = []
        self._buckets = []
        padded = 0
        for (source_len, target_len), indices in zip(self.shapes, members, strict=True):
            rows = tokens_per_batch // max(source_len, target_len)
            self._buckets.append((rows, source_len, target_len, indices))
            padded += -(-len(indices) // rows) * rows * (source_len + target_len)
        self.padding_share = 1 - float(source_lengths.sum() + target_lengths.sum()) / padded
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Puts the batches into the order of an epoch, counted from 0."""
        random = np.random.default_rng([self.seed, epoch])
        self._batches = []
        for rows, source_len, target_len, indices in self._buckets:
            order = random.permutation(indices) if self.shuffle else indices
            for begin in range(0, len(order), rows):
                members = order[begin : begin + rows]
                self._batches.append((rows, source_len, target_len, members))
        if self.shuffle:
            random.shuffle(self._batches)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._batches)

    def __getitem__(self, index: int) -> Batch:
        rows, source_len, target_len, members = self._batches[index]
        source = pad([self.pairs[i][0] for i in members], source_len, rows)
        target = pad([self.pairs[i][1] for i in members], target_len + 1, rows)
        target_input, target_output = shift_target(target)
        return {"source": source, "target_input": target_input}, target_output

    def target_tokens(self, index: int) -> int:
        """Number of real tokens of `target_output` in a batch."""
        return sum(len(self.pairs[i][1]) - 1 for i in self._batches[index][3])


def choose_shapes(
    source_lengths: np.ndarray, target_lengths: np.ndarray, max_shapes: int
) -> tuple[list[tuple[int, int]], list[np.ndarray]]:
    """Chooses the bucket shapes that need the least padding.

    First the target lengths are cut into ranges, then the source lengths within each range; of
    all numbers of ranges whose product is within `max_shapes` the best is taken.

    Args:
        source_lengths: Length of each source.
        target_lengths: Length of each target.
        max_shapes: Most buckets.

    Returns:
        The shapes `(source_len, target_len)` of the buckets and the indices of each one's pairs.
    """
    best: tuple[list[tuple[int, int]], list[np.ndarray]] = ([], [])
    least = np.inf
    for num_targets in range(1, max_shapes + 1):
        shapes, members = [], []
        target_ends = _best_ranges(target_lengths, num_targets)
        bucket = np.searchsorted(target_ends, target_lengths)
        for number in range(len(target_ends)):
            inside = np.flatnonzero(bucket == number)
            sources = source_lengths[inside]
            source_ends = _best_ranges(sources, max_shapes // num_targets)
            cell = np.searchsorted(source_ends, sources)
            for source_number, source_end in enumerate(source_ends):
                shapes.append((int(source_end), int(target_ends[number])))
                members.append(inside[cell == source_number])
        cost = sum(sum(shape) * len(m) for shape, m in zip(shapes, members, strict=True))
        if cost < least:
            least, best = cost, (shapes, members)
    return best


def _best_ranges(lengths: np.ndarray, num_ranges: int) -> np.ndarray:
    """Upper ends of at most `num_ranges` ranges of lengths, with the least padding in all.

    Dynamic programming over the distinct lengths: `cost[j]` is the padded size of all sequences
    up to the j-th distinct length with the ranges used so far.
    """
    values, counts = np.unique(lengths, return_counts=True)
    total = np.concatenate([[0], np.cumsum(counts)])
    # padded[i, j]: tokens when the distinct lengths i … j share a range; no range for i > j.
    padded = (total[None, 1:] - total[:-1, None]) * values[None, :].astype(float)
    padded[np.tril_indices(len(values), -1)] = np.inf
    cost, begins = padded[0], []
    for _ in range(min(num_ranges, len(values)) - 1):
        candidates = np.concatenate([[0.0], cost[:-1]])[:, None] + padded
        begins.append(candidates.argmin(axis=0))
        cost = candidates.min(axis=0)
    end, ends = len(values) - 1, []
    for begin in reversed(begins):
        ends.append(values[end])
        end = begin[end] - 1
        if end < 0:
            break
    else:
        ends.append(values[end])
    return np.array(ends[::-1])
