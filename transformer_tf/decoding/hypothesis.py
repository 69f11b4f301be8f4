"""The interface of a search engine, and the hypotheses that it returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from transformer_tf.config import DecodingConfig

TokenIds = Sequence[Sequence[int]]
BATCH_SIZE = 64  # sentences to translate at a time


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """A translation as token ids.

    Attributes:
        ids: The tokens, without start and end.
        score: The value that hypotheses are ranked by: the log-probability, which beam search
            divides by the length penalty.
        log_prob: Natural logarithm of the probability of all tokens, the end token included.
        token_log_probs: Natural logarithm of the probability of each token, and of the end token
            unless the translation was cut at its maximum length. CTranslate2 returns none, and no
            `log_prob` for a beam.
    """

    ids: list[int]
    score: float
    log_prob: float | None = None
    token_log_probs: list[float] | None = None


class Engine(Protocol):
    """Searches for translations of token ids, and computes attention scores."""

    def search(
        self,
        sources: TokenIds,
        options: DecodingConfig,
        prefixes: TokenIds | None = None,
        progress: Callable[[int], object] | None = None,
        n_best: int = 1,
    ) -> list[list[Hypothesis]]:
        """Translates sentences of token ids.

        Args:
            sources: The source ids of each sentence, start and end included.
            options: The search options.
            prefixes: The first tokens of each translation.
            progress: Called with the number of sentences of each batch that is done.
            n_best: Number of hypotheses of each sentence, at most `beam_size`.

        Returns:
            For each sentence its `n_best` hypotheses, the best first.

        Raises:
            ConfigError: If the engine does not support an option, or if `max_length` is too large
                for the learned positions, which CTranslate2 does not check.
        """

    def attend(self, sources: TokenIds, target_inputs: TokenIds) -> list[dict[str, np.ndarray]]:
        """Returns the attention scores of given translations.

        One pass over each whole translation gives the scores of all steps of its search, since the
        decoder is causal.

        Args:
            sources: The source ids of each sentence, start and end included.
            target_inputs: The decoder's input ids of each sentence, start included.

        Returns:
            For each sentence a dictionary of three arrays
            `(num_layers, num_heads, query_len, key_len)`: `encoder`, `decoder` and `cross`.
        """
