"""Cross-entropy over the real tokens of a padded batch, with label smoothing (§5.4).

`MaskedCrossEntropy` is the loss as one reads it, of logits. `projected_cross_entropy` is the same
number with the last projection inside, which is what the trainer uses: the logits of a batch are
the largest tensor of a step by far, and it can do without them as a whole.
"""

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


def projected_cross_entropy(
    hidden, kernel, bias, target_output, weights, label_smoothing=0.0, training=True
):
    """Projects vectors onto the vocabulary and compares with the tokens that should have come.

    Args:
        hidden: Tensor `(batch, target_len, d_model)`.
        kernel: Tensor `(d_model, vocab_size)`.
        bias: Tensor `(vocab_size,)`, or None.
        target_output: Integer tensor `(batch, target_len)`.
        weights: `float32` tensor `(batch, target_len)`, the weight of each token in the loss; 0
            for padding.
        label_smoothing: Share of the probability spread over the whole vocabulary.
        training: Whether gradients will be asked for.

    Returns:
        Three `float32` scalars: the weighted sum of the losses, which has gradients; and over the
        tokens of positive weight the sum of -log p, in nats, and the number of those that have no
        logit above theirs; with bfloat16 some have an equal one.
    """
    if keras.backend.backend() == "tensorflow":
        from transformer_tf.training.chunked_loss import chunked_cross_entropy

        flat = ops.reshape(hidden, (-1, hidden.shape[-1]))
        return chunked_cross_entropy(
            flat,
            kernel,
            bias,
            ops.reshape(target_output, (-1,)),
            ops.reshape(weights, (-1,)),
            label_smoothing,
            training,
        )
    logits = ops.matmul(hidden, ops.cast(kernel, hidden.dtype))
    logits = ops.cast(logits, "float32")
    if bias is not None:
        logits = logits + bias
    log_sum = ops.logsumexp(logits, axis=-1)
    score = ops.squeeze(ops.take_along_axis(logits, target_output[..., None], axis=-1), axis=-1)
    losses = log_sum - score
    real = ops.cast(weights > 0, "float32")
    correct = ops.cast(score >= ops.max(logits, axis=-1), "float32")
    smoothed = losses
    if label_smoothing:
        spread = log_sum - ops.mean(logits, axis=-1)
        smoothed = (1 - label_smoothing) * losses + label_smoothing * spread
    return ops.sum(smoothed * weights), ops.sum(losses * real), ops.sum(correct * real)
