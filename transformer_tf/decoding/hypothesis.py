"""The interface of a search engine, and the hypotheses that it returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from transformer_tf.config import DecodingConfig


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """A translation as token ids.

    Attributes:
        ids: The tokens, without start and end.
        score: The value that hypotheses are ranked by: the log-probability, which beam search
            divides by the length penalty. None if scores were not requested.
        log_prob: Natural logarithm of the probability of all tokens, the end token included.
        token_log_probs: Natural logarithm of the probability of each token, and of the end token
            unless the translation was cut at its maximum length.
    """

    ids: list[int]
    score: float | None = None
    log_prob: float | None = None
    token_log_probs: list[float] | None = None


class Engine(Protocol):
    """Searches for translations of token ids, and computes attention scores."""

    def search(
        self,
        sources: Sequence[Sequence[int]],
        options: DecodingConfig,
        prefixes: Sequence[Sequence[int]] | None = None,
        progress: Callable[[int], object] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> list[list[Hypothesis]]:
        """Returns the hypotheses of each sentence of ids, the best first."""

    def attend(
        self, sources: Sequence[Sequence[int]], target_inputs: Sequence[Sequence[int]]
    ) -> list[dict[str, np.ndarray]]:
        """Returns the attention scores of each pair of ids, as in `Attention.scores`."""
