"""What a search finds."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """A translation as token ids.

    Attributes:
        ids: The tokens, without start and end.
        score: What hypotheses are ranked by: with beam search the log-probability divided by the
            length penalty, less the coverage penalty; else the log-probability. None if scores
            were not asked for.
        log_prob: Natural logarithm of the probability of the whole, its end included.
        token_log_probs: That of each token and then, if the translation came to an end rather
            than to its greatest length, of the end.
    """

    ids: list[int]
    score: float | None = None
    log_prob: float | None = None
    token_log_probs: list[float] | None = None
