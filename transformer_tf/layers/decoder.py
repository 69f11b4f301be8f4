"""The decoder: the right half of figure 1 of "Attention Is All You Need" (§3.1)."""

import keras
from keras import ops

from transformer_tf.layers.attention import MultiHeadAttention
from transformer_tf.layers.feed_forward import FeedForward
from transformer_tf.layers.normalization import LayerNormalization
from transformer_tf.layers.residual import Residual


@keras.saving.register_keras_serializable(package="transformer_tf")
class DecoderLayer(keras.layers.Layer):
    """Self-attention over the target so far, attention over the source, feed-forward network.

    Args:
        d_model: Size of a position's vector.
        num_heads: Number of attention heads.
        d_ff: Size of the hidden layer of the feed-forward network.
        dropout_rate: Dropout of each sub-layer's output.
        pre_norm: Whether to normalise before each sub-layer instead of after it.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        x: Tensor `(batch, target_len, d_model)`.
        encoded: Tensor `(batch, source_len, d_model)`, the output of the encoder.
        attention_mask: Boolean tensor that broadcasts to
            `(batch, num_heads, target_len, target_len)`: causal, and no padding.
        cross_attention_mask: Boolean tensor that broadcasts to
            `(batch, num_heads, target_len, source_len)`: no padding of the source.
        return_attention_scores: Whether to return the scores beside the output.

    Returns:
        Tensor `(batch, target_len, d_model)`; with `return_attention_scores` a triple of it, the
        self-attention scores `(batch, num_heads, target_len, target_len)` and the
        cross-attention scores `(batch, num_heads, target_len, source_len)`.
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

    def build(self, x_shape, encoded_shape):
        policy = self.dtype_policy
        self.self_attention = MultiHeadAttention(
            self.num_heads, self.d_model, dtype=policy, name="self_attention"
        )
        self.self_attention.build(x_shape, x_shape, x_shape)
        self.self_attention_residual = Residual(
            self.dropout_rate, self.pre_norm, dtype=policy, name="self_attention_residual"
        )
        self.self_attention_residual.build(x_shape)
        self.cross_attention = MultiHeadAttention(
            self.num_heads, self.d_model, dtype=policy, name="cross_attention"
        )
        self.cross_attention.build(x_shape, encoded_shape, encoded_shape)
        self.cross_attention_residual = Residual(
            self.dropout_rate, self.pre_norm, dtype=policy, name="cross_attention_residual"
        )
        self.cross_attention_residual.build(x_shape)
        self.feed_forward = FeedForward(self.d_model, self.d_ff, dtype=policy, name="feed_forward")
        self.feed_forward.build(x_shape)
        self.feed_forward_residual = Residual(
            self.dropout_rate, self.pre_norm, dtype=policy, name="feed_forward_residual"
        )
        self.feed_forward_residual.build(x_shape)

    def call(
        self,
        x,
        encoded,
        attention_mask=None,
        cross_attention_mask=None,
        return_attention_scores=False,
        training=None,
    ):
        y = self.self_attention_residual.enter(x)
        y, self_scores = self.self_attention(
            query=y, key=y, value=y, attention_mask=attention_mask, return_attention_scores=True
        )
        x = self.self_attention_residual(x, y, training=training)

        y, cross_scores = self.cross_attention(
            query=self.cross_attention_residual.enter(x),
            key=encoded,
            value=encoded,
            attention_mask=cross_attention_mask,
            return_attention_scores=True,
        )
        x = self.cross_attention_residual(x, y, training=training)

        y = self.feed_forward(self.feed_forward_residual.enter(x))
        x = self.feed_forward_residual(x, y, training=training)
        return (x, self_scores, cross_scores) if return_attention_scores else x

    def read(self, encoded):
        """What the layer looks at of the source, computed once for a whole search.

        Args:
            encoded: Tensor `(batch, source_len, d_model)`, the output of the encoder.

        Returns:
            A dictionary: `"key"` and `"value"`, each `(batch, num_heads, source_len, head_dim)`.
        """
        key, value = self.cross_attention.keys_and_values(key=encoded, value=encoded)
        return {"key": key, "value": value}

    def new_cache(self, batch_size, slots):
        """Room for what the layer looks at of the target.

        Args:
            batch_size: Number of sentences.
            slots: Number of tokens of a sentence, those of all its hypotheses together.

        Returns:
            A dictionary: `"key"` and `"value"`, zeros `(batch_size, num_heads, slots, head_dim)`.
        """
        shape = (batch_size, self.num_heads, slots, self.d_model // self.num_heads)
        return {name: ops.zeros(shape, dtype=self.compute_dtype) for name in ("key", "value")}

    def step(self, x, memory, cache, slot, attention_mask=None, cross_attention_mask=None):
        """What `call` does, for the newest token of each hypothesis of a search alone.

        Args:
            x: Tensor `(batch, beam_size, d_model)`.
            memory: What `read` returned.
            cache: What `new_cache` returned, or the last `step`.
            slot: Where in the cache the keys and values of `x` go; an int or a scalar tensor. With
                None they are appended: the cache, of no slots at first, grows.
            attention_mask: Boolean tensor that broadcasts to
                `(batch, num_heads, beam_size, slots)`: of each hypothesis its own tokens.
            cross_attention_mask: Boolean tensor that broadcasts to
                `(batch, num_heads, beam_size, source_len)`.

        Returns:
            Tensor `(batch, beam_size, d_model)`, the cache with the new keys and values, and the
            cross-attention scores `(batch, num_heads, beam_size, source_len)`.
        """
        y = self.self_attention_residual.enter(x)
        key, value = self.self_attention.keys_and_values(key=y, value=y)
        key = _remember(cache["key"], key, slot)
        value = _remember(cache["value"], value, slot)
        y, _ = self.self_attention.attend(y, key, value, attention_mask)
        x = self.self_attention_residual(x, y)

        y, cross_scores = self.cross_attention.attend(
            self.cross_attention_residual.enter(x),
            memory["key"],
            memory["value"],
            cross_attention_mask,
        )
        x = self.cross_attention_residual(x, y)

        y = self.feed_forward(self.feed_forward_residual.enter(x))
        x = self.feed_forward_residual(x, y)
        return x, {"key": key, "value": value}, cross_scores

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
class Decoder(keras.layers.Layer):
    """A stack of decoder layers over embedded target tokens.

    Args:
        num_layers: Number of decoder layers.
        d_model: Size of a position's vector.
        num_heads: Number of attention heads of a layer.
        d_ff: Size of the hidden layer of the feed-forward networks.
        dropout_rate: Dropout of the embeddings and of each sub-layer's output (§5.4).
        pre_norm: Whether to normalise before each sub-layer, and once after the last layer.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        x: Tensor `(batch, target_len, d_model)`, the output of `PositionalEmbedding`.
        encoded: Tensor `(batch, source_len, d_model)`, the output of the encoder.
        attention_mask: Boolean tensor that broadcasts to
            `(batch, num_heads, target_len, target_len)`: causal, and no padding.
        cross_attention_mask: Boolean tensor that broadcasts to
            `(batch, num_heads, target_len, source_len)`: no padding of the source.
        return_attention_scores: Whether to return the scores beside the output.

    Returns:
        Tensor `(batch, target_len, d_model)`; with `return_attention_scores` a triple of it and
        two lists with the self- and cross-attention scores of each layer.
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

    def build(self, x_shape, encoded_shape):
        policy = self.dtype_policy
        self.dropout = keras.layers.Dropout(self.dropout_rate, dtype=policy)
        self.layers = [
            DecoderLayer(
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
            layer.build(x_shape, encoded_shape)
        if self.pre_norm:
            self.norm = LayerNormalization(dtype=policy, name="norm")
            self.norm.build(x_shape)

    def call(
        self,
        x,
        encoded,
        attention_mask=None,
        cross_attention_mask=None,
        return_attention_scores=False,
        training=None,
    ):
        x = self.dropout(x, training=training)
        all_self_scores, all_cross_scores = [], []
        for layer in self.layers:
            x, self_scores, cross_scores = layer(
                x,
                encoded,
                attention_mask=attention_mask,
                cross_attention_mask=cross_attention_mask,
                return_attention_scores=True,
                training=training,
            )
            all_self_scores.append(self_scores)
            all_cross_scores.append(cross_scores)
        if self.pre_norm:
            x = self.norm(x)
        return (x, all_self_scores, all_cross_scores) if return_attention_scores else x

    def read(self, encoded):
        """What the layers look at of the source: a list of `DecoderLayer.read`."""
        return [layer.read(encoded) for layer in self.layers]

    def new_cache(self, batch_size, slots):
        """Room for what the layers look at of the target: a list of `DecoderLayer.new_cache`."""
        return [layer.new_cache(batch_size, slots) for layer in self.layers]

    def step(self, x, memory, cache, slot, attention_mask=None, cross_attention_mask=None):
        """What `call` does, for the newest token of each hypothesis of a search alone.

        Args:
            x: Tensor `(batch, beam_size, d_model)`.
            memory: What `read` returned.
            cache: What `new_cache` returned, or the last `step`.
            slot: As in `DecoderLayer.step`, like the masks.
            attention_mask: Of each hypothesis its own tokens.
            cross_attention_mask: No padding of the source.

        Returns:
            Tensor `(batch, beam_size, d_model)`, the new cache, and the cross-attention scores of
            the last layer, `(batch, num_heads, beam_size, source_len)`.
        """
        new_cache = []
        for layer, layer_memory, layer_cache in zip(self.layers, memory, cache, strict=True):
            x, layer_cache, cross_scores = layer.step(
                x, layer_memory, layer_cache, slot, attention_mask, cross_attention_mask
            )
            new_cache.append(layer_cache)
        if self.pre_norm:
            x = self.norm(x)
        return x, new_cache, cross_scores

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


def _remember(cache, new, slot):
    if slot is None:
        return ops.concatenate([cache, new], axis=2)
    return ops.slice_update(cache, (0, 0, slot, 0), new)
