"""Groups encoded pairs by length into padded batches of a few shapes, with NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from transformer_tf.text.batching.encoded import EncodedPairs

Batch = tuple[dict[str, np.ndarray], np.ndarray]
Shape = tuple[int, int]
"""The length of the sources and of the targets of a batch."""


def shift_target(target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Splits targets into the input of the decoder and its expected output.

    Args:
        target: Integer array `(batch, target_len + 1)`: start, sub-words, end, padding.

    Returns:
        `target_input` and `target_output`, both `(batch, target_len)`. At each position the
        decoder sees `target_input` up to this position and learns to predict `target_output`
        at it. `target_input` lacks the last token, `target_output` the start.
    """
    return target[:, :-1], target[:, 1:]


def pad(
    sequences: Sequence[Sequence[int]] | np.ndarray,
    length: int | None = None,
    rows: int | None = None,
) -> np.ndarray:
    """Pads sequences with id 0.

    Args:
        sequences: Sequences of ids, none longer than `length`.
        length: Length of every row; by default that of the longest sequence.
        rows: Number of rows; by default the number of sequences. Extra rows are padding.

    Returns:
        `int32` array `(rows, length)`.
    """
    length = max(map(len, sequences)) if length is None else length
    padded = np.zeros((rows or len(sequences), length), dtype="int32")
    for row, sequence in zip(padded, sequences, strict=False):
        row[: len(sequence)] = sequence
    return padded


class Batches:
    """Batches of pairs of similar lengths, in a new order each epoch.

    Each pair goes into a bucket by its lengths. A bucket has one shape, with as many rows as the
    token budget allows. The pairs that do not fill a batch go to the next larger bucket that can
    hold them; if there is none, the batch is filled with rows of padding. A compiled training step
    therefore sees at most `max_buckets` shapes.

    A pair of weight w is shown w times in an epoch on average: a pair of weight 0.25 is in every
    fourth epoch, a pair of weight 2.5 is shown two or three times in each.

    Args:
        pairs: Encoded pairs, each sentence with start and end.
        tokens_per_batch: Maximum number of tokens of a batch on either side, with padding.
        max_buckets: Maximum number of shapes.
        seed: Seed of the order. The order of an epoch depends only on the pairs, the seed and the
            epoch number.
        shuffle: Whether to shuffle.
        rows_multiple: The number of rows of a batch is a multiple of this, for several devices.

    Attributes:
        shapes: The `(source_len, target_len)` of the buckets, in the order of their sizes.
        num_target_tokens: Number of real tokens in all `target_output` of the epoch.
        epochs_differ: Whether weights make the number of batches differ from epoch to epoch.
        padding_share: Share of padding among all tokens of the epoch, sources and targets.

    Raises:
        ValueError: If there are no pairs, or a sentence is longer than `tokens_per_batch`.
    """

    def __init__(
        self,
        pairs: EncodedPairs,
        tokens_per_batch: int = 1024,
        max_buckets: int = 16,
        seed: int = 0,
        shuffle: bool = True,
        rows_multiple: int = 1,
    ):
        if not len(pairs):
            raise ValueError("`pairs` must hold at least one pair. Received: none")
        self.tokens_per_batch = tokens_per_batch
        self.rows_multiple = rows_multiple
        self.seed = seed
        self.shuffle = shuffle
        self.pairs = pairs
        weights = pairs.weights
        self.epochs_differ = weights is not None and bool((weights % 1 != 0).any())
        source_lengths, target_lengths = _lengths(self.pairs)
        longest = int(max(source_lengths.max(), target_lengths.max()))
        if longest > tokens_per_batch:
            raise ValueError(
                "`tokens_per_batch` must hold the longest sentence. "
                f"Received: tokens_per_batch={tokens_per_batch}, a sentence of {longest} tokens"
            )
        self.shapes = choose_shapes(source_lengths, target_lengths, max_buckets)
        self._epoch = 0
        self._make_batches()

    def set_epoch(self, epoch: int) -> None:
        """Makes the batches of an epoch, counted from 0."""
        if epoch == self._epoch:
            return
        self._epoch = epoch
        self._make_batches()

    def _make_batches(self) -> None:
        shown = self._shown()
        source_lengths, target_lengths = (lengths[shown] for lengths in _lengths(self.pairs))
        self.num_target_tokens = int(target_lengths.sum())
        random = np.random.default_rng([self.seed, self._epoch])
        self._batches = self._group(
            shown, smallest_shape(source_lengths, target_lengths, self.shapes), random
        )
        padded = sum(self.rows(shape) * sum(shape) for shape, _ in self._batches)
        real = int(source_lengths.sum()) + self.num_target_tokens
        self.padding_share = 1 - real / padded

    def _shown(self) -> np.ndarray:
        """Returns the indices of the epoch's pairs, each repeated according to its weight."""
        weights = self.pairs.weights
        if weights is None or (weights == 1).all():
            return np.arange(len(self.pairs))
        weights = weights.astype(np.float64)
        # A pair is shown whenever the running sum of its weight, from a random start, passes an
        # integer.
        start = np.random.default_rng(self.seed).random(len(weights))
        before = np.floor(weights * self._epoch + start)
        after = np.floor(weights * (self._epoch + 1) + start)
        return np.repeat(np.arange(len(weights)), (after - before).astype(int))

    def _group(
        self, shown: np.ndarray, bucket: np.ndarray, random: np.random.Generator
    ) -> list[tuple[Shape, np.ndarray]]:
        """Groups pairs into batches, each with a shape and the indices of its pairs."""
        batches: list[tuple[Shape, np.ndarray]] = []
        left_over: list[list[np.ndarray]] = [[] for _ in self.shapes]
        counts = np.bincount(bucket, minlength=len(self.shapes))
        members = np.split(shown[np.argsort(bucket, kind="stable")], np.cumsum(counts)[:-1])
        for bucket_index, shape in enumerate(self.shapes):
            indices = np.concatenate([members[bucket_index], *left_over[bucket_index]])
            if self.shuffle:
                random.shuffle(indices)
            rows = self.rows(shape)
            whole = len(indices) // rows * rows
            batches += [(shape, indices[begin : begin + rows]) for begin in range(0, whole, rows)]
            larger = self._next_larger(bucket_index)
            if larger is not None:
                left_over[larger].append(indices[whole:])
            elif whole < len(indices):
                batches.append((shape, indices[whole:]))
        order = random.permutation(len(batches)) if self.shuffle else range(len(batches))
        return [batches[index] for index in order]

    def _next_larger(self, bucket_index: int) -> int | None:
        """Returns the next larger bucket that can hold the pairs of a bucket, if any."""
        source_len, target_len = self.shapes[bucket_index]
        for other in range(bucket_index + 1, len(self.shapes)):
            if self.shapes[other][0] >= source_len and self.shapes[other][1] >= target_len:
                return other
        return None

    def rows(self, shape: Shape) -> int:
        """Returns the number of rows of a batch of a shape."""
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
    """Returns the lengths of the sources and of the shifted targets."""
    return pairs.source.lengths, pairs.target.lengths - 1


def choose_shapes(
    source_lengths: np.ndarray, target_lengths: np.ndarray, max_buckets: int
) -> list[Shape]:
    """Chooses shapes that need little padding.

    The cost of a pair is `source_len + target_len` of the smallest shape that holds it. The search
    is greedy: it starts with the shape that holds every pair and repeatedly adds the shape that
    saves most. Then it replaces single shapes as long as this lowers the cost. The result is a
    local optimum.

    Args:
        source_lengths: Length of each source, at least 1.
        target_lengths: Length of each target, at least 1.
        max_buckets: Maximum number of shapes.

    Returns:
        The shapes `(source_len, target_len)`, from small to large.
    """
    longest = int(source_lengths.max()), int(target_lengths.max())
    counts = np.zeros((longest[0] + 1, longest[1] + 1))
    np.add.at(counts, (source_lengths, target_lengths), 1)
    grid = np.indices(counts.shape)
    sizes = grid.sum(axis=0).astype(float)

    def costs(shapes: list[Shape]) -> np.ndarray:
        """Returns the size of the smallest shape that holds a pair, for each pair of lengths."""
        cost = np.full(counts.shape, np.inf)
        for shape in shapes:
            held = cost[: shape[0] + 1, : shape[1] + 1]
            np.minimum(held, sum(shape), out=held)
        return cost

    def best_addition(shapes: list[Shape]) -> tuple[float, Shape]:
        """Returns the saving of the best additional shape, and the shape."""
        cost = costs(shapes)
        saved = np.zeros(counts.shape)
        for size in {sum(shape) for shape in shapes}:
            # A pair that costs `size` now would cost the size of the candidate.
            held = np.where(cost == size, counts, 0.0).cumsum(axis=0).cumsum(axis=1)
            saved += held * np.maximum(size - sizes, 0.0)
        best = np.unravel_index(saved.argmax(), saved.shape)
        return float(saved[best]), (int(best[0]), int(best[1]))

    shapes = [longest]
    while len(shapes) < max_buckets:
        saving, shape = best_addition(shapes)
        if not saving:
            break
        shapes.append(shape)
    total = float((costs(shapes) * counts).sum())
    moved = True
    while moved:
        moved = False
        for index in range(1, len(shapes)):
            others = shapes[:index] + shapes[index + 1 :]
            saving, shape = best_addition(others)
            new_total = float((costs(others) * counts).sum()) - saving
            if new_total < total - 0.5:  # totals are integers: less is a rounding error
                shapes[index], total, moved = shape, new_total, True
    return sorted(shapes, key=lambda shape: (sum(shape), shape))


def smallest_shape(
    source_lengths: np.ndarray, target_lengths: np.ndarray, shapes: Sequence[Shape]
) -> np.ndarray:
    """Returns the index of the first shape that holds each pair.

    Args:
        source_lengths: Length of each source.
        target_lengths: Length of each target.
        shapes: Shapes from small to large; the last one holds every pair.

    Returns:
        Integer array `(num_pairs,)`.
    """
    found = np.full(len(source_lengths), len(shapes) - 1)
    for index in reversed(range(len(shapes) - 1)):
        source_len, target_len = shapes[index]
        found[(source_lengths <= source_len) & (target_lengths <= target_len)] = index
    return found
