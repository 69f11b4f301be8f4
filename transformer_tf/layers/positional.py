"""Token embeddings with positions: §3.4 and §3.5 of "Attention Is All You Need"."""

import keras
import numpy as np
from keras import ops

POSITIONS = ("sinusoidal", "learned")


def positional_encoding(length, d_model: int):
    """The sinusoidal positional encoding (§3.5 of Vaswani et al. 2017).

    Dimension 2i is sin(position / 10000^(2i / d_model)) and dimension 2i + 1 is the cosine of the
    same angle. A shift of all positions by k rotates each (sin, cos) pair by a fixed angle.

    Args:
        length: Number of positions, an int or a scalar tensor.
        d_model: Size of a position's vector. If it is odd, the last frequency has only a sine.

    Returns:
        `float32` tensor `(length, d_model)`.
    """
    frequency = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    if isinstance(length, int):  # a constant, computed in NumPy
        angle = np.arange(length)[:, None] * frequency[None, :]
        sin_cos = np.stack([np.sin(angle), np.cos(angle)], axis=-1)
        return ops.convert_to_tensor(
            sin_cos.reshape(length, -1)[:, :d_model].astype("float32"), "float32"
        )
    position = ops.cast(ops.arange(length), "float32")
    angle = position[:, None] * ops.convert_to_tensor(frequency[None, :], "float32")
    sin_cos = ops.stack([ops.sin(angle), ops.cos(angle)], axis=-1)  # (length, frequencies, 2)
    return ops.reshape(sin_cos, (-1, 2 * len(frequency)))[:, :d_model]


@keras.saving.register_keras_serializable(package="transformer_tf")
class PositionalEmbedding(keras.layers.Layer):
    """Embeds tokens: embedding × √d_model + position (§3.4, §3.5).

    Args:
        vocab_size: Number of token ids.
        d_model: Size of a token's vector.
        position: `"sinusoidal"`, for any length, or `"learned"`.
        max_length: Number of learned positions; sinusoidal positions ignore it.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        ids: Integer tensor `(batch, length)`.
        positions: The positional encoding of each token, from `position_table`: a tensor that
            broadcasts to `(batch, length, d_model)`. By default, positions count from 0.

    Returns:
        Tensor `(batch, length, d_model)`.

    Raises:
        ValueError: If the sequence is longer than `max_length` and positions are learned. This is
            only checked for a static length.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        position: str = "sinusoidal",
        max_length: int = 512,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if position not in POSITIONS:
            raise ValueError(f"`position` must be one of {POSITIONS}. Received: {position=}")
        self.vocab_size = vocab_size
        self.d_model = d_model
        self.position = position
        self.max_length = max_length

    def build(self, ids_shape):
        # Variance 1 / d_model: embeddings × √d_model have unit variance, and the same matrix can be
        # the output projection (§3.4).
        initializer = keras.initializers.RandomNormal(stddev=self.d_model**-0.5)
        self.embeddings = self.add_weight(
            name="embeddings", shape=(self.vocab_size, self.d_model), initializer=initializer
        )
        if self.position == "learned":
            self.position_embeddings = self.add_weight(
                name="position_embeddings",
                shape=(self.max_length, self.d_model),
                initializer=keras.initializers.RandomNormal(stddev=0.02),
            )

    def call(self, ids, positions=None):
        embedded = ops.take(self.embeddings, ids, axis=0)
        embedded = ops.cast(embedded, self.compute_dtype) * self.d_model**0.5
        return embedded + (
            self.position_table(ops.shape(ids)[1]) if positions is None else positions
        )

    def position_table(self, length):
        """Returns the positional encodings of the first `length` positions.

        Args:
            length: Number of positions, an int or a scalar tensor.

        Returns:
            Tensor `(length, d_model)`.

        Raises:
            ValueError: If there are fewer than `length` learned positions. This is only checked
                if `length` is an int.
        """
        if self.position == "sinusoidal":
            return ops.cast(positional_encoding(length, self.d_model), self.compute_dtype)
        if isinstance(length, int) and length > self.max_length:
            raise ValueError(
                f"A sequence must not be longer than the {self.max_length} learned positions "
                f"(`max_length`). Received: a sequence of length {length}. "
                'Shorten it, or use position="sinusoidal".'
            )
        table = ops.take(self.position_embeddings, ops.arange(length), axis=0)
        return ops.cast(table, self.compute_dtype)

    def project(self, hidden):
        """Projects onto the vocabulary with the embedding matrix, for a tied model (§3.4).

        Args:
            hidden: Tensor `(..., d_model)`.

        Returns:
            Logits `(..., vocab_size)`.
        """
        embeddings = ops.cast(self.embeddings, hidden.dtype)
        return ops.matmul(hidden, ops.transpose(embeddings))

    def get_config(self):
        return {
            **super().get_config(),
            "vocab_size": self.vocab_size,
            "d_model": self.d_model,
            "position": self.position,
            "max_length": self.max_length,
        }
