"""Cross-entropy over the real tokens of a padded batch, with label smoothing (§5.4)."""

import keras
from keras import ops


def projected_cross_entropy(
    hidden, kernel, bias, target_output, weights, label_smoothing, training
):
    """Projects hidden vectors onto the vocabulary and compares them with the target tokens.

    With label smoothing ε the target distribution gives 1 - ε to the correct token and spreads ε
    over the whole vocabulary (§5.4 of Vaswani et al. 2017; Szegedy et al. 2016). On TensorFlow the
    logits, the largest tensor of a training step, are never all in memory (`chunked_loss`).

    Args:
        hidden: Tensor `(batch, target_len, d_model)`.
        kernel: Tensor `(d_model, vocab_size)`.
        bias: Tensor `(vocab_size,)`, or None.
        target_output: Integer tensor `(batch, target_len)`.
        weights: `float32` tensor `(batch, target_len)`, the weight of each token in the loss; 0
            for padding.
        label_smoothing: ε, from 0 to less than 1 (0.1 in the paper).
        training: Whether to compute gradients.

    Returns:
        Three `float32` scalars: the weighted sum of the losses in nats, which has gradients; the
        sum of -log p over the tokens of positive weight, without smoothing; and the number of
        those tokens whose logit is the highest, or equal to the highest.
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
