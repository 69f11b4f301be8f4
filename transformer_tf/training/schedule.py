"""The learning rate of §5.3 of "Attention Is All You Need"."""

import keras
from keras import ops

PAPER_WARMUP_STEPS = 4000


@keras.saving.register_keras_serializable(package="transformer_tf")
class TransformerSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up, then decay with the inverse square root of the step (equation 3).

    rate = scale · d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5)

    The first step is step 1, so its rate is not 0. An addition to the paper: over the last
    `cooldown_steps` steps the rate falls linearly to 0.

    Args:
        d_model: Size of the model's vectors.
        warmup_steps: Steps until the highest rate, scale · (d_model · warmup_steps)^-0.5.
        scale: Factor on the whole curve; 1 in the paper.
        cooldown_steps: Steps at the end over which the rate falls to 0; 0 for none.
        last_step: Number of the last step, from 1; needed for `cooldown_steps`.

    Raises:
        ValueError: If `d_model` or `warmup_steps` is less than 1, or `last_step` is missing.
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int = PAPER_WARMUP_STEPS,
        scale: float = 1.0,
        cooldown_steps: int = 0,
        last_step: int | None = None,
    ):
        super().__init__()
        if d_model < 1 or warmup_steps < 1:
            raise ValueError(
                "`d_model` and `warmup_steps` must be at least 1. "
                f"Received: d_model={d_model}, warmup_steps={warmup_steps}"
            )
        if cooldown_steps and last_step is None:
            raise ValueError(
                "`cooldown_steps` needs `last_step`. "
                f"Received: cooldown_steps={cooldown_steps}, last_step=None"
            )
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        self.scale = scale
        self.cooldown_steps = cooldown_steps
        self.last_step = last_step

    def __call__(self, step):
        # Keras counts finished steps: 0 at the first one.
        step = ops.cast(step, "float32") + 1.0
        warmup = step * self.warmup_steps**-1.5
        rate = self.scale * self.d_model**-0.5 * ops.minimum(ops.rsqrt(step), warmup)
        if self.cooldown_steps:
            left = (self.last_step + 1 - step) / self.cooldown_steps
            rate = rate * ops.clip(left, 0.0, 1.0)
        return rate

    def get_config(self):
        return {
            "d_model": self.d_model,
            "warmup_steps": self.warmup_steps,
            "scale": self.scale,
            "cooldown_steps": self.cooldown_steps,
            "last_step": self.last_step,
        }
