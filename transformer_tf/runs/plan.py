"""The plan of a run: its steps, its validations and its learning rate."""

from __future__ import annotations

import dataclasses
import sys

from transformer_tf.config import TrainingConfig
from transformer_tf.errors import ConfigError
from transformer_tf.training.schedule import PAPER_WARMUP_STEPS, TransformerSchedule
from transformer_tf.utils.tables import grouped

MIN_VALIDATIONS = 10


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan of a run.

    Attributes:
        max_steps: Number of steps of the whole run; a step is one batch and one update.
        validate_every: Number of steps between validations.
        warmup: Number of steps until the highest learning rate.
        cooldown: Number of steps at the end over which the learning rate falls to zero.
    """

    max_steps: int
    validate_every: int
    warmup: int
    cooldown: int

    def summary(self) -> str:
        """Describes the plan in one line."""
        cooldown = (
            f" and falls to 0 over the last {grouped(self.cooldown)}" if self.cooldown else ""
        )
        return (
            f"{grouped(self.max_steps)} steps with a validation every "
            f"{grouped(self.validate_every)}; the learning rate rises for {grouped(self.warmup)} "
            f"steps{cooldown}"
        )


def plan_run(training: TrainingConfig, steps_per_epoch: int) -> Plan:
    """Plans a run.

    Args:
        training: The configuration.
        steps_per_epoch: Number of batches of an epoch.
    """
    steps = min(training.max_epochs * steps_per_epoch, training.max_steps or sys.maxsize)
    return Plan(
        max_steps=steps,
        validate_every=training.validate_every
        or min(steps_per_epoch, max(steps // MIN_VALIDATIONS, 1)),
        warmup=max(_in_steps(training.warmup_steps, steps), 1),
        cooldown=_in_steps(training.cooldown_steps, steps),
    )


def make_schedule(training: TrainingConfig, plan: Plan, d_model: int) -> TransformerSchedule:
    """Returns the learning rate of a run.

    In the paper's curve, a shorter warm-up raises the highest rate, and in a short run the model
    does not learn. Here the highest rate is that of the paper's 4 000 warm-up steps.

    Args:
        training: The configuration.
        plan: The plan of the run.
        d_model: Size of the model's vectors.
    """
    return TransformerSchedule(
        d_model,
        plan.warmup,
        training.learning_rate_scale * (plan.warmup / PAPER_WARMUP_STEPS) ** 0.5,
        plan.cooldown,
        plan.max_steps,
    )


def check_schedule(training: TrainingConfig, plan: Plan) -> None:
    """Checks that the warm-up and the cool-down leave half of the steps.

    Raises:
        ConfigError: If they do not.
    """
    if plan.warmup + plan.cooldown > max(plan.max_steps / 2, 1):
        raise ConfigError(
            f"training.warmup_steps={training.warmup_steps} and "
            f"training.cooldown_steps={training.cooldown_steps} leave less than half of the run's "
            f"{plan.max_steps} steps: choose shares such as 0.1 and 0.2, or a longer run"
        )


def _in_steps(number_or_share: float, steps: int) -> int:
    """Converts a share of all steps to a number; a number stays as it is."""
    return int(number_or_share if number_or_share >= 1 else number_or_share * steps)
