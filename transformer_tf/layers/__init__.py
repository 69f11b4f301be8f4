"""The layers of "Attention Is All You Need" (§3 of Vaswani et al. 2017)."""

from transformer_tf.layers.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_tf.layers.decoder import Decoder, DecoderLayer
from transformer_tf.layers.encoder import Encoder, EncoderLayer
from transformer_tf.layers.feed_forward import FeedForward
from transformer_tf.layers.masks import causal_mask, padding_mask
from transformer_tf.layers.positional import PositionalEmbedding, positional_encoding

__all__ = [
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "MultiHeadAttention",
    "PositionalEmbedding",
    "causal_mask",
    "padding_mask",
    "positional_encoding",
    "scaled_dot_product_attention",
]
