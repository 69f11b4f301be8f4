"""The encoder: the left half of figure 1 of "Attention Is All You Need" (§3.1)."""

import keras

from transformer_tf.layers.attention import MultiHeadAttention
from transformer_tf.layers.feed_forward import FeedForward


def layer_normalization(name: str, shape, policy):
    """Returns a built layer normalization, with the ε of the paper's code, tensor2tensor."""
    norm = keras.layers.LayerNormalization(epsilon=1e-6, dtype=policy, name=name)
    norm.build(shape)
    return norm


@keras.saving.register_keras_serializable(package="transformer_tf")
class EncoderLayer(keras.layers.Layer):
    """Self-attention over the source, then a feed-forward network.

    Each of the two sub-layers has dropout, a residual connection and layer normalization. The
    paper computes LayerNorm(x + Dropout(sublayer(x))). With `pre_norm` it is
    x + Dropout(sublayer(LayerNorm(x))), which trains deep stacks more easily (Xiong et al. 2020).

    Args:
        d_model: Size of a position's vector.
        num_heads: Number of attention heads.
        d_ff: Size of the hidden layer of the feed-forward network.
        dropout_rate: Dropout rate of each sub-layer's output.
        pre_norm: Whether to normalize before each sub-layer instead of after it.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        x: Tensor `(batch, source_len, d_model)`.
        attention_mask: Boolean tensor that broadcasts to
            `(batch, num_heads, source_len, source_len)`, True = may attend.
        return_attention_scores: Whether to also return the attention scores.

    Returns:
        Tensor `(batch, source_len, d_model)`; with `return_attention_scores`, a tuple of this
        tensor and the scores `(batch, num_heads, source_len, source_len)`.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout_rate: float = 0.1,
        pre_norm: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.dropout_rate = dropout_rate
        self.pre_norm = pre_norm

    def build(self, x_shape):
        policy = self.dtype_policy
        self.self_attention = MultiHeadAttention(
            self.num_heads, self.d_model, dtype=policy, name="self_attention"
        )
        self.self_attention.build(x_shape, x_shape, x_shape)
        self.self_attention_norm = layer_normalization("self_attention_norm", x_shape, policy)
        self.self_attention_dropout = keras.layers.Dropout(self.dropout_rate, dtype=policy)
        self.feed_forward = FeedForward(self.d_model, self.d_ff, dtype=policy, name="feed_forward")
        self.feed_forward.build(x_shape)
        self.feed_forward_norm = layer_normalization("feed_forward_norm", x_shape, policy)
        self.feed_forward_dropout = keras.layers.Dropout(self.dropout_rate, dtype=policy)

    def call(self, x, attention_mask=None, return_attention_scores=False, training=None):
        residual = x
        if self.pre_norm:
            x = self.self_attention_norm(x)
        x, scores = self.self_attention(
            query=x, key=x, value=x, attention_mask=attention_mask, return_attention_scores=True
        )
        x = residual + self.self_attention_dropout(x, training=training)
        if not self.pre_norm:
            x = self.self_attention_norm(x)

        residual = x
        if self.pre_norm:
            x = self.feed_forward_norm(x)
        x = self.feed_forward(x)
        x = residual + self.feed_forward_dropout(x, training=training)
        if not self.pre_norm:
            x = self.feed_forward_norm(x)
        return (x, scores) if return_attention_scores else x

    def get_config(self):
        return {
            **super().get_config(),
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "d_ff": self.d_ff,
            "dropout_rate": self.dropout_rate,
            "pre_norm": self.pre_norm,
        }


@keras.saving.register_keras_serializable(package="transformer_tf")
class Encoder(keras.layers.Layer):
    """A stack of encoder layers over embedded source tokens.

    Args:
        num_layers: Number of encoder layers.
        d_model: Size of a position's vector.
        num_heads: Number of attention heads of a layer.
        d_ff: Size of the hidden layer of the feed-forward networks.
        dropout_rate: Dropout rate of the embeddings and of each sub-layer's output (§5.4).
        pre_norm: Whether to normalize before each sub-layer, and once after the last layer.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        x: Tensor `(batch, source_len, d_model)`, the output of `PositionalEmbedding`.
        attention_mask: Boolean tensor that broadcasts to
            `(batch, num_heads, source_len, source_len)`, True = may attend.
        return_attention_scores: Whether to also return the attention scores.

    Returns:
        Tensor `(batch, source_len, d_model)`; with `return_attention_scores`, a tuple of this
        tensor and a list of each layer's scores `(batch, num_heads, source_len, source_len)`.
    """

    def __init__(
        self,
        num_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout_rate: float = 0.1,
        pre_norm: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_layers = num_layers
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.dropout_rate = dropout_rate
        self.pre_norm = pre_norm

    def build(self, x_shape):
        policy = self.dtype_policy
        self.dropout = keras.layers.Dropout(self.dropout_rate, dtype=policy)
        self.layers = [
            EncoderLayer(
                self.d_model,
                self.num_heads,
                self.d_ff,
                self.dropout_rate,
                self.pre_norm,
                dtype=policy,
                name=f"layer_{number}",
            )
            for number in range(1, self.num_layers + 1)
        ]
        for layer in self.layers:
            layer.build(x_shape)
        if self.pre_norm:
            self.norm = layer_normalization("norm", x_shape, policy)

    def call(self, x, attention_mask=None, return_attention_scores=False, training=None):
        x = self.dropout(x, training=training)
        all_scores = []
        for layer in self.layers:
            x, scores = layer(
                x,
                attention_mask=attention_mask,
                return_attention_scores=True,
                training=training,
            )
            all_scores.append(scores)
        if self.pre_norm:
            x = self.norm(x)
        return (x, all_scores) if return_attention_scores else x

    def get_config(self):
        return {
            **super().get_config(),
            "num_layers": self.num_layers,
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "d_ff": self.d_ff,
            "dropout_rate": self.dropout_rate,
            "pre_norm": self.pre_norm,
        }
