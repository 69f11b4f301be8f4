"""Search: from scores of the next token to whole translations."""

from transformer_tf.decoding.beam import BeamSearch
from transformer_tf.decoding.engine import KerasEngine
from transformer_tf.decoding.greedy import GreedySearch
from transformer_tf.decoding.loop import translate_ids
from transformer_tf.decoding.search import Search
from transformer_tf.hypothesis import Hypothesis

__all__ = ["BeamSearch", "GreedySearch", "Hypothesis", "KerasEngine", "Search", "translate_ids"]
