"""The loss on TensorFlow, computed together with its gradients in chunks of tokens.

The logits of a batch are large: 8 000 numbers for each token. TensorFlow runs one operation after
another, and each one reads and writes all logits. Those of a chunk stay in the processor's cache.
The loss is a sum over tokens, so the gradients of a chunk are computed before the next chunk
begins. A training step took 292 ms instead of 425 (docs/performance.md).
"""

from __future__ import annotations

import tensorflow as tf

# Tokens in a chunk. docs/performance.md has the times with other sizes.
CHUNK = 512


def chunked_cross_entropy(hidden, kernel, bias, targets, weights, label_smoothing, training):
    """Computes `losses.projected_cross_entropy` for flattened tokens.

    Args:
        hidden: Tensor `(tokens, d_model)`.
        kernel: Tensor `(d_model, vocab_size)`.
        bias: Tensor `(vocab_size,)`, or None.
        targets: Integer tensor `(tokens,)`.
        weights: `float32` tensor `(tokens,)`.
        label_smoothing: Share of the probability spread over the whole vocabulary.
        training: Whether to compute gradients.

    Returns:
        The weighted loss, the sum of -log p and the number of correct tokens.
    """
    # The weights of a large batch are so small that gradients would underflow in half precision.
    # The gradients are computed with weights of at most 1 and scaled afterwards.
    max_weight = tf.maximum(tf.reduce_max(weights), 1e-30)

    @tf.custom_gradient
    def totals(hidden, kernel, bias=None):
        total, gradients = _totals_and_gradients(
            hidden, kernel, bias, targets, weights / max_weight, label_smoothing, training
        )

        def backward(d_total):
            if not training:
                raise ValueError("A loss with training=False has no gradients")
            scale = d_total[0] * max_weight
            returned = gradients[:2] if bias is None else gradients
            return [tf.cast(tf.cast(each, tf.float32) * scale, each.dtype) for each in returned]

        return total * tf.stack([max_weight, 1.0, 1.0]), backward

    total = totals(hidden, kernel) if bias is None else totals(hidden, kernel, bias)
    return total[0], total[1], total[2]


def _totals_and_gradients(hidden, kernel, bias, targets, weights, label_smoothing, training):
    """Returns the three totals, and the gradients of the first for `hidden`, `kernel` and bias."""
    tokens = tf.shape(hidden)[0]
    cast_kernel = tf.cast(kernel, hidden.dtype)

    def add_chunk(begin, total, d_hidden, d_kernel, d_bias):
        chunk = slice(begin, begin + CHUNK)
        part, weight = hidden[chunk], weights[chunk]
        index = tf.stack([tf.range(tf.shape(part)[0]), targets[chunk]], axis=1)
        logits = _logits(part, cast_kernel, bias)
        highest = tf.reduce_max(logits, axis=1)
        exponentials = tf.exp(logits - highest[:, None])
        normalizer = tf.reduce_sum(exponentials, axis=1)
        log_normalizer = tf.math.log(normalizer) + highest
        total += _totals(logits, highest, log_normalizer, index, weight, label_smoothing)
        if training:
            gradient = _logit_gradient(exponentials, normalizer, index, weight, label_smoothing)
            d_bias += tf.reduce_sum(gradient, axis=0)
            gradient = tf.cast(gradient, hidden.dtype)
            d_part = tf.matmul(gradient, cast_kernel, transpose_b=True)
            d_hidden = d_hidden.write(begin // CHUNK, d_part)
            d_kernel += tf.cast(tf.matmul(part, gradient, transpose_a=True), tf.float32)
        return begin + CHUNK, total, d_hidden, d_kernel, d_bias

    d_hidden = tf.TensorArray(
        hidden.dtype,
        size=(tokens + CHUNK - 1) // CHUNK,
        infer_shape=False,
        element_shape=(None, hidden.shape[1]),
    )
    _, total, d_hidden, d_kernel, d_bias = tf.while_loop(
        lambda begin, *_: begin < tokens,
        add_chunk,
        (
            tf.constant(0),
            tf.zeros((3,)),
            d_hidden,
            tf.zeros_like(kernel),
            tf.zeros((kernel.shape[1],)),
        ),
        parallel_iterations=1,
    )
    return total, (d_hidden.concat(), d_kernel, d_bias) if training else None


def _logits(hidden, kernel, bias):
    logits = tf.cast(tf.matmul(hidden, kernel), tf.float32)
    return logits if bias is None else tf.nn.bias_add(logits, bias)


def _totals(logits, highest, log_normalizer, index, weights, label_smoothing):
    """Returns the weighted loss, the sum of -log p and the number of correct tokens, stacked."""
    score = tf.gather_nd(logits, index)
    losses = log_normalizer - score
    smoothed = losses
    if label_smoothing:
        spread = log_normalizer - tf.reduce_mean(logits, axis=1)
        smoothed = (1 - label_smoothing) * losses + label_smoothing * spread
    real = tf.cast(weights > 0, tf.float32)
    correct = tf.cast(score >= highest, tf.float32)
    totals = smoothed * weights, losses * real, correct * real
    return tf.stack([tf.reduce_sum(each) for each in totals])


def _logit_gradient(exponentials, normalizer, index, weights, label_smoothing):
    """Returns the weighted difference of the probabilities and the smoothed one-hot targets."""
    gradient = exponentials * (weights / normalizer)[:, None]  # no extra pass for probabilities
    if label_smoothing:
        vocab_size = exponentials.shape[1]
        gradient -= (label_smoothing / vocab_size * weights)[:, None]
    return tf.tensor_scatter_nd_sub(gradient, index, (1 - label_smoothing) * weights)
