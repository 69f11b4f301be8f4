"""The plan of a run: its steps, its validations and its learning rate."""

from __future__ import annotations

import dataclasses
import sys

from transformer_tf.config import TrainingConfig
from transformer_tf.errors import ConfigError
from transformer_tf.training.schedule import PAPER_WARMUP_STEPS, TransformerSchedule
from transformer_tf.utils.tables import grouped

MIN_VALIDATIONS = 10
MAX_VALIDATION_SHARE = 0.2  # of a time limit
SAFETY = 0.95  # share of a time limit that the plan fills


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


def plan_in_time(
    training: TrainingConfig,
    steps_per_epoch: int,
    seconds: float,
    seconds_per_step: float,
    seconds_per_validation: float = 0.0,
) -> Plan:
    """Plans a run that has a time limit.

    Validations take at most a fifth of the time, unless `training.validate_every` asks for more. A
    warm-up and a cool-down of more than half of the run are shortened to half of it.

    Args:
        training: The configuration.
        steps_per_epoch: Number of batches of an epoch.
        seconds: The time for steps and validations.
        seconds_per_step: The time of a step.
        seconds_per_validation: The time of a validation.
    """
    seconds, epoch = SAFETY * seconds, steps_per_epoch * seconds_per_step
    if training.validate_every:
        every = training.validate_every
        seconds -= seconds_per_validation  # the last one
        steps = int(seconds / (seconds_per_step + seconds_per_validation / every))
    else:
        count = max(MIN_VALIDATIONS, int(seconds / epoch))
        if seconds_per_validation:
            count = min(count, int(MAX_VALIDATION_SHARE * seconds / seconds_per_validation))
        count = max(count, 1)
        steps = int((seconds - count * seconds_per_validation) / seconds_per_step)
        every = max(-(-steps // count), 1)
    steps = max(min(steps, training.max_steps or sys.maxsize), 1)
    plan = plan_run(dataclasses.replace(training, max_steps=steps), steps_per_epoch)
    if plan.max_steps < steps:  # the epochs end first
        return plan
    shorter = min(plan.max_steps / 2 / max(plan.warmup + plan.cooldown, 1), 1.0)
    return dataclasses.replace(
        plan,
        validate_every=every,
        warmup=max(int(shorter * plan.warmup), 1),
        cooldown=int(shorter * plan.cooldown),
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
