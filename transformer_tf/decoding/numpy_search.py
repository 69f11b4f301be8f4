"""Greedy and beam search in NumPy: from the logits of each step to hypotheses.

A search needs no model. It takes the logits of the next tokens and returns the chosen ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from transformer_tf.config.schema import DecodingConfig
from transformer_tf.decoding.hypothesis import Hypothesis, TokenIds

NEG_INF = np.float32(-1e9)  # the log-probability of a token that is ruled out
BLOCK_SIZE = 16


class Greedy:
    """Extends each translation by its likeliest next token until it ends.

    Args:
        options: The search options.
        end_id: The id of the end token.
        limits: The maximum number of tokens of each translation, the end token included.
        prefixes: The first tokens of each translation; None for no prefixes.
        copied_ids: The ids of placeholders.
        wanted: Boolean array `(batch, placeholders)`: which of them a translation has, each once.
    """

    def __init__(
        self,
        options: DecodingConfig,
        end_id: int,
        limits: Sequence[int],
        prefixes: TokenIds | None,
        copied_ids: Sequence[int] = (),
        wanted: np.ndarray | None = None,
    ):
        self.options = options
        self.end_id = end_id
        self.position = 0
        self.limits = np.array(limits, "float32")
        self.prefixes = prefixes
        self.copied_ids = np.array(copied_ids, int)
        self.wanted = np.zeros((len(limits), 0), bool) if wanted is None else wanted
        shape = (len(limits), options.beam_size, 0)
        # The tokens of each hypothesis so far, and their log-probabilities.
        self.tokens = np.zeros(shape, int)
        self.log_probs = np.zeros(shape, "float32")

    def advance(
        self, logits: np.ndarray, unfinished: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Extends each hypothesis by one token.

        Args:
            logits: Logits of the next token, `(batch, beam_size, vocab_size)`; overwritten.
            unfinished: Boolean array `(batch,)`: whether the search of the row goes on.

        Returns:
            The new tokens `(batch, beam_size)`, the indices of the hypotheses that they extend
            `(batch, beam_size)`, and whether the search of each row is over, `(batch,)`.
        """
        norm = log_sum_exp(logits)
        self.constrain(logits)
        token = logits.argmax(axis=-1)  # among equal logits, the first
        log_prob = np.take_along_axis(logits, token[..., None], axis=-1) - norm
        self.tokens = np.concatenate([self.tokens, token[..., None]], axis=2)
        self.log_probs = np.concatenate([self.log_probs, log_prob], axis=2)
        self.position += 1
        done = (token[:, 0] == self.end_id) | (self.position >= self.limits)
        return token, np.zeros_like(token), done

    def hypotheses(self, row: int) -> list[Hypothesis]:
        """Returns the translations of a row whose search is over, best first."""
        ids = self.tokens[row, 0].tolist()
        ids = ids[:-1] if ids[-1] == self.end_id else ids
        log_probs = self.log_probs[row, 0].astype(float)
        total = float(log_probs.sum())
        return [Hypothesis(ids, total, total, log_probs.tolist())]

    def keep(self, rows: np.ndarray) -> None:
        """Keeps the rows where the boolean array `(batch,)` is True, and drops the others."""
        self.limits, self.tokens = self.limits[rows], self.tokens[rows]
        self.log_probs, self.wanted = self.log_probs[rows], self.wanted[rows]
        if self.prefixes is not None:
            self.prefixes = [self.prefixes[row] for row in np.flatnonzero(rows).tolist()]

    def constrain(self, logits: np.ndarray) -> None:
        """Rules out tokens that differ from the prefix, and an end before all placeholders."""
        if len(self.copied_ids):
            seen = (self.tokens[..., None] == self.copied_ids).any(axis=2)  # (batch, beam, copies)
            missing = self.wanted[:, None] & ~seen
            logits[..., self.copied_ids] = np.where(missing, logits[..., self.copied_ids], NEG_INF)
            logits[missing.any(axis=2), self.end_id] = NEG_INF
        for row, prefix in enumerate(self.prefixes or ()):
            if self.position < len(prefix):
                forced = logits[row, :, prefix[self.position]].copy()
                logits[row] = NEG_INF
                logits[row, :, prefix[self.position]] = forced


class Beam(Greedy):
    """Keeps the `beam_size` likeliest unfinished hypotheses of each translation.

    Each step ranks the extensions of all unfinished hypotheses and takes the best
    2 · `beam_size`. Those among the first `beam_size` that end are finished: they are stored with
    their scores and leave the beam. The best others remain in the beam. The search of a sentence
    is done when no unfinished hypothesis can still overtake the n-th best finished one,
    n = `n_best`. The bound is log-probability / penalty(limit), since a log-probability can only
    fall.

    The score of a hypothesis Y is log P(Y|X) / lp(Y) with lp(Y) = ((5 + |Y|) / 6)^α, where α is
    the length penalty and |Y| counts the end token (Wu et al. 2016, equation 14).

    Args:
        options, end_id, limits, prefixes, copied_ids, wanted: As in `Greedy`.
        n_best: Number of hypotheses to return, at most `beam_size`.
    """

    def __init__(self, options, end_id, limits, prefixes, n_best=1, copied_ids=(), wanted=None):
        super().__init__(options, end_id, limits, prefixes, copied_ids, wanted)
        self.n_best = n_best
        self.totals = np.full((len(limits), options.beam_size), NEG_INF)  # log-probabilities
        # All hypotheses are equal at first, so all but one are ruled out.
        self.totals[:, 0] = 0
        self.finished: list[list[Hypothesis]] = [[] for _ in limits]  # best first

    def advance(self, logits, unfinished):
        batch, beam, vocab_size = logits.shape
        norm = log_sum_exp(logits)
        self.constrain(logits)
        logits += self.totals[..., None] - norm
        totals, index = top_k(logits.reshape(batch, -1), min(2 * beam, beam * vocab_size))
        parent, token = np.divmod(index, vocab_size)
        log_prob = totals - np.take_along_axis(self.totals, parent, axis=1)

        ends = token == self.end_id
        self.position += 1
        finishing = ends[:, :beam] & (totals[:, :beam] > NEG_INF / 2) & unfinished[:, None]
        for row, rank in np.argwhere(finishing):
            self._store_finished(row, parent[row, rank], totals[row, rank], log_prob[row, rank])

        index = np.argsort(ends, axis=1, kind="stable")[:, :beam]  # the best that do not end
        token, parent, log_prob, self.totals = (
            np.take_along_axis(x, index, axis=1) for x in (token, parent, log_prob, totals)
        )
        self.tokens = _extend(self.tokens, parent, token)
        self.log_probs = _extend(self.log_probs, parent, log_prob)
        # The search is over when no unfinished hypothesis can overtake the n-th best finished one.
        best_possible_score = self.totals[:, 0] / self._length_penalty(self.limits)
        n = self.n_best
        nth_score = [best[n - 1].score if len(best) >= n else NEG_INF for best in self.finished]
        decided = np.array(nth_score) >= best_possible_score
        return token, parent, decided | (self.position >= self.limits)

    def _store_finished(
        self, row: int, parent: int, total: np.float32, end_log_prob: np.float32
    ) -> None:
        """Stores a hypothesis that ends, if it is among the `beam_size` best of its row."""
        score = total / self._length_penalty(self.position)
        log_probs = [*self.log_probs[row, parent].tolist(), float(end_log_prob)]
        ids = self.tokens[row, parent].tolist()
        finished = self.finished[row]
        finished.append(Hypothesis(ids, float(score), float(total), log_probs))
        finished.sort(key=lambda hypothesis: hypothesis.score, reverse=True)
        del finished[self.options.beam_size :]

    def _length_penalty(self, length):
        return ((np.float32(5) + length) / np.float32(6)) ** np.float32(self.options.length_penalty)

    def hypotheses(self, row):
        # If too few are finished, those that were cut at the maximum length follow.
        penalty = self._length_penalty(self.position)
        cut = [
            Hypothesis(ids.tolist(), float(total / penalty), float(total), log_probs.tolist())
            for ids, total, log_probs in zip(
                self.tokens[row], self.totals[row], self.log_probs[row], strict=True
            )
            if total > NEG_INF / 2
        ]
        return (self.finished[row] + cut)[: self.n_best]

    def keep(self, rows):
        super().keep(rows)
        self.totals = self.totals[rows]
        self.finished = [self.finished[row] for row in np.flatnonzero(rows)]


def _extend(history: np.ndarray, parent: np.ndarray, newest: np.ndarray) -> np.ndarray:
    """Takes the history of each hypothesis's parent and appends the newest value."""
    history = np.take_along_axis(history, parent[..., None], axis=1)
    return np.concatenate([history, newest[..., None]], axis=2)


def log_sum_exp(logits: np.ndarray) -> np.ndarray:
    """Returns log Σ exp over the last axis, which is kept with size 1."""
    largest = logits.max(axis=-1, keepdims=True)
    return largest + np.log(np.exp(logits - largest).sum(axis=-1, keepdims=True))


def top_k(values: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the k largest values of each row and their indices.

    The k largest values lie in the k blocks with the largest maxima. Only these blocks are sorted:
    0.8 ms instead of 5.2 for a partition of all 64 × 32 008 values.

    Args:
        values: Array `(batch, size)`.
        k: Number of values, at most `size`.

    Returns:
        The values `(batch, k)`, largest first, and the indices `(batch, k)`. Equal values are in
        the order of their indices.
    """
    size = values.shape[1]
    blocks = size // BLOCK_SIZE  # block i: i, i + blocks, i + 2 · blocks, …
    index = np.broadcast_to(np.arange(size), values.shape)
    if blocks > k:
        maxima = values[:, : blocks * BLOCK_SIZE].reshape(-1, BLOCK_SIZE, blocks).max(axis=1)
        block = np.sort(np.argpartition(maxima, -k, axis=1)[:, -k:], axis=1)
        index = block[:, None, :] + blocks * np.arange(BLOCK_SIZE)[:, None]
        rest = np.broadcast_to(
            np.arange(blocks * BLOCK_SIZE, size), (len(values), size % BLOCK_SIZE)
        )
        index = np.concatenate([index.reshape(len(values), -1), rest], axis=1)
    chosen = np.take_along_axis(values, index, axis=1)
    order = np.argsort(-chosen, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(chosen, order, axis=1), np.take_along_axis(index, order, axis=1)
