"""Splits pairs into train, validation and test without shared sentences."""

from __future__ import annotations

import hashlib

import numpy as np

TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")


def text_hash(text: str, seed: int | None = None) -> int:
    """Returns a 64-bit hash of a text that is the same on every machine.

    The chance that any two of ten million texts share a hash is three in a million.

    Args:
        text: A folded sentence.
        seed: Seed of the hash; None for a hash without a seed.
    """
    key = text if seed is None else f"{seed}\t{text}"
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


class Splitter:
    """Assigns pairs to the three splits and counts those that are removed.

    Args:
        split: For each pair the index in `SPLITS` of its split in the corpus; 0 (train) if the
            corpus has no splits.
        source_hash: Seeded hash of each folded source sentence.
        target_hash: Hash of each folded target sentence.
        pair_hash: Hash of each pair.
        removed: Receives the number of pairs that each step removes.
        mixed: True for training pairs that are never drawn for another split; by default none.

    Attributes:
        members: The indices of the pairs of each split.
        removed: The number of pairs that each step has removed.
    """

    def __init__(
        self,
        split: np.ndarray,
        source_hash: np.ndarray,
        target_hash: np.ndarray,
        pair_hash: np.ndarray,
        removed: dict[str, int],
        mixed: np.ndarray | None = None,
    ):
        self._pair_hash = pair_hash
        self._hashes = {"source": source_hash, "target": target_hash}
        self.removed = removed
        self._mixed = np.zeros(len(split), dtype=bool) if mixed is None else mixed
        self.members = {name: np.flatnonzero(split == code) for code, name in enumerate(SPLITS)}
        self._given = {name for name in SPLITS if len(self.members[name])}

    @property
    def num_drawable(self) -> int:
        """Number of training pairs that may be drawn for another split."""
        return int((~self._mixed[self.members[TRAIN]]).sum())

    def drop_duplicates(self) -> None:
        """Keeps the first of equal pairs of the training split."""
        train = self.members[TRAIN]
        _, first = np.unique(self._pair_hash[train], return_index=True)
        self._keep(TRAIN, np.sort(train[first]), "exact duplicate")

    def draw(self, name: str, size: int) -> None:
        """Draws a split of about `size` training pairs, or cuts the corpus's own split to `size`.

        The source sentences with the lowest hashes are drawn, each with all its translations. The
        split of a sentence does not depend on the rest of the corpus: when the corpus grows, old
        source sentences only move from test to validation to train. (An old target sentence with
        a new source can move to the test set.)
        """
        if name in self._given:
            given = self.members[name]
            order = np.argsort(self._hashes["source"][given], kind="stable")
            self._keep(name, np.sort(given[order[:size]]), f"over held_out_size ({name})")
            return
        train = self.members[TRAIN]
        hashes = self._hashes["source"][train]
        drawable = ~self._mixed[train]
        values, counts = np.unique(hashes[drawable], return_counts=True)
        filled = np.cumsum(counts)
        # The fewest sentences that together have at least `size` pairs.
        drawn = values[: int(np.searchsorted(filled, size)) + 1] if size else values[:0]
        chosen = np.isin(hashes, drawn) & drawable
        self.members[name], self.members[TRAIN] = train[chosen], train[~chosen]

    def drop_leaks(self, name: str, held_out: tuple[str, ...]) -> None:
        """Removes pairs of a split that share a sentence, on either side, with held-out splits."""
        others = np.concatenate([self.members[other] for other in held_out])
        for side, hashes in self._hashes.items():
            indices = self.members[name]
            kept = indices[~np.isin(hashes[indices], hashes[others])]
            self._keep(name, kept, f"{side} leak ({name})")

    def _keep(self, name: str, kept: np.ndarray, step: str) -> None:
        self.removed[step] = len(self.members[name]) - len(kept)
        self.members[name] = kept
