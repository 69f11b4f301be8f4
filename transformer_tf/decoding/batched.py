"""Search and attention in batches of sentences of similar length."""

from __future__ import annotations

import abc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from transformer_tf.decoding.hypothesis import BATCH_SIZE, Hypothesis, TokenIds
from transformer_tf.errors import ConfigError

if TYPE_CHECKING:
    from transformer_tf.config import DecodingConfig

ATTEND_BATCH_SIZE = 32


class BatchedEngine(abc.ABC):
    """An `Engine` that searches in several batches at the same time.

    Args:
        workers: Number of batches to search at the same time.
        num_positions: Number of positions in the model's learned table; None if positions are
            computed, for any length.
    """

    def __init__(self, workers: int, num_positions: int | None):
        self.workers = workers
        self.num_positions = num_positions

    def search(
        self,
        sources: TokenIds,
        options: DecodingConfig,
        prefixes: TokenIds | None = None,
        progress: Callable[[int], object] | None = None,
        n_best: int = 1,
    ) -> list[list[Hypothesis]]:
        """Translates sentences: see `Engine.search`."""
        # `attend` reads a translation after the start token.
        if self.num_positions is not None and options.max_length >= self.num_positions:
            raise ConfigError(
                f"decoding.max_length must be less than {self.num_positions}, the number of "
                f"learned positions, not {options.max_length}"
            )
        found: list[list[Hypothesis]] = [[] for _ in sources]

        def run(batch: list[int]) -> None:
            hypotheses = self._search_batch(
                [sources[index] for index in batch],
                options,
                None if prefixes is None else [prefixes[index] for index in batch],
                n_best,
            )
            for index, best in zip(batch, hypotheses, strict=True):
                found[index] = best
            if progress:
                progress(len(batch))

        # The longest first, so that the last batch to finish is a short one.
        order = sorted(range(len(sources)), key=lambda index: len(sources[index]), reverse=True)
        batches = _split(order, self._batch_size(len(sources)))
        if len(batches) == 1:  # without a thread, so that Ctrl-C stops it at once
            run(batches[0])
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                list(pool.map(run, batches))
        return found

    def attend(self, sources: TokenIds, target_inputs: TokenIds) -> list[dict[str, np.ndarray]]:
        """Returns the attention scores of given translations: see `Engine.attend`."""
        found: list[dict[str, np.ndarray]] = [{} for _ in sources]
        order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
        for batch in _split(order, ATTEND_BATCH_SIZE):
            scores = self._attend_batch(
                [sources[index] for index in batch], [target_inputs[index] for index in batch]
            )
            for row, index in enumerate(batch):
                source_len, target_len = len(sources[index]), len(target_inputs[index])
                lengths = {
                    "encoder": (source_len, source_len),
                    "decoder": (target_len, target_len),
                    "cross": (target_len, source_len),
                }
                found[index] = {
                    kind: scores[kind][row, :, :, :query_len, :key_len]
                    for kind, (query_len, key_len) in lengths.items()
                }
        return found

    def _batch_size(self, count: int) -> int:
        """Returns the number of sentences in a batch, for a search of `count` sentences."""
        return BATCH_SIZE

    @abc.abstractmethod
    def _search_batch(
        self, sources: TokenIds, options: DecodingConfig, prefixes: TokenIds | None, n_best: int
    ) -> list[list[Hypothesis]]:
        """Translates the sentences of a batch."""

    @abc.abstractmethod
    def _attend_batch(self, sources: TokenIds, target_inputs: TokenIds) -> dict[str, np.ndarray]:
        """Returns arrays `(batch, num_layers, num_heads, query_len, key_len)` for each kind."""


def _split(order: list[int], size: int) -> list[list[int]]:
    return [order[begin : begin + size] for begin in range(0, len(order), size)]
