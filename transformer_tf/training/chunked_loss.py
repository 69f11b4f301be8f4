"""The loss on TensorFlow, a few hundred tokens at a time and with its gradients at once.

TensorFlow's kernels run one after the other, and each of them would write and read the logits
of the whole batch, 10 000 floats a token: products, maximum, exponential, sum, and the same way
back. Here the tokens go through in chunks whose logits stay in the processor's cache, and since
the loss is a sum over tokens, the gradients of a chunk can be made before the next one begins.
"""

from __future__ import annotations

import tensorflow as tf

# Tokens of a chunk. See docs/performance.md for what other sizes gave.
CHUNK = 512


def chunked_cross_entropy(hidden, kernel, bias, targets, weights, label_smoothing, training):
    """`losses.projected_cross_entropy` for flat tokens.

    Args:
        hidden: Tensor `(tokens, d_model)`.
        kernel: Tensor `(d_model, vocab_size)`.
        bias: Tensor `(vocab_size,)`, or None.
        targets: Integer tensor `(tokens,)`.
        weights: `float32` tensor `(tokens,)`.
        label_smoothing: Share of the probability spread over the whole vocabulary.
        training: Whether gradients will be asked for.

    Returns:
        The weighted loss, the sum of -log p and the number of right tokens.
    """
    dtype = hidden.dtype
    vocab_size = kernel.shape[1]
    no_bias = bias is None
    if no_bias:
        bias = tf.zeros((vocab_size,), tf.float32)
    on_token = 1.0 - label_smoothing
    on_all = label_smoothing / vocab_size
    # The gradients of the logits are made with weights of about 1 and scaled afterwards: those
    # of a large batch would be too small for half precision.
    unit = tf.maximum(tf.reduce_max(weights), 1e-30)

    def forward(hidden, targets, kernel, bias):
        """Logits, their maxima, those of the right tokens, and where these stand."""
        logits = tf.cast(tf.matmul(hidden, kernel), tf.float32)
        if not no_bias:
            logits = tf.nn.bias_add(logits, bias)
        index = tf.stack([tf.range(tf.shape(targets)[0]), targets], axis=1)
        return logits, tf.reduce_max(logits, axis=1), tf.gather_nd(logits, index), index

    def sums(logits, highest, score, log_sum, weights):
        """The three results of a chunk."""
        losses = log_sum - score
        smoothed = losses
        if label_smoothing:
            smoothed = on_token * losses + label_smoothing * (
                log_sum - tf.reduce_mean(logits, axis=1)
            )
        real = tf.cast(weights > 0, tf.float32)
        correct = tf.cast(score >= highest, tf.float32)
        return tf.stack(
            [
                tf.reduce_sum(smoothed * weights),
                tf.reduce_sum(losses * real),
                tf.reduce_sum(correct * real),
            ]
        )

    @tf.custom_gradient
    def run(hidden, kernel, bias):
        tokens = tf.shape(hidden)[0]
        low_kernel = tf.cast(kernel, dtype)

        def chunk(begin, total, d_hidden, d_kernel, d_bias):
            end = begin + CHUNK
            part = hidden[begin:end]
            logits, highest, score, index = forward(part, targets[begin:end], low_kernel, bias)
            weight = weights[begin:end]
            exponentials = tf.exp(logits - highest[:, None])
            sum_ = tf.reduce_sum(exponentials, axis=1)
            total += sums(logits, highest, score, tf.math.log(sum_) + highest, weight)
            if training:
                weight = weight / unit
                gradient = exponentials * (weight / sum_)[:, None]
                if label_smoothing:
                    gradient -= (on_all * weight)[:, None]
                gradient = tf.tensor_scatter_nd_sub(gradient, index, on_token * weight)
                d_bias += tf.reduce_sum(gradient, axis=0)
                gradient = tf.cast(gradient, dtype)
                d_hidden = d_hidden.write(
                    begin // CHUNK, tf.matmul(gradient, low_kernel, transpose_b=True)
                )
                d_kernel += tf.cast(tf.matmul(part, gradient, transpose_a=True), tf.float32)
            return begin + CHUNK, total, d_hidden, d_kernel, d_bias

        _, total, d_hidden, d_kernel, d_bias = tf.while_loop(
            lambda begin, *_: begin < tokens,
            chunk,
            (
                tf.constant(0),
                tf.zeros((3,)),
                tf.TensorArray(
                    dtype,
                    size=(tokens + CHUNK - 1) // CHUNK,
                    infer_shape=False,
                    element_shape=(None, hidden.shape[1]),
                ),
                tf.zeros_like(kernel),
                tf.zeros_like(bias),
            ),
            parallel_iterations=1,
        )
        gradients = (d_hidden.concat(), d_kernel, d_bias) if training else None

        def backward(d_total):
            if gradients is None:
                raise ValueError("There are no gradients of a loss with training=False")
            scale = d_total[0] * unit
            d_hidden, d_kernel, d_bias = gradients
            return (
                tf.cast(tf.cast(d_hidden, tf.float32) * scale, dtype),
                d_kernel * scale,
                d_bias * scale,
            )

        return total, backward

    total = run(hidden, kernel, bias)
    return total[0], total[1], total[2]
