"""The optimizer Muon for the weight matrices of a Transformer."""

import keras
from keras import ops


class Muon(keras.optimizers.Muon):
    """Muon for the weight matrices inside the layers, Adam of §5.3 for all other weights.

    Muon replaces the momentum of a matrix by the nearest orthogonal matrix, so that a step has the
    same length in every direction (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon).
    The step has the root mean square of one of Adam (Liu et al. 2025, arXiv:2502.16982), so both
    use the same learning rate. Embeddings, the output projection, biases and norms are Adam's.

    Args:
        learning_rate: A float or a schedule.
        compute_dtype: The type of the matrix products. `"bfloat16"` is enough for an approximation,
            and faster than `"float32"` where the processor has it.
        clip_norm: Maximum norm of the gradient of all weights, or `None`.
    """

    def __init__(self, learning_rate, compute_dtype: str, clip_norm: float | None = None):
        super().__init__(
            learning_rate,
            adam_beta_1=0.9,
            adam_beta_2=0.98,
            epsilon=1e-9,
            weight_decay=None,
            adam_weight_decay=None,
            global_clipnorm=clip_norm,
            exclude_layers=["^[^/]+/output_projection"],  # not those of the feed-forward networks
            name="muon",
        )
        self.compute_dtype = compute_dtype

    def zeropower_via_newtonschulz5(self, x, steps: int):
        x = x / (ops.norm(x) + 1e-30)  # small momenta would become 0 in float16
        orthogonal = super().zeropower_via_newtonschulz5(ops.cast(x, self.compute_dtype), steps)
        return ops.cast(orthogonal, x.dtype)
