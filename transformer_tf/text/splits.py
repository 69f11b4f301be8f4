"""Train, validation and test, without a sentence in common."""

from __future__ import annotations

import hashlib

import numpy as np

TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")


def text_hash(text: str, seed: int | None = None) -> int:
    """A number of 64 bits for a text, the same everywhere and always.

    Two texts of ten million have the same one with a chance of three in a million.

    Args:
        text: A folded sentence.
        seed: Gives other numbers for another seed.
    """
    key = text if seed is None else f"{seed}\t{text}"
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


class Splitter:
    """Deals pairs to the three splits and counts what is left out.

    Args:
        split: Place in `SPLITS` of each pair's split as the corpus has it; 0, train, if it has
            none.
        source_hash: Seeded hash of each folded source sentence.
        target_hash: Hash of each folded target sentence.
        pair_hash: Hash of each pair.
        removed: Takes the number of pairs that each step leaves out.
    """

    def __init__(
        self,
        split: np.ndarray,
        source_hash: np.ndarray,
        target_hash: np.ndarray,
        pair_hash: np.ndarray,
        removed: dict[str, int],
    ):
        self._pair_hash = pair_hash
        self._hashes = {"source": source_hash, "target": target_hash}
        self._removed = removed
        self.members = {name: np.flatnonzero(split == code) for code, name in enumerate(SPLITS)}
        self._given = {name for name in SPLITS if len(self.members[name])}

    def drop_duplicates(self) -> None:
        """Keeps the first of equal pairs of the training split."""
        train = self.members[TRAIN]
        _, first = np.unique(self._pair_hash[train], return_index=True)
        self._keep(TRAIN, np.sort(train[first]), "exact duplicate")

    def draw(self, name: str, size: int) -> None:
        """Makes a split of about `size` pairs, from the training pairs if the corpus has none.

        Those sentences are drawn whose source hashes lowest, each with all its translations. So a
        sentence's place does not depend on the rest of the corpus: when it grows, old source
        sentences only ever move across a boundary in one direction, from test to validation to
        train. (An old target sentence that gets another source may move to the test set.)
        """
        if name in self._given:
            self._keep_lowest(name, size, f"{name}_size")
            return
        train = self.members[TRAIN]
        hashes = self._hashes["source"][train]
        values, counts = np.unique(hashes, return_counts=True)
        filled = np.cumsum(counts)
        # The first sentences with which there are `size` pairs or more.
        drawn = values[: int(np.searchsorted(filled, size)) + 1] if size else values[:0]
        chosen = np.isin(hashes, drawn)
        self.members[name], self.members[TRAIN] = train[chosen], train[~chosen]

    def drop_leaks(self, name: str, held_out: tuple[str, ...]) -> None:
        """Leaves out of a split what shares a sentence, on either side, with held-out splits."""
        others = np.concatenate([self.members[other] for other in held_out])
        for side, hashes in self._hashes.items():
            indices = self.members[name]
            kept = indices[~np.isin(hashes[indices], hashes[others])]
            self._keep(name, kept, f"{side} leak ({name})")

    def keep_at_most(self, size: int) -> None:
        """Keeps a random subset of the training pairs, which holds that of any smaller size."""
        self._keep_lowest(TRAIN, size, "max_pairs")

    def _keep_lowest(self, name: str, size: int, step: str) -> None:
        indices = self.members[name]
        order = np.argsort(self._hashes["source"][indices], kind="stable")
        self._keep(name, np.sort(indices[order[:size]]), step)

    def _keep(self, name: str, kept: np.ndarray, step: str) -> None:
        self._removed[step] = len(self.members[name]) - len(kept)
        self.members[name] = kept
