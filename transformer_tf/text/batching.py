"""Ids → length-bucketed, padded batches of a bounded number of shapes, in NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from transformer_tf.text.encoded import EncodedPairs

Batch = tuple[dict[str, np.ndarray], np.ndarray]
Shape = tuple[int, int]
"""Length of the sources and of the targets of a batch."""


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
        sequences: Sequences of ids, none longer than `length`.
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

    Pairs are put into buckets by their lengths, and each bucket has one shape, with as many rows
    as the token budget allows. What is left over when a bucket has been dealt out in full batches
    goes on to the next larger bucket that holds it; only where there is none is a batch filled up
    with rows of padding. So a compiled training step meets at most `max_shapes` shapes, whatever
    the corpus.

    Args:
        pairs: Encoded pairs, each sentence with start and end.
        tokens_per_batch: Most tokens of a batch on either side, padding included.
        max_shapes: Most different shapes.
        seed: Seed of the order. The order of an epoch depends on nothing but the pairs, the seed
            and the epoch's number.
        shuffle: Whether to shuffle at all; a validation set need not be.
        resample: From the number of an epoch to the pairs of that epoch, for an encoding that is
            drawn at random. They take the place of `pairs`.
        max_length: Most ids of a sentence of any epoch, start and end included. Needed with
            `resample`: the shapes are chosen once and must hold what is still to be drawn.
        rows_multiple: Every batch has a multiple of so many rows, for devices that share it.

    Attributes:
        shapes: The `(source_len, target_len)` of the buckets, in the order of their sizes.
        num_target_tokens: Real tokens of all `target_output` of the epoch.
        resampled: Whether the pairs of an epoch are drawn at random, so that their number of
            batches differs from epoch to epoch.
        padding_share: Share of padding among all tokens of the epoch, sources and targets.

    Raises:
        ValueError: If there are no pairs, or one is longer than `tokens_per_batch`.
    """

    def __init__(
        self,
        pairs: EncodedPairs,
        tokens_per_batch: int = 1024,
        max_shapes: int = 16,
        seed: int = 0,
        shuffle: bool = True,
        resample: Callable[[int], EncodedPairs] | None = None,
        max_length: int | None = None,
        rows_multiple: int = 1,
    ):
        if not len(pairs):
            raise ValueError("`pairs` must hold at least one pair. Received: none")
        if resample and not max_length:
            raise ValueError("`resample` needs `max_length`. Received: max_length=None")
        self.tokens_per_batch = tokens_per_batch
        self.rows_multiple = rows_multiple
        self.seed = seed
        self.shuffle = shuffle
        self.pairs = pairs
        self.resampled = resample is not None
        self._resample = resample
        if resample:
            self.pairs = resample(0)
        source_lengths, target_lengths = _lengths(self.pairs)
        if max_length:
            source_lengths = np.append(source_lengths, max_length)
            target_lengths = np.append(target_lengths, max_length - 1)
        longest = int(max(source_lengths.max(), target_lengths.max()))
        if longest > tokens_per_batch:
            raise ValueError(
                "`tokens_per_batch` must hold the longest sentence. "
                f"Received: tokens_per_batch={tokens_per_batch}, {longest} tokens long"
            )
        self.shapes = choose_shapes(source_lengths, target_lengths, max_shapes)
        self._epoch = 0
        self._shuffle_and_deal()

    def set_epoch(self, epoch: int) -> None:
        """Puts the batches into the order of an epoch, counted from 0."""
        if epoch == self._epoch:
            return
        self._epoch = epoch
        if self._resample:
            self.pairs = self._resample(epoch)
        self._shuffle_and_deal()

    def _shuffle_and_deal(self) -> None:
        source_lengths, target_lengths = _lengths(self.pairs)
        self.num_target_tokens = int(target_lengths.sum())
        random = np.random.default_rng([self.seed, self._epoch])
        self._batches = self._deal(
            smallest_shape(source_lengths, target_lengths, self.shapes), random
        )
        padded = sum(self.rows(shape) * sum(shape) for shape, _ in self._batches)
        real = int(source_lengths.sum()) + self.num_target_tokens
        self.padding_share = 1 - real / padded

    def _deal(
        self, bucket: np.ndarray, random: np.random.Generator
    ) -> list[tuple[Shape, np.ndarray]]:
        """Deals pairs out: the shape and the pairs of each batch.

        Args:
            bucket: Number of each pair's bucket.
            random: Decides the order.
        """
        batches: list[tuple[Shape, np.ndarray]] = []
        left_over: list[list[np.ndarray]] = [[] for _ in self.shapes]
        counts = np.bincount(bucket, minlength=len(self.shapes))
        members = np.split(np.argsort(bucket, kind="stable"), np.cumsum(counts)[:-1])
        for number, shape in enumerate(self.shapes):
            indices = np.concatenate([members[number], *left_over[number]])
            if self.shuffle:
                random.shuffle(indices)
            rows = self.rows(shape)
            whole = len(indices) // rows * rows
            batches += [(shape, indices[begin : begin + rows]) for begin in range(0, whole, rows)]
            larger = self._next_larger(number)
            if larger is not None:
                left_over[larger].append(indices[whole:])
            elif whole < len(indices):
                batches.append((shape, indices[whole:]))
        order = random.permutation(len(batches)) if self.shuffle else range(len(batches))
        return [batches[index] for index in order]

    def _next_larger(self, number: int) -> int | None:
        """The next bucket that can hold the pairs of a bucket, if any."""
        source_len, target_len = self.shapes[number]
        for other in range(number + 1, len(self.shapes)):
            if self.shapes[other][0] >= source_len and self.shapes[other][1] >= target_len:
                return other
        return None

    def rows(self, shape: Shape) -> int:
        """Number of rows of a batch of a shape."""
        rows = self.tokens_per_batch // max(shape)
        return max(rows // self.rows_multiple, 1) * self.rows_multiple

    def __len__(self) -> int:
        return len(self._batches)

    def __getitem__(self, index: int) -> Batch:
        shape, members = self._batches[index]
        rows = self.rows(shape)
        source = pad([self.pairs.source[i] for i in members], shape[0], rows)
        target = pad([self.pairs.target[i] for i in members], shape[1] + 1, rows)
        target_input, target_output = shift_target(target)
        return {"source": source, "target_input": target_input}, target_output


def _lengths(pairs: EncodedPairs) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the sources, and of the targets once they are shifted."""
    return pairs.source.lengths, pairs.target.lengths - 1


def choose_shapes(
    source_lengths: np.ndarray, target_lengths: np.ndarray, max_shapes: int
) -> list[Shape]:
    """Chooses the shapes that need little padding.

    A pair costs `source_len + target_len` of the smallest shape that holds it. Beginning with the
    shape that holds all, the shape that saves most is added, one after the other; then each shape
    in turn is moved to where it saves most beside the others, until none moves any more. Not
    always the best choice of all, but never worse than the first shape alone, and every single
    step is the best one.

    Args:
        source_lengths: Length of each source, at least 1.
        target_lengths: Length of each target, at least 1.
        max_shapes: Most shapes.

    Returns:
        The shapes `(source_len, target_len)`, from small to large.
    """
    longest = int(source_lengths.max()), int(target_lengths.max())
    counts = np.zeros((longest[0] + 1, longest[1] + 1))
    np.add.at(counts, (source_lengths, target_lengths), 1)
    grid = np.indices(counts.shape)
    sizes = grid.sum(axis=0).astype(float)

    def costs(shapes: list[Shape]) -> np.ndarray:
        """Size of the smallest shape that holds a pair, for each pair of lengths."""
        cost = np.full(counts.shape, np.inf)
        for shape in shapes:
            held = cost[: shape[0] + 1, : shape[1] + 1]
            np.minimum(held, sum(shape), out=held)
        return cost

    def best_addition(shapes: list[Shape]) -> tuple[float, Shape]:
        """The shape that saves most beside others, and how much it saves."""
        cost = costs(shapes)
        saved = np.zeros(counts.shape)
        for size in {sum(shape) for shape in shapes}:
            # Every pair that now costs `size` would cost the candidate's own size instead.
            held = np.where(cost == size, counts, 0.0).cumsum(axis=0).cumsum(axis=1)
            saved += held * np.maximum(size - sizes, 0.0)
        best = np.unravel_index(saved.argmax(), saved.shape)
        return float(saved[best]), (int(best[0]), int(best[1]))

    shapes = [longest]
    while len(shapes) < max_shapes:
        saving, shape = best_addition(shapes)
        if not saving:
            break
        shapes.append(shape)
    total = float((costs(shapes) * counts).sum())
    moved = True
    while moved:
        moved = False
        for number in range(1, len(shapes)):
            others = shapes[:number] + shapes[number + 1 :]
            saving, shape = best_addition(others)
            new_total = float((costs(others) * counts).sum()) - saving
            if new_total < total - 0.5:  # whole numbers: less than one is rounding
                shapes[number], total, moved = shape, new_total, True
    return sorted(shapes, key=lambda shape: (sum(shape), shape))


def smallest_shape(
    source_lengths: np.ndarray, target_lengths: np.ndarray, shapes: Sequence[Shape]
) -> np.ndarray:
    """The number of the first shape that holds each pair.

    Args:
        source_lengths: Length of each source.
        target_lengths: Length of each target.
        shapes: Shapes from small to large; the last one holds every pair.

    Returns:
        Integer array, one number for each pair.
    """
    number = np.full(len(source_lengths), len(shapes) - 1)
    for index in reversed(range(len(shapes) - 1)):
        source_len, target_len = shapes[index]
        number[(source_lengths <= source_len) & (target_lengths <= target_len)] = index
    return number
