"""The progress of a training, which a resumed run continues."""

from __future__ import annotations

import dataclasses
import math
from typing import Any


@dataclasses.dataclass
class Progress:
    """The progress of a run.

    Attributes:
        step: Number of batches trained on.
        seconds: Time spent on training and validation, in all parts of the run.
        best: The best validation score so far; None before the first validation.
        validations_since_best: Number of validations since then.
        rows: The metrics of each validation.
        fingerprint: A hash of the training pairs.
    """

    step: int = 0
    seconds: float = 0.0
    best: float | None = None
    validations_since_best: int = 0
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    fingerprint: str = ""

    def add_score(self, score: float, metric: str) -> bool:
        """Adds the score of a validation. Returns whether it is the best so far.

        Args:
            score: The score.
            metric: `perplexity`, the lower the better, or another one, the higher the better.
        """
        sign = -1 if metric == "perplexity" else 1
        if math.isfinite(score) and (self.best is None or sign * score > sign * self.best):
            self.best, self.validations_since_best = score, 0
            return True
        self.validations_since_best += 1
        return False
