"""The learning rate of §5.3 of "Attention Is All You Need"."""

import keras
from keras import ops

PAPER_WARMUP_STEPS = 4000


@keras.saving.register_keras_serializable(package="transformer_tf")
class TransformerSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up, then decay with the inverse square root of the step (equation 3).

    rate = scale · d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5)

    The first update is step 1, so its rate is not 0. An addition to the paper: over the last
    `cooldown_steps` updates the rate falls linearly to 0.

    Args:
        d_model: Size of the model's vectors.
        warmup_steps: Updates until the highest rate, scale · (d_model · warmup_steps)^-0.5.
        scale: Factor on the whole curve; 1 in the paper.
        steps_per_update: Batches whose gradients Keras accumulates for one update; it calls the
            schedule with the number of batches, not of updates.
        cooldown_steps: Updates at the end over which the rate falls to 0; 0 for none.
        last_update: Number of the last update, from 1; needed for `cooldown_steps`.

    Raises:
        ValueError: If `d_model` or `warmup_steps` is less than 1, or `last_update` is missing.
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int = PAPER_WARMUP_STEPS,
        scale: float = 1.0,
        steps_per_update: int = 1,
        cooldown_steps: int = 0,
        last_update: int | None = None,
    ):
        super().__init__()
        if d_model < 1 or warmup_steps < 1:
            raise ValueError(
                "`d_model` and `warmup_steps` must be at least 1. "
                f"Received: d_model={d_model}, warmup_steps={warmup_steps}"
            )
        if cooldown_steps and last_update is None:
            raise ValueError(
                "`cooldown_steps` needs `last_update`. "
                f"Received: cooldown_steps={cooldown_steps}, last_update=None"
            )
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        self.scale = scale
        self.steps_per_update = steps_per_update
        self.cooldown_steps = cooldown_steps
        self.last_update = last_update

    def __call__(self, step):
        # Keras counts finished updates: 0 at the first one.
        step = ops.cast(ops.floor_divide(step, self.steps_per_update), "float32") + 1.0
        warmup = step * self.warmup_steps**-1.5
        rate = self.scale * self.d_model**-0.5 * ops.minimum(ops.rsqrt(step), warmup)
        if self.cooldown_steps:
            left = (self.last_update + 1 - step) / self.cooldown_steps
            rate = rate * ops.clip(left, 0.0, 1.0)
        return rate

    def get_config(self):
        return {
            "d_model": self.d_model,
            "warmup_steps": self.warmup_steps,
            "scale": self.scale,
            "steps_per_update": self.steps_per_update,
            "cooldown_steps": self.cooldown_steps,
            "last_update": self.last_update,
        }
