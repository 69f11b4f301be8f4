"""What a batch teaches us about the model, counted over real tokens only.

The metrics as one reads them, for `compile` of any model with logits. `TrainingModel` has the same
numbers without holding all logits at once; tests hold the two equal.
"""

import keras
from keras import ops

from transformer_tf.training.losses import token_cross_entropy


class TokenMean(keras.metrics.Mean):
    """Mean of a number per token over all real tokens seen; padding is not counted.

    Args:
        pad_id: The id that fills short sequences up.
        **kwargs: Arguments of `keras.metrics.Mean`.
    """

    def __init__(self, pad_id: int = 0, **kwargs):
        super().__init__(**kwargs)
        self.pad_id = pad_id

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Counts one batch.

        Args:
            y_true: Integer tensor `(batch, target_len)`.
            y_pred: Logits `(batch, target_len, vocab_size)`.
            sample_weight: Weight of each token beside the mask, broadcast to `y_true`.
        """
        ids = ops.cast(y_true, "int32")
        weight = ops.cast(ops.not_equal(ids, self.pad_id), self.dtype)
        if sample_weight is not None:
            weight = weight * ops.cast(sample_weight, self.dtype)
        # `Mean` would first average each row, and so count rows rather than tokens.
        values = ops.reshape(self.token_values(ids, y_pred), (-1,))
        super().update_state(values, sample_weight=ops.reshape(weight, (-1,)))

    def token_values(self, ids, logits):
        """The number `(batch, target_len)` that is averaged."""
        raise NotImplementedError

    def get_config(self):
        return {**super().get_config(), "pad_id": self.pad_id}


@keras.saving.register_keras_serializable(package="transformer_tf")
class TokenAccuracy(TokenMean):
    """Share of real tokens whose highest logit is the right one."""

    def __init__(self, name: str = "accuracy", **kwargs):
        super().__init__(name=name, **kwargs)

    def token_values(self, ids, logits):
        return ops.cast(ops.equal(ops.cast(ops.argmax(logits, axis=-1), "int32"), ids), self.dtype)


@keras.saving.register_keras_serializable(package="transformer_tf")
class Perplexity(TokenMean):
    """exp of the mean cross-entropy of all real tokens, without label smoothing."""

    def __init__(self, name: str = "perplexity", **kwargs):
        super().__init__(name=name, **kwargs)

    def token_values(self, ids, logits):
        return token_cross_entropy(ids, logits)

    def result(self):
        return ops.exp(super().result())
