"""The Transformer of "Attention Is All You Need" (figure 1 of Vaswani et al. 2017)."""

import keras
from keras import ops

from transformer_tf.layers import (
    Decoder,
    Encoder,
    PositionalEmbedding,
    causal_mask,
    padding_mask,
)
from transformer_tf.layers.positional import POSITIONS

TIE_EMBEDDINGS = ("none", "target", "all")


@keras.saving.register_keras_serializable(package="transformer_tf")
class Transformer(keras.Model):
    """Computes the logits of the next target tokens from source and target token ids.

    Args:
        num_layers: Number of encoder layers (N = 6 in the paper).
        d_model: Size of a position's vector (512 in the paper).
        num_heads: Number of attention heads of a layer (8 in the paper).
        d_ff: Size of the hidden layer of the feed-forward networks (2048 in the paper).
        source_vocab_size: Number of source token ids, padding included.
        target_vocab_size: Number of target token ids, padding included.
        dropout_rate: Dropout rate of the embeddings and of each sub-layer's output (§5.4).
        pre_norm: Whether to normalize before each sub-layer (Xiong et al. 2020). The paper
            normalizes after it.
        tie_embeddings: `"none"`; `"target"`: the target embedding is also the output projection;
            `"all"`: the source embedding is the same matrix too (§3.4), for a shared vocabulary.
        position: `"sinusoidal"` or `"learned"` positions (§3.5).
        max_length: Number of learned positions; sinusoidal positions ignore it.
        num_decoder_layers: Number of decoder layers; by default as many as encoder layers.
        pad_id: The padding id.
        **kwargs: Arguments of `keras.Model`.

    Call arguments:
        inputs: Dictionary of integer tensors: `"source"` `(batch, source_len)` and
            `"target_input"` `(batch, target_len)`, the target shifted right by its start token.
        return_attention_scores: Whether to also return the attention scores.

    Returns:
        `float32` logits `(batch, target_len, target_vocab_size)`: those at position t score the
        token after `target_input[:, t]`. With `return_attention_scores`, a tuple of the logits
        and a dictionary of lists, one tensor for each layer: `"encoder"`
        `(batch, num_heads, source_len, source_len)`, `"decoder"`
        `(batch, num_heads, target_len, target_len)` and `"cross"`
        `(batch, num_heads, target_len, source_len)`.

    Raises:
        ValueError: If a size is less than 1, `d_model` is not a multiple of `num_heads`, `position`
            or `tie_embeddings` is unknown, or `tie_embeddings` is `"all"` and the vocabularies have
            different sizes.
    """

    def __init__(
        self,
        *,
        num_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        source_vocab_size: int,
        target_vocab_size: int,
        dropout_rate: float = 0.1,
        pre_norm: bool = False,
        tie_embeddings: str = "none",
        position: str = "sinusoidal",
        max_length: int = 512,
        num_decoder_layers: int | None = None,
        pad_id: int = 0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        num_decoder_layers = num_layers if num_decoder_layers is None else num_decoder_layers
        sizes = {
            "num_layers": num_layers,
            "num_decoder_layers": num_decoder_layers,
            "d_model": d_model,
            "num_heads": num_heads,
            "d_ff": d_ff,
            "source_vocab_size": source_vocab_size,
            "target_vocab_size": target_vocab_size,
            "max_length": max_length,
        }
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"`{name}` must be at least 1. Received: {name}={size}")
        if d_model % num_heads:
            raise ValueError(
                f"`d_model` must be a multiple of `num_heads`. Received: {d_model=}, {num_heads=}"
            )
        if position not in POSITIONS:
            raise ValueError(f"`position` must be one of {POSITIONS}. Received: {position=}")
        if tie_embeddings not in TIE_EMBEDDINGS:
            raise ValueError(
                f"`tie_embeddings` must be one of {TIE_EMBEDDINGS}. Received: {tie_embeddings=}"
            )
        if tie_embeddings == "all" and source_vocab_size != target_vocab_size:
            raise ValueError(
                'tie_embeddings="all" needs one vocabulary for source and target. Received: '
                f"{source_vocab_size=}, {target_vocab_size=}"
            )
        self.num_layers = num_layers
        self.num_decoder_layers = num_decoder_layers
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.source_vocab_size = source_vocab_size
        self.target_vocab_size = target_vocab_size
        self.dropout_rate = dropout_rate
        self.pre_norm = pre_norm
        self.tie_embeddings = tie_embeddings
        self.position = position
        self.max_length = max_length
        self.pad_id = pad_id

    def build(self, input_shape=None):
        ids_shape, hidden_shape = (None, None), (None, None, self.d_model)
        policy = self.dtype_policy
        self.source_embedding = self._embedding(self.source_vocab_size, "source_embedding")
        self.source_embedding.build(ids_shape)
        if self.tie_embeddings == "all":
            self.target_embedding = self.source_embedding
        else:
            self.target_embedding = self._embedding(self.target_vocab_size, "target_embedding")
            self.target_embedding.build(ids_shape)

        sizes = {
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "d_ff": self.d_ff,
            "dropout_rate": self.dropout_rate,
            "pre_norm": self.pre_norm,
            "dtype": policy,
        }
        self.encoder = Encoder(num_layers=self.num_layers, **sizes, name="encoder")
        self.encoder.build(hidden_shape)
        self.decoder = Decoder(num_layers=self.num_decoder_layers, **sizes, name="decoder")
        self.decoder.build(hidden_shape, hidden_shape)

        if self.tie_embeddings == "none":
            self.output_projection = keras.layers.Dense(
                self.target_vocab_size, dtype=policy, name="output_projection"
            )
            self.output_projection.build(hidden_shape)

    def _embedding(self, vocab_size, name):
        return PositionalEmbedding(
            vocab_size,
            self.d_model,
            self.position,
            self.max_length,
            dtype=self.dtype_policy,
            name=name,
        )

    def call(self, inputs, return_attention_scores=False, training=None):
        hidden, scores = self.decoder_output(inputs, training=training)
        logits = self.project(hidden)
        return (logits, scores) if return_attention_scores else logits

    def decoder_output(self, inputs, training=None):
        """Returns the output of the decoder, before the projection onto the vocabulary.

        Args:
            inputs: The inputs of `call`.
            training: Whether to apply dropout.

        Returns:
            Tensor `(batch, target_len, d_model)`, and the scores that `call` returns.
        """
        source = inputs["source"]
        encoded, encoder_scores = self.encode(
            source, return_attention_scores=True, training=training
        )
        hidden, scores = self.decode(
            inputs["target_input"], encoded, padding_mask(source, self.pad_id), training
        )
        return hidden, {"encoder": encoder_scores, **scores}

    def project(self, hidden):
        """Projects decoder outputs onto the target vocabulary (§3.4).

        Args:
            hidden: Tensor `(..., d_model)`.

        Returns:
            `float32` logits `(..., target_vocab_size)`.
        """
        if self.tie_embeddings == "none":
            return ops.cast(self.output_projection(hidden), "float32")
        return ops.cast(self.target_embedding.project(hidden), "float32")

    def projection_weights(self):
        """Returns the weights of `project`, for a loss that computes the logits in chunks.

        Returns:
            The matrix `(d_model, target_vocab_size)`, and the bias `(target_vocab_size,)` or None.
        """
        if self.tie_embeddings == "none":
            kernel, bias = self.output_projection.kernel, self.output_projection.bias
            return ops.convert_to_tensor(kernel), ops.convert_to_tensor(bias)
        return ops.transpose(ops.convert_to_tensor(self.target_embedding.embeddings)), None

    def encode(self, source, return_attention_scores=False, training=None):
        """Encodes the source.

        Args:
            source: Integer tensor `(batch, source_len)`.
            return_attention_scores: Whether to also return the attention scores.
            training: Whether to apply dropout.

        Returns:
            Tensor `(batch, source_len, d_model)`; with `return_attention_scores`, a tuple of this
            tensor and a list of each layer's scores.
        """
        return self.encoder(
            self.source_embedding(source),
            attention_mask=padding_mask(source, self.pad_id),
            return_attention_scores=return_attention_scores,
            training=training,
        )

    def decode(self, target_input, encoded, cross_attention_mask, training=None):
        """Decodes the target, given the encoded source.

        Args:
            target_input: Integer tensor `(batch, target_len)` that begins with the start token.
            encoded: Tensor `(batch, source_len, d_model)`, the output of `encode`.
            cross_attention_mask: Boolean tensor `(batch, 1, 1, source_len)`, the padding mask of
                the source.
            training: Whether to apply dropout.

        Returns:
            Tensor `(batch, target_len, d_model)`, from which `project` computes the logits of the
            token after each token of `target_input`, and a dictionary
            `{"decoder": [...], "cross": [...]}` of each layer's attention scores.
        """
        length = ops.shape(target_input)[1]
        attention_mask = ops.logical_and(
            padding_mask(target_input, self.pad_id), causal_mask(length)
        )
        hidden, self_scores, cross_scores = self.decoder(
            self.target_embedding(target_input),
            encoded,
            attention_mask=attention_mask,
            cross_attention_mask=cross_attention_mask,
            return_attention_scores=True,
            training=training,
        )
        return hidden, {"decoder": self_scores, "cross": cross_scores}

    def encode_for_search(self, source):
        """Encodes the source and computes the keys and values of cross-attention.

        Args:
            source: Integer tensor `(batch, source_len)`.

        Returns:
            A dictionary: `"layers"`, the list of `Decoder.cross_attention_cache`, and `"mask"`, the
            padding mask `(batch, 1, 1, source_len)`.
        """
        return {
            "layers": self.decoder.cross_attention_cache(self.encode(source)),
            "mask": padding_mask(source, self.pad_id),
        }

    def step(
        self, token, positions, cross_attention_cache, cache, cache_index, attention_mask=None
    ):
        """Computes the logits of the next token of each translation.

        They equal the last logits of `decode`. The keys and values of earlier positions come from
        the cache.

        Args:
            token: Integer tensor `(batch, 1)`, the newest token of each translation; at the first
                step the start token.
            positions: Tensor `(1, 1, d_model)`, the positional encoding of the token: a row of
                `target_embedding.position_table`.
            cross_attention_cache: The result of `encode_for_search`.
            cache: The result of `decoder.new_cache` or of the last `step`.
            cache_index: Index in the cache at which to write the keys and values of the token; an
                int or a scalar tensor. With None they are appended.
            attention_mask: Boolean tensor `(batch, 1, 1, cache_length)`: True for the tokens that
                are cached, the newest included; with appending that is one entry more than the
                old cache has. None for all entries.

        Returns:
            `float32` logits `(batch, target_vocab_size)`, and the new cache.
        """
        hidden, cache = self.decoder.step(
            self.target_embedding(token, positions=positions),
            cross_attention_cache["layers"],
            cache,
            cache_index,
            attention_mask,
            cross_attention_cache["mask"],
        )
        return self.project(hidden[:, 0]), cache

    def get_config(self):
        return {
            **super().get_config(),
            "num_layers": self.num_layers,
            "num_decoder_layers": self.num_decoder_layers,
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "d_ff": self.d_ff,
            "source_vocab_size": self.source_vocab_size,
            "target_vocab_size": self.target_vocab_size,
            "dropout_rate": self.dropout_rate,
            "pre_norm": self.pre_norm,
            "tie_embeddings": self.tie_embeddings,
            "position": self.position,
            "max_length": self.max_length,
            "pad_id": self.pad_id,
        }
