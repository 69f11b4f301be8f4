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
        best: The lowest validation perplexity so far.
        validations_since_best: Number of validations since then.
        rows: The metrics of each validation.
        fingerprint: A hash of the training pairs.
        plan: The plan of a run with a time limit.
        limits: The limits that it was made for.
    """

    step: int = 0
    seconds: float = 0.0
    best: float = math.inf
    validations_since_best: int = 0
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    fingerprint: str = ""
    plan: dict[str, int] = dataclasses.field(default_factory=dict)
    limits: dict[str, float | None] = dataclasses.field(default_factory=dict)

    def add_perplexity(self, perplexity: float) -> bool:
        """Adds the perplexity of a validation. Returns whether it is the lowest so far."""
        if perplexity < self.best:
            self.best, self.validations_since_best = perplexity, 0
            return True
        self.validations_since_best += 1
        return False
