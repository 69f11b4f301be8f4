"""Cross-entropy over the real tokens of a padded batch, with label smoothing (§5.4)."""

import keras
from keras import ops


def token_cross_entropy(target_output, logits):
    """-log p of each token that should have been produced.

    Args:
        target_output: Integer tensor `(batch, target_len)`.
        logits: Tensor `(batch, target_len, vocab_size)`.

    Returns:
        `float32` tensor `(batch, target_len)`, in nats. Padding is not left out.
    """
    return keras.losses.sparse_categorical_crossentropy(target_output, logits, from_logits=True)


@keras.saving.register_keras_serializable(package="transformer_tf")
class MaskedCrossEntropy(keras.losses.Loss):
    """Mean cross-entropy of the real tokens of a batch; padding weighs nothing.

    Every token weighs the same, whichever sentence it is in. With label smoothing ε the model
    should give 1 - ε to the right token and spread ε over the whole vocabulary (§5.4 of
    Vaswani et al. 2017; Szegedy et al. 2016).

    Args:
        label_smoothing: ε, from 0 to less than 1. The paper has 0.1.
        pad_id: The id that fills short sequences up.
        **kwargs: Arguments of `keras.losses.Loss`.

    Call arguments:
        y_true: Integer tensor `(batch, target_len)`.
        y_pred: Logits `(batch, target_len, vocab_size)`.

    Returns:
        Scalar, in nats a token.

    Raises:
        ValueError: If `label_smoothing` is not in [0, 1).
    """

    def __init__(self, label_smoothing: float = 0.0, pad_id: int = 0, **kwargs):
        # `call` returns the mean itself; a sum over that one number leaves it as it is.
        kwargs.setdefault("reduction", "sum")
        kwargs.setdefault("name", "masked_cross_entropy")
        super().__init__(**kwargs)
        if not 0 <= label_smoothing < 1:
            raise ValueError(
                f"`label_smoothing` must be in [0, 1). Received: label_smoothing={label_smoothing}"
            )
        self.label_smoothing = label_smoothing
        self.pad_id = pad_id

    def call(self, y_true, y_pred):
        # Keras casts the ids to floats, which hold them exactly up to 2^24.
        ids = ops.cast(y_true, "int32")
        losses = token_cross_entropy(ids, y_pred)
        if self.label_smoothing:
            spread = ops.logsumexp(y_pred, axis=-1) - ops.mean(y_pred, axis=-1)
            losses = (1 - self.label_smoothing) * losses + self.label_smoothing * spread
        real = ops.cast(ops.not_equal(ids, self.pad_id), losses.dtype)
        return ops.sum(losses * real) / ops.maximum(ops.sum(real), 1.0)

    def get_config(self):
        return {
            **super().get_config(),
            "label_smoothing": self.label_smoothing,
            "pad_id": self.pad_id,
        }
