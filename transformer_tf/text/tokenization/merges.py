"""BPE-dropout: splits words into sub-words with random merges skipped (Provilkov et al. 2020).

SentencePiece seeds its own BPE-dropout with the address of a thread, so a run could be neither
repeated nor resumed.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

# Number of random splits kept for a word. A new split each time would take ten times as long.
VARIANTS = 16


class MergeDropout:
    """Splits words into sub-words and skips each possible merge with some probability.

    Args:
        scores: The pieces of the model and their scores. Higher scores are merged first.
        dropout: Probability that a merge is skipped, from 0 to less than 1.
        seed: Seed of the random numbers.
    """

    def __init__(self, scores: Mapping[str, float], dropout: float, seed: int):
        self.scores = scores
        self.dropout = dropout
        self.random = random.Random(seed)
        self._drawn: dict[str, list[list[str]]] = {}

    def cut(self, pieces: Sequence[str]) -> list[str]:
        """Splits a sentence in a random way.

        Args:
            pieces: The pieces of the model; the first piece of a word begins with "▁".
        """
        result: list[str] = []
        begin = 0
        for end in range(1, len(pieces) + 1):
            if end == len(pieces) or pieces[end].startswith("▁"):
                result += self._word(pieces[begin:end])
                begin = end
        return result

    def _word(self, pieces: Sequence[str]) -> Sequence[str]:
        word = "".join(pieces)
        if any(unit not in self.scores for unit in (*pieces, *word)):
            return pieces  # bytes such as <0xF0>, or unknown characters
        drawn = self._drawn.setdefault(word, [])
        if len(drawn) == VARIANTS:
            return self.random.choice(drawn)
        drawn.append(self._merge(list(word)))
        return drawn[-1]

    def _merge(self, symbols: list[str]) -> list[str]:
        """Merges neighbours, highest score first, until no merge is left or all are skipped."""
        scores, dropout, draw = self.scores, self.dropout, self.random.random
        while True:
            best, where = -float("inf"), -1
            for number in range(len(symbols) - 1):
                score = scores.get(symbols[number] + symbols[number + 1])
                if score is not None and score > best and draw() >= dropout:
                    best, where = score, number
            if where < 0:
                return symbols
            symbols[where : where + 2] = [symbols[where] + symbols[where + 1]]
