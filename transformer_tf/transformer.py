"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017), figure 1 as a whole."""

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
    """Encoder and decoder, from token ids to a score for every next token.

    Args:
        num_layers: Number of encoder layers, and of decoder layers (N = 6 in the paper).
        d_model: Size of a position's vector (512 in the paper).
        num_heads: Number of attention heads of a layer (8 in the paper).
        d_ff: Size of the hidden layer of the feed-forward networks (2048 in the paper).
        source_vocab_size: Number of source token ids, padding included.
        target_vocab_size: Number of target token ids, padding included.
        dropout_rate: Dropout of the embeddings and of each sub-layer's output (§5.4).
        pre_norm: Whether to normalise before each sub-layer (Xiong et al. 2020). The paper
            normalises after it.
        tie_embeddings: `"none"`; `"target"`: the target embedding is the output projection too;
            `"all"`: and the source embedding is the same matrix (§3.4), for a shared vocabulary.
        position: `"sinusoidal"` or `"learned"` positions (§3.5).
        max_length: Number of learned positions. Not used by `"sinusoidal"`.
        pad_id: The id that fills short sequences up.
        **kwargs: Arguments of `keras.Model`.

    Call arguments:
        inputs: Dictionary of integer tensors: `"source"` `(batch, source_len)` and
            `"target_input"` `(batch, target_len)`, the target shifted right by its start token.
        return_attention_scores: Whether to return the attention scores beside the logits.

    Returns:
        `float32` logits `(batch, target_len, target_vocab_size)`; those at position t score the
        token after `target_input[:, t]`. With `return_attention_scores` a pair of them and a
        dictionary of lists with one tensor a layer: `"encoder"`
        `(batch, num_heads, source_len, source_len)`, `"decoder"`
        `(batch, num_heads, target_len, target_len)` and `"cross"`
        `(batch, num_heads, target_len, source_len)`.

    Raises:
        ValueError: If `d_model` is no multiple of `num_heads`, `position` or `tie_embeddings` is
            unknown, or `tie_embeddings` is `"all"` for vocabularies of different sizes.
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
        pad_id: int = 0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if d_model % num_heads:
            raise ValueError(
                "`d_model` must be a multiple of `num_heads`. "
                f"Received: d_model={d_model}, num_heads={num_heads}"
            )
        if position not in POSITIONS:
            raise ValueError(f"`position` must be one of {POSITIONS}. Received: {position=}")
        if tie_embeddings not in TIE_EMBEDDINGS:
            raise ValueError(
                f"`tie_embeddings` must be one of {TIE_EMBEDDINGS}. "
                f"Received: tie_embeddings={tie_embeddings!r}"
            )
        if tie_embeddings == "all" and source_vocab_size != target_vocab_size:
            raise ValueError(
                'tie_embeddings="all" needs one vocabulary for source and target. Received: '
                f"source_vocab_size={source_vocab_size}, target_vocab_size={target_vocab_size}"
            )
        self.num_layers = num_layers
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

        stack = {
            "num_layers": self.num_layers,
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "d_ff": self.d_ff,
            "dropout_rate": self.dropout_rate,
            "pre_norm": self.pre_norm,
            "dtype": policy,
        }
        self.encoder = Encoder(**stack, name="encoder")
        self.encoder.build(hidden_shape)
        self.decoder = Decoder(**stack, name="decoder")
        self.decoder.build(hidden_shape, hidden_shape)

        if self.tie_embeddings == "none":
            self.output_projection = keras.layers.Dense(
                self.target_vocab_size, dtype=policy, name="output_projection"
            )
            self.output_projection.build(hidden_shape)
        self.built = True

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
        hidden, scores = self._hidden_and_scores(inputs, training)
        logits = self.project(hidden)
        return (logits, scores) if return_attention_scores else logits

    def hidden(self, inputs, training=None):
        """What `call` projects onto the vocabulary.

        Args:
            inputs: The inputs of `call`.
            training: Whether dropout is on.

        Returns:
            Tensor `(batch, target_len, d_model)`.
        """
        return self._hidden_and_scores(inputs, training)[0]

    def _hidden_and_scores(self, inputs, training):
        source = inputs["source"]
        encoded, encoder_scores = self.encode(
            source, return_attention_scores=True, training=training
        )
        hidden, scores = self._decode(
            inputs["target_input"], encoded, padding_mask(source, self.pad_id), training
        )
        return hidden, {"encoder": encoder_scores, **scores}

    def project(self, hidden):
        """Scores every token of the target vocabulary (§3.4).

        Args:
            hidden: Tensor `(..., d_model)`.

        Returns:
            `float32` logits `(..., target_vocab_size)`.
        """
        if self.tie_embeddings == "none":
            return ops.cast(self.output_projection(hidden), "float32")
        return ops.cast(self.target_embedding.project(hidden), "float32")

    def projection_weights(self):
        """The weights of `project`, for a loss that does without the logits as a whole.

        Returns:
            The matrix `(d_model, target_vocab_size)`, and the bias `(target_vocab_size,)` or None.
        """
        if self.tie_embeddings == "none":
            kernel, bias = self.output_projection.kernel, self.output_projection.bias
            return ops.convert_to_tensor(kernel), ops.convert_to_tensor(bias)
        return ops.transpose(ops.convert_to_tensor(self.target_embedding.embeddings)), None

    def encode(self, source, return_attention_scores=False, training=None):
        """Reads the source once.

        Args:
            source: Integer tensor `(batch, source_len)`.
            return_attention_scores: Whether to return the scores beside the output.
            training: Whether dropout is on.

        Returns:
            Tensor `(batch, source_len, d_model)`; with `return_attention_scores` a pair of it and
            the list of each layer's scores.
        """
        return self.encoder(
            self.source_embedding(source),
            attention_mask=padding_mask(source, self.pad_id),
            return_attention_scores=return_attention_scores,
            training=training,
        )

    def decode(
        self,
        target_input,
        encoded,
        cross_attention_mask,
        return_attention_scores=False,
        training=None,
    ):
        """Scores the token after each token of `target_input`.

        Args:
            target_input: Integer tensor `(batch, target_len)`, starting with the start token.
            encoded: Tensor `(batch, source_len, d_model)`, what `encode` returned.
            cross_attention_mask: Boolean tensor `(batch, 1, 1, source_len)`, the padding mask of
                the source.
            return_attention_scores: Whether to return the scores beside the logits.
            training: Whether dropout is on.

        Returns:
            `float32` logits `(batch, target_len, target_vocab_size)`; with
            `return_attention_scores` a pair of them and a dictionary
            `{"decoder": [...], "cross": [...]}` of each layer's scores.
        """
        hidden, scores = self._decode(target_input, encoded, cross_attention_mask, training)
        logits = self.project(hidden)
        return (logits, scores) if return_attention_scores else logits

    def _decode(self, target_input, encoded, cross_attention_mask, training):
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

    def read(self, source):
        """Reads the source once, for a search over its translations.

        Args:
            source: Integer tensor `(batch, source_len)`.

        Returns:
            A dictionary: `"layers"`, the list of `Decoder.read`, and `"mask"`, the padding mask
            `(batch, 1, 1, source_len)`.
        """
        return {
            "layers": self.decoder.read(self.encode(source)),
            "mask": padding_mask(source, self.pad_id),
        }

    def step(self, token, positions, memory, cache, slot, attention_mask=None):
        """Scores the token after the newest one of each hypothesis of a search.

        What `decode` says of the last position, without computing those before it again.

        Args:
            token: Integer tensor `(batch, beam_size)`, the newest token of each hypothesis; the
                start token at first.
            positions: Tensor `(batch, 1, d_model)`, the vectors of the tokens' positions: rows of
                `target_embedding.position_table`.
            memory: What `read` returned.
            cache: What `decoder.new_cache` returned, or the last `step`.
            slot: Where in the cache to keep what the tokens add: slots `slot … slot + beam_size -
                1`; an int or a scalar tensor. With None they are appended.
            attention_mask: Boolean tensor `(batch, 1, beam_size, slots)`: which slots hold the
                tokens of each hypothesis, the newest among them. None for all.

        Returns:
            `float32` logits `(batch, beam_size, target_vocab_size)`, the new cache, and the
            cross-attention scores of the last layer, `(batch, num_heads, beam_size, source_len)`.
        """
        hidden, cache, cross_scores = self.decoder.step(
            self.target_embedding(token, positions=positions),
            memory["layers"],
            cache,
            slot,
            attention_mask,
            memory["mask"],
        )
        # As a matrix: back ends copy a matrix that is multiplied with a batch of vectors.
        logits = self.project(ops.reshape(hidden, (-1, self.d_model)))
        logits = ops.reshape(logits, (-1, token.shape[1], self.target_vocab_size))
        return logits, cache, cross_scores

    def get_config(self):
        return {
            **super().get_config(),
            "num_layers": self.num_layers,
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
