"""Layer normalization (§3.1; Ba et al. 2016) with a hand-written gradient.

On TensorFlow, a training step with `keras.layers.LayerNormalization` takes 6 % more processor time
(4 layers, d_model 128, 8 heads, d_ff 512; batches of 96 × 16 tokens; two cores; 2026-11-22).
"""

import keras
from keras import ops


def layer_normalization(x, gamma, beta, epsilon):
    """Computes (x - mean) / √(variance + ε) · γ + β over the last axis.

    Without operator fusion, the automatic gradient takes about thirty operations. The one below
    takes ten.

    Args:
        x: `float32` tensor `(..., depth)`.
        gamma: Tensor `(depth,)`.
        beta: Tensor `(depth,)`.
        epsilon: Added to the variance.

    Returns:
        Tensor of the shape of `x`.
    """

    @ops.custom_gradient
    def normalize(x, gamma, beta):
        centered = x - ops.mean(x, axis=-1, keepdims=True)
        scale = ops.rsqrt(ops.mean(centered * centered, axis=-1, keepdims=True) + epsilon)
        normalized = centered * scale

        def gradient(*args, upstream=None):
            # On PyTorch, Keras passes the inputs and `upstream=dy`; elsewhere, only dy.
            dy = args[0] if upstream is None else upstream
            axes = tuple(range(len(x.shape) - 1))
            dy_normalized = dy * normalized
            # Shifting or scaling x does not change the output, so dx is dy · γ without its mean and
            # without its component along `normalized`.
            dx = dy * gamma
            dx = dx - ops.mean(dx, axis=-1, keepdims=True)
            dx = dx - normalized * ops.mean(dy_normalized * gamma, axis=-1, keepdims=True)
            return dx * scale, ops.sum(dy_normalized, axis=axes), ops.sum(dy, axis=axes)

        return normalized * gamma + beta, gradient

    return normalize(x, gamma, beta)


@keras.saving.register_keras_serializable(package="transformer_tf")
class LayerNormalization(keras.layers.LayerNormalization):
    """`keras.layers.LayerNormalization` over the last axis, with a faster gradient.

    It computes in float32 under every dtype policy.

    Args:
        epsilon: Added to the variance; 1e-6 as in the paper's code.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Tensor `(..., depth)`.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: If `axis`, `center`, `scale` or `rms_scaling` is given.
    """

    def __init__(self, epsilon: float = 1e-6, **kwargs):
        for name in ("axis", "center", "scale", "rms_scaling"):
            if name in kwargs:
                raise ValueError(
                    f"`{name}` is only supported by `keras.layers.LayerNormalization`. "
                    f"Received: {name}={kwargs[name]!r}"
                )
        super().__init__(epsilon=epsilon, **kwargs)

    def call(self, inputs):
        x, gamma, beta = (ops.cast(tensor, "float32") for tensor in (inputs, self.gamma, self.beta))
        return ops.cast(layer_normalization(x, gamma, beta, self.epsilon), self.compute_dtype)

    def get_config(self):
        return {**keras.layers.Layer.get_config(self), "epsilon": self.epsilon}
