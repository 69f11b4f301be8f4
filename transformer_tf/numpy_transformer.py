"""The Transformer in NumPy: the whole forward pass, in the order of the paper.

Each function computes the same as the layer of its name in `transformer_tf/layers/`. Weights are
nested dictionaries of layer names, as `read_weights` returns them: (kernel, bias) for a dense layer
and (gamma, beta) for a normalization. Numbers are float32; masks are boolean, True = may attend.
"""

import numpy as np

MASKED_SCORE = np.float32(-1e9)  # exp(score - 1e9) is exactly 0 in float32
EPSILON = 1e-6
SMALL_PRODUCT = 1_000_000  # largest rows · depth · columns that OpenBLAS multiplies without a copy

# §3.2 Attention


def scaled_dot_product_attention(query, key, value, mask=None):
    """softmax(QKᵀ / √d_k) V, equation 1 (§3.2.1). Returns the output and the scores."""
    scores = query * key.shape[-1] ** -0.5 @ key.swapaxes(-2, -1)  # (..., query_len, key_len)
    if mask is not None:
        scores += np.where(mask, 0, MASKED_SCORE)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ value, scores


def multi_head_attention(query, key, value, weights, num_heads, mask=None):
    """Attends with several heads, each with its own projections. Returns the output and scores."""
    key, value = keys_and_values(key, value, weights, num_heads)
    return attend(query, key, value, weights, mask)


def keys_and_values(key, value, weights, num_heads):
    """Projects keys and values and splits them into heads, for `attend`."""
    key = split_heads(dense(key, weights["key_projection"]), num_heads)
    return key, split_heads(dense(value, weights["value_projection"]), num_heads)


def attend(query, key, value, weights, mask=None):
    """Attends to the results of `keys_and_values`. Returns the output and the scores."""
    query = split_heads(dense(query, weights["query_projection"]), key.shape[1])
    output, scores = scaled_dot_product_attention(query, key, value, mask)
    return dense(merge_heads(output), weights["output_projection"]), scores


def split_heads(x, num_heads):
    """(batch, length, d_model) → (batch, num_heads, length, head_dim)."""
    return x.reshape(*x.shape[:2], num_heads, -1).swapaxes(1, 2)


def merge_heads(x):
    """(batch, num_heads, length, head_dim) → (batch, length, d_model)."""
    return x.swapaxes(1, 2).reshape(len(x), x.shape[2], -1)


# §3.3 Feed-forward networks


def feed_forward(x, weights):
    """max(0, x W₁ + b₁) W₂ + b₂, equation 2."""
    return dense(np.maximum(dense(x, weights["hidden"]), 0), weights["output_projection"])


def dense(x, weights):
    """Computes x W + b, as one matrix product over all tokens of the batch."""
    kernel, bias = weights
    y = product(x.reshape(-1, len(kernel)), kernel)
    y += bias
    return y.reshape(*x.shape[:-1], -1)


def product(x, kernel):
    """Multiplies two matrices, in strips of columns if `x` has few rows, as in beam search.

    OpenBLAS copies a large kernel first. Strips avoid the copy: 4 × 256 · 256 × 1024 takes 48 µs
    instead of 104.
    """
    if not 1 < len(x) <= 8 or x.size * kernel.shape[1] <= SMALL_PRODUCT:
        return x @ kernel
    width, columns = SMALL_PRODUCT // x.size, kernel.shape[1]
    y = np.empty((len(x), columns), "float32")
    for strip in (slice(begin, begin + width) for begin in range(0, columns, width)):
        np.matmul(x, kernel[:, strip], out=y[:, strip])
    return y


# §3.4 and §3.5 Embeddings and positions


def positional_embedding(ids, weights, positions):
    """Token embedding × √d_model + position: (batch, length) → (batch, length, d_model)."""
    embeddings = weights[0]
    return embeddings[ids] * embeddings.shape[1] ** 0.5 + positions


def position_table(length, weights):
    """Returns the vectors of the first positions, learned or sinusoidal: (length, d_model)."""
    embeddings, *learned = weights
    return learned[0][:length] if learned else positional_encoding(length, embeddings.shape[1])


def positional_encoding(length, d_model):
    """Sines in the even dimensions, cosines in the odd ones: (length, d_model)."""
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    sin_cos = np.stack([np.sin(angle), np.cos(angle)], axis=-1)  # (length, frequencies, 2)
    return sin_cos.reshape(length, -1)[:, :d_model].astype("float32")


# §3.1 Encoder and decoder


def layer_normalization(x, weights):
    """(x - mean) / √(variance + ε) · γ + β over the last axis (Ba et al. 2016)."""
    gamma, beta = weights
    x = x - x.sum(axis=-1, keepdims=True) / x.shape[-1]
    variance = (x * x).sum(axis=-1, keepdims=True) / x.shape[-1]
    return x / np.sqrt(variance + EPSILON) * gamma + beta


def encoder_layer(x, weights, num_heads, pre_norm, mask):
    """Self-attention over the source, then a feed-forward network. Returns the output and scores.

    The paper normalizes after each sub-layer, a model with `pre_norm` before it.
    """
    norm = weights["self_attention_norm"]
    y = layer_normalization(x, norm) if pre_norm else x
    y, scores = multi_head_attention(y, y, y, weights["self_attention"], num_heads, mask)
    x = x + y if pre_norm else layer_normalization(x + y, norm)

    norm = weights["feed_forward_norm"]
    y = layer_normalization(x, norm) if pre_norm else x
    y = feed_forward(y, weights["feed_forward"])
    return x + y if pre_norm else layer_normalization(x + y, norm), scores


def decoder_layer(x, cross_cache, weights, pre_norm, mask, cross_mask, cache=None, index=0):
    """Self-attention over the target, cross-attention to the source, then a feed-forward network.

    `cross_cache` holds the keys and values of the source, (2, batch, num_heads, source_len,
    head_dim). In a search, `x` holds only the newest tokens, and `cache` the keys and values of the
    target, (2, batch, num_heads, cache_len, head_dim); those of `x` are written at `index`.

    Returns the output, the self-attention scores and the cross-attention scores.
    """
    norm = weights["self_attention_norm"]
    y = layer_normalization(x, norm) if pre_norm else x
    key, value = keys_and_values(y, y, weights["self_attention"], cross_cache.shape[2])
    if cache is not None:
        end = index + x.shape[1]
        cache[0, :, :, index:end], cache[1, :, :, index:end] = key, value
        key, value = cache[:, :, :, :end]
    y, scores = attend(y, key, value, weights["self_attention"], mask)
    x = x + y if pre_norm else layer_normalization(x + y, norm)

    norm = weights["cross_attention_norm"]
    y = layer_normalization(x, norm) if pre_norm else x
    y, cross_scores = attend(
        y, cross_cache[0], cross_cache[1], weights["cross_attention"], cross_mask
    )
    x = x + y if pre_norm else layer_normalization(x + y, norm)

    norm = weights["feed_forward_norm"]
    y = layer_normalization(x, norm) if pre_norm else x
    y = feed_forward(y, weights["feed_forward"])
    x = x + y if pre_norm else layer_normalization(x + y, norm)
    return x, scores, cross_scores


class NumpyTransformer:
    """The Transformer in NumPy: the forward pass of `Transformer` without a framework.

    Args:
        weights: The weights, from `read_weights`.
        num_heads: Number of attention heads of a layer.
        pre_norm: Whether to normalize before each sub-layer instead of after it.
        pad_id: The padding id.
    """

    def __init__(self, weights, num_heads, pre_norm, pad_id=0):
        self.encoder, self.decoder = weights["encoder"], weights["decoder"]
        self.num_heads, self.pre_norm, self.pad_id = num_heads, pre_norm, pad_id
        self.source_embedding = weights["source_embedding"]
        self.target_embedding = weights.get("target_embedding", self.source_embedding)
        self.output_projection = weights.get("output_projection")
        if self.output_projection is None:
            # Tied (§3.4), but copied: products with a transposed matrix take twice as long.
            kernel = np.ascontiguousarray(self.target_embedding[0].T)
            self.output_projection = kernel, np.float32(0)

    def __call__(self, source, target_input):
        """Computes the logits of the token after each token of the target.

        Args:
            source: Integer array (batch, source_len).
            target_input: Integer array (batch, target_len).

        Returns:
            The logits (batch, target_len, target_vocab_size), and a dictionary of each layer's
            attention scores: "encoder", "decoder" and "cross".
        """
        encoded, scores = self.encode(source)
        length = target_input.shape[1]
        causal_mask = np.tri(length, dtype=bool)
        logits, self_scores, cross_scores = self.decode(
            target_input,
            position_table(length, self.target_embedding),
            self.cross_attention_cache(encoded),
            self.padding_mask(target_input) & causal_mask,
            self.padding_mask(source),
        )
        return logits, {"encoder": scores, "decoder": self_scores, "cross": cross_scores}

    def padding_mask(self, ids):
        """True for tokens, False for padding: (batch, 1, 1, length)."""
        return (ids != self.pad_id)[:, None, None]

    def encode(self, source):
        """Returns (batch, source_len, d_model) and the list of each layer's scores."""
        x = positional_embedding(
            source, self.source_embedding, position_table(source.shape[1], self.source_embedding)
        )
        mask, all_scores = self.padding_mask(source), []
        for weights in self.encoder["layers"]:
            x, scores = encoder_layer(x, weights, self.num_heads, self.pre_norm, mask)
            all_scores.append(scores)
        return layer_normalization(x, self.encoder["norm"]) if self.pre_norm else x, all_scores

    def decode(self, target, positions, cross_cache, mask, cross_mask, cache=None, index=0):
        """Returns the logits, and a list of each layer's scores for self- and cross-attention.

        For one step of a search, `target` holds the newest token of each hypothesis, and `cache`
        comes from `new_cache`. Masks broadcast to (batch, num_heads, target_len, key_len).
        """
        x = positional_embedding(target, self.target_embedding, positions)
        all_scores, all_cross_scores = [], []
        for layer, weights in enumerate(self.decoder["layers"]):
            layer_cache = None if cache is None else cache[layer]
            x, scores, cross_scores = decoder_layer(
                x, cross_cache[layer], weights, self.pre_norm, mask, cross_mask, layer_cache, index
            )
            all_scores.append(scores)
            all_cross_scores.append(cross_scores)
        x = layer_normalization(x, self.decoder["norm"]) if self.pre_norm else x
        return dense(x, self.output_projection), all_scores, all_cross_scores

    def cross_attention_cache(self, encoded):
        """Returns keys and values, (layers, 2, batch, num_heads, source_len, head_dim)."""
        layers = [layer["cross_attention"] for layer in self.decoder["layers"]]
        return np.array([keys_and_values(encoded, encoded, w, self.num_heads) for w in layers])

    def new_cache(self, batch_size, length):
        """Returns an empty cache, (layers, 2, batch_size, num_heads, length, head_dim)."""
        head_dim = self.target_embedding[0].shape[1] // self.num_heads
        shape = len(self.decoder["layers"]), 2, batch_size, self.num_heads, length, head_dim
        return np.empty(shape, "float32")
