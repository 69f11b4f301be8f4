"""Search: from scores of the next token to whole translations."""

from transformer_tf.decoding.greedy import greedy_search

__all__ = ["greedy_search"]
