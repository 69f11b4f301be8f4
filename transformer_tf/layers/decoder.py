"""The decoder: the right half of figure 1 of "Attention Is All You Need" (§3.1)."""

import keras
from keras import ops

from transformer_tf.layers.attention import MultiHeadAttention
from transformer_tf.layers.encoder import layer_normalization
from transformer_tf.layers.feed_forward import FeedForward


@keras.saving.register_keras_serializable(package="transformer_tf")
class DecoderLayer(keras.layers.Layer):
    """Masked self-attention, cross-attention to the source, then a feed-forward network.

    Each of the three sub-layers has dropout, a residual connection and layer normalization, as in
    `EncoderLayer`.

    Args:
        d_model: Size of a position's vector.
        num_heads: Number of attention heads.
        d_ff: Size of the hidden layer of the feed-forward network.
        dropout_rate: Dropout rate of each sub-layer's output.
        pre_norm: Whether to normalize before each sub-layer instead of after it.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        x: Tensor `(batch, target_len, d_model)`.
        encoded: Tensor `(batch, source_len, d_model)`, the output of the encoder.
        attention_mask: Boolean tensor that broadcasts to
            `(batch, num_heads, target_len, target_len)`, True = may attend: the causal mask
            combined with the padding mask of the target.
        cross_attention_mask: Boolean tensor that broadcasts to
            `(batch, num_heads, target_len, source_len)`: the padding mask of the source.
        return_attention_scores: Whether to also return the attention scores.

    Returns:
        Tensor `(batch, target_len, d_model)`; with `return_attention_scores`, a tuple of this
        tensor, the self-attention scores `(batch, num_heads, target_len, target_len)` and the
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
        self.self_attention_norm = layer_normalization("self_attention_norm", x_shape, policy)
        self.self_attention_dropout = keras.layers.Dropout(self.dropout_rate, dtype=policy)
        self.cross_attention = MultiHeadAttention(
            self.num_heads, self.d_model, dtype=policy, name="cross_attention"
        )
        self.cross_attention.build(x_shape, encoded_shape, encoded_shape)
        self.cross_attention_norm = layer_normalization("cross_attention_norm", x_shape, policy)
        self.cross_attention_dropout = keras.layers.Dropout(self.dropout_rate, dtype=policy)
        self.feed_forward = FeedForward(self.d_model, self.d_ff, dtype=policy, name="feed_forward")
        self.feed_forward.build(x_shape)
        self.feed_forward_norm = layer_normalization("feed_forward_norm", x_shape, policy)
        self.feed_forward_dropout = keras.layers.Dropout(self.dropout_rate, dtype=policy)

    def call(
        self,
        x,
        encoded,
        attention_mask=None,
        cross_attention_mask=None,
        return_attention_scores=False,
        training=None,
    ):
        x, self_scores, _ = self._self_attention_block(x, attention_mask, training=training)
        x, cross_scores = self._cross_attention_block(
            x, self.cross_attention_cache(encoded), cross_attention_mask, training=training
        )
        x = self._feed_forward_block(x, training=training)
        return (x, self_scores, cross_scores) if return_attention_scores else x

    def _self_attention_block(self, x, attention_mask, cache=None, cache_index=None, training=None):
        """Returns the new `x`, the attention scores, and the keys and values attended to."""
        residual = x
        if self.pre_norm:
            x = self.self_attention_norm(x)
        key, value = self.self_attention.keys_and_values(key=x, value=x)
        if cache is not None:
            key = _update(cache["key"], key, cache_index)
            value = _update(cache["value"], value, cache_index)
        x, scores = self.self_attention.attend(x, key, value, attention_mask)
        x = residual + self.self_attention_dropout(x, training=training)
        if not self.pre_norm:
            x = self.self_attention_norm(x)
        return x, scores, {"key": key, "value": value}

    def _cross_attention_block(self, x, cross_attention_cache, cross_attention_mask, training=None):
        """Returns the new `x` and the attention scores."""
        residual = x
        if self.pre_norm:
            x = self.cross_attention_norm(x)
        x, scores = self.cross_attention.attend(
            x, cross_attention_cache["key"], cross_attention_cache["value"], cross_attention_mask
        )
        x = residual + self.cross_attention_dropout(x, training=training)
        if not self.pre_norm:
            x = self.cross_attention_norm(x)
        return x, scores

    def _feed_forward_block(self, x, training=None):
        residual = x
        if self.pre_norm:
            x = self.feed_forward_norm(x)
        x = self.feed_forward(x)
        x = residual + self.feed_forward_dropout(x, training=training)
        if not self.pre_norm:
            x = self.feed_forward_norm(x)
        return x

    def cross_attention_cache(self, encoded):
        """Computes the keys and values of cross-attention, once for a whole search.

        Args:
            encoded: Tensor `(batch, source_len, d_model)`, the output of the encoder.

        Returns:
            A dictionary: `"key"` and `"value"`, each `(batch, num_heads, source_len, head_dim)`.
        """
        key, value = self.cross_attention.keys_and_values(key=encoded, value=encoded)
        return {"key": key, "value": value}

    def new_cache(self, batch_size, cache_length):
        """Returns an empty self-attention cache.

        Args:
            batch_size: Number of sentences.
            cache_length: Number of tokens to keep for each sentence.

        Returns:
            A dictionary: `"key"` and `"value"`, zeros
            `(batch_size, num_heads, cache_length, head_dim)`.
        """
        shape = (batch_size, self.num_heads, cache_length, self.d_model // self.num_heads)
        return {name: ops.zeros(shape, dtype=self.compute_dtype) for name in ("key", "value")}

    def step(
        self,
        x,
        cross_attention_cache,
        cache,
        cache_index,
        attention_mask=None,
        cross_attention_mask=None,
    ):
        """Runs `call` for the newest token of each translation, with cached keys and values.

        Args:
            x: Tensor `(batch, 1, d_model)`.
            cross_attention_cache: The result of `cross_attention_cache`.
            cache: The result of `new_cache` or of the last `step`.
            cache_index: Index in the cache at which to write the keys and values of `x`; an int or
                a scalar tensor. With None they are appended to the cache, which may be empty.
            attention_mask: Boolean tensor that broadcasts to `(batch, num_heads, 1, cache_length)`:
                True for the tokens that are cached, the newest included. If it is appended, that is
                one entry more than the old cache has.
            cross_attention_mask: Boolean tensor that broadcasts to
                `(batch, num_heads, 1, source_len)`.

        Returns:
            Tensor `(batch, 1, d_model)`, and the cache with the new keys and values.
        """
        x, _, cache = self._self_attention_block(x, attention_mask, cache, cache_index)
        x, _ = self._cross_attention_block(x, cross_attention_cache, cross_attention_mask)
        return self._feed_forward_block(x), cache

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
        dropout_rate: Dropout rate of the embeddings and of each sub-layer's output (§5.4).
        pre_norm: Whether to normalize before each sub-layer, and once after the last layer.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        x: Tensor `(batch, target_len, d_model)`, the output of `PositionalEmbedding`.
        encoded: Tensor `(batch, source_len, d_model)`, the output of the encoder.
        attention_mask: Boolean tensor that broadcasts to
            `(batch, num_heads, target_len, target_len)`, True = may attend: the causal mask
            combined with the padding mask of the target.
        cross_attention_mask: Boolean tensor that broadcasts to
            `(batch, num_heads, target_len, source_len)`: the padding mask of the source.
        return_attention_scores: Whether to also return the attention scores.

    Returns:
        Tensor `(batch, target_len, d_model)`; with `return_attention_scores`, a tuple of this
        tensor, a list of each layer's self-attention scores and a list of each layer's
        cross-attention scores.
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
            self.norm = layer_normalization("norm", x_shape, policy)

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

    def cross_attention_cache(self, encoded):
        """Returns a list of each layer's `DecoderLayer.cross_attention_cache`."""
        return [layer.cross_attention_cache(encoded) for layer in self.layers]

    def new_cache(self, batch_size, cache_length):
        """Returns a list of each layer's empty self-attention cache, `DecoderLayer.new_cache`."""
        return [layer.new_cache(batch_size, cache_length) for layer in self.layers]

    def step(
        self,
        x,
        cross_attention_cache,
        cache,
        cache_index,
        attention_mask=None,
        cross_attention_mask=None,
    ):
        """Runs `call` for the newest token of each translation, with cached keys and values.

        Args:
            x: Tensor `(batch, 1, d_model)`.
            cross_attention_cache: The result of `cross_attention_cache`.
            cache: The result of `new_cache` or of the last `step`.
            cache_index: As in `DecoderLayer.step`.
            attention_mask: As in `DecoderLayer.step`.
            cross_attention_mask: As in `DecoderLayer.step`.

        Returns:
            Tensor `(batch, 1, d_model)`, and the new cache.
        """
        new_cache = []
        for layer, layer_cross_cache, layer_cache in zip(
            self.layers, cross_attention_cache, cache, strict=True
        ):
            x, layer_cache = layer.step(
                x, layer_cross_cache, layer_cache, cache_index, attention_mask, cross_attention_mask
            )
            new_cache.append(layer_cache)
        if self.pre_norm:
            x = self.norm(x)
        return x, new_cache

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


def _update(cache, new, cache_index):
    """Writes keys or values at an index of the cache, or appends them."""
    if cache_index is None:
        return ops.concatenate([cache, new], axis=2)
    return ops.slice_update(cache, (0, 0, cache_index, 0), new)
