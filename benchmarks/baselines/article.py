"""A training loop as in the article and other tutorials of its time.

The model is the same as this package's, written for clarity alone. Every batch is 64 pairs padded
to 42 tokens, a step is one `tf.function`, the loss takes the logits of all positions, and Keras's
Adam follows the schedule. The code is new; only the method is the article's.
"""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf


def positional_encoding(length: int, depth: int) -> np.ndarray:
    """Sine and cosine of every position, `(length, depth)`."""
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, depth, 2)[None, :] / depth)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, depth)


class Attention(keras.layers.Layer):
    """Attention of several heads."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.num_heads, self.depth = num_heads, d_model // num_heads
        self.wq, self.wk, self.wv, self.out = (keras.layers.Dense(d_model) for _ in range(4))

    def _split(self, x):
        x = tf.reshape(x, (tf.shape(x)[0], -1, self.num_heads, self.depth))
        return tf.transpose(x, (0, 2, 1, 3))

    def call(self, query, key, mask):
        q, k, v = (self._split(f(x)) for f, x in ((self.wq, query), (self.wk, key), (self.wv, key)))
        logits = tf.matmul(q, k, transpose_b=True) / self.depth**0.5 + mask * -1e9
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(logits), v), (0, 2, 1, 3))
        return self.out(tf.reshape(mixed, (tf.shape(query)[0], -1, self.num_heads * self.depth)))


class Block(keras.layers.Layer):
    """An encoder layer, or a decoder layer if called with an encoder output."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, rate: float, attentions: int):
        super().__init__()
        self.attentions = [Attention(d_model, num_heads) for _ in range(attentions)]
        self.feed_forward = keras.Sequential(
            [keras.layers.Dense(d_ff, activation="relu"), keras.layers.Dense(d_model)]
        )
        self.norms = [keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(attentions + 1)]
        self.dropouts = [keras.layers.Dropout(rate) for _ in range(attentions + 1)]

    def call(self, x, mask, encoded=None, encoded_mask=None, training=False):
        keys = [(None, mask), (encoded, encoded_mask)]
        for attention, norm, dropout, (key, key_mask) in zip(
            self.attentions, self.norms, self.dropouts, keys, strict=False
        ):
            y = attention(x, x if key is None else key, key_mask)
            x = norm(x + dropout(y, training=training))
        return self.norms[-1](x + self.dropouts[-1](self.feed_forward(x), training=training))


class ArticleTransformer(keras.Model):
    """The article's model."""

    def __init__(self, layers: int, d_model: int, heads: int, d_ff: int, rate: float, vocab: int):
        super().__init__()
        self.d_model = d_model
        self.embeddings = [keras.layers.Embedding(vocab, d_model) for _ in range(2)]
        self.positions = tf.constant(positional_encoding(1000, d_model)[None], tf.float32)
        self.dropouts = [keras.layers.Dropout(rate) for _ in range(2)]
        self.encoder = [Block(d_model, heads, d_ff, rate, 1) for _ in range(layers)]
        self.decoder = [Block(d_model, heads, d_ff, rate, 2) for _ in range(layers)]
        self.final = keras.layers.Dense(vocab)

    def _embed(self, side, ids, training):
        x = self.embeddings[side](ids) * self.d_model**0.5 + self.positions[:, : tf.shape(ids)[1]]
        return self.dropouts[side](x, training=training)

    def call(self, source, target, training=False):
        padding = tf.cast(source == 0, tf.float32)[:, None, None, :]
        length = tf.shape(target)[1]
        ahead = 1 - tf.linalg.band_part(tf.ones((length, length)), -1, 0)
        target_mask = tf.maximum(ahead, tf.cast(target == 0, tf.float32)[:, None, None, :])
        x = self._embed(0, source, training)
        for layer in self.encoder:
            x = layer(x, padding, training=training)
        y = self._embed(1, target, training)
        for layer in self.decoder:
            y = layer(y, target_mask, x, padding, training=training)
        return self.final(y)


class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    """Warm-up, then decay."""

    def __init__(self, d_model: int):
        self.d_model = d_model

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        return self.d_model**-0.5 * tf.minimum(tf.math.rsqrt(step + 1e-9), step * 4000**-1.5)


def make_step(layers: int, d_model: int, heads: int, d_ff: int, rate: float, vocab: int):
    """Returns the train step: a function of source, target input and target output ids."""
    model = ArticleTransformer(layers, d_model, heads, d_ff, rate, vocab)
    optimizer = keras.optimizers.Adam(Schedule(d_model), beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    train_loss = keras.metrics.Mean()
    train_accuracy = keras.metrics.SparseCategoricalAccuracy()
    ids = tf.TensorSpec((None, None), tf.int32)

    @tf.function(input_signature=[ids, ids, ids])
    def step(source, target_input, real):
        with tf.GradientTape() as tape:
            logits = model(source, target_input, training=True)
            mask = tf.cast(real != 0, tf.float32)
            loss = tf.reduce_sum(loss_object(real, logits) * mask) / tf.reduce_sum(mask)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        train_loss(loss)
        train_accuracy(real, logits)
        return loss

    return step
