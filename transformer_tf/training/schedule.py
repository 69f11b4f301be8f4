"""The learning rate of §5.3 of "Attention Is All You Need"."""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="transformer_tf")
class TransformerSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up, then decay with the inverse square root of the step (equation 3).

    rate = scale · d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5), where the first update
    is step 1, so that it is not lost to a learning rate of zero.

    Args:
        d_model: Size of the model's vectors.
        warmup_steps: Updates until the highest rate, scale · (d_model · warmup_steps)^-0.5.
        scale: Factor on the whole curve; 1 in the paper.
        steps_per_update: Steps whose gradients Keras accumulates for an update. It counts steps
            here, not updates.

    Raises:
        ValueError: If `d_model` or `warmup_steps` is less than 1.
    """

    def __init__(
        self, d_model: int, warmup_steps: int = 4000, scale: float = 1.0, steps_per_update: int = 1
    ):
        super().__init__()
        if d_model < 1 or warmup_steps < 1:
            raise ValueError(
                "`d_model` and `warmup_steps` must be at least 1. "
                f"Received: d_model={d_model}, warmup_steps={warmup_steps}"
            )
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        self.scale = scale
        self.steps_per_update = steps_per_update

    def __call__(self, step):
        # Keras counts finished updates: 0 at the first one.
        step = ops.cast(ops.floor_divide(step, self.steps_per_update), "float32") + 1.0
        warmup = step * self.warmup_steps**-1.5
        return self.scale * self.d_model**-0.5 * ops.minimum(ops.rsqrt(step), warmup)

    def get_config(self):
        return {
            "d_model": self.d_model,
            "warmup_steps": self.warmup_steps,
            "scale": self.scale,
            "steps_per_update": self.steps_per_update,
        }
