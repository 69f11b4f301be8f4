"""Greedy search, sampling and beam search, and the Keras engine that runs them."""

from typing import TYPE_CHECKING

from transformer_tf.utils.lazy import lazy_names

if TYPE_CHECKING:
    from transformer_tf.decoding.beam import BeamSearch
    from transformer_tf.decoding.engine import KerasEngine
    from transformer_tf.decoding.greedy import GreedySearch
    from transformer_tf.decoding.hypothesis import Hypothesis
    from transformer_tf.decoding.loop import translate_ids
    from transformer_tf.decoding.search import Search

__all__ = ["BeamSearch", "GreedySearch", "Hypothesis", "KerasEngine", "Search", "translate_ids"]

# The NumPy engine must not import Keras.
__getattr__ = lazy_names(
    __name__,
    {
        "BeamSearch": "transformer_tf.decoding.beam",
        "GreedySearch": "transformer_tf.decoding.greedy",
        "Hypothesis": "transformer_tf.decoding.hypothesis",
        "KerasEngine": "transformer_tf.decoding.engine",
        "Search": "transformer_tf.decoding.search",
        "translate_ids": "transformer_tf.decoding.loop",
    },
)
