"""BPE-dropout: the sub-words of a word, some merges left out at random (Provilkov et al. 2020).

SentencePiece has it too, but seeds its generator with the address of a thread: no two processes
would draw the same, and no run could be repeated or resumed.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

# A word that comes often takes one of so many drawn ways to write it: drawing each time anew
# would take ten times as long.
VARIANTS = 16


class MergeDropout:
    """Cuts words into sub-words, each possible merge left out with some probability.

    Args:
        scores: The pieces of the model and their scores; the higher, the earlier merged.
        dropout: Probability that a merge is left out, from 0 to less than 1.
        seed: Seed of the draw.
    """

    def __init__(self, scores: Mapping[str, float], dropout: float, seed: int):
        self.scores = scores
        self.dropout = dropout
        self.random = random.Random(seed)
        self._drawn: dict[str, list[list[str]]] = {}

    def cut(self, pieces: Sequence[str]) -> list[str]:
        """Cuts a sentence anew.

        Args:
            pieces: Its pieces as the model cuts it, a word's first one beginning with "▁".
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
            return pieces  # characters spelt in bytes, such as <0xF0>, or unknown
        drawn = self._drawn.setdefault(word, [])
        if len(drawn) == VARIANTS:
            return self.random.choice(drawn)
        drawn.append(self._merge(list(word)))
        return drawn[-1]

    def _merge(self, symbols: list[str]) -> list[str]:
        """Merges neighbours, the earliest learnt first, until none is left or all are left out."""
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
