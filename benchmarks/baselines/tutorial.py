"""The translation loop of TensorFlow's tutorial: one pass of the whole model for each token."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from transformer_tf.transformer import Transformer


def make_translate(
    model: Transformer, start_id: int, end_id: int, max_length: int
) -> Callable[[list[int]], list[int]]:
    """Returns a greedy search for one sentence, compiled by `tf.function`.

    Every step encodes the source again, decodes the whole target so far and keeps the last
    position.

    Args:
        model: The model.
        start_id: The token every target starts with.
        end_id: The token that ends a target.
        max_length: Maximum number of tokens.

    Returns:
        A function from source ids to target ids without the start token.
    """

    @tf.function(input_signature=[tf.TensorSpec([1, None], tf.int32)])
    def search(source):
        tokens = tf.TensorArray(tf.int32, size=1, dynamic_size=True, clear_after_read=False)
        tokens = tokens.write(0, start_id)
        for position in tf.range(max_length):
            target = tokens.stack()[tf.newaxis]
            logits = model({"source": source, "target_input": target}, training=False)
            token = tf.argmax(logits[0, -1], output_type=tf.int32)
            tokens = tokens.write(position + 1, token)
            if token == end_id:
                break
        return tokens.stack()[1:]

    return lambda source: search(tf.constant([source], tf.int32)).numpy().tolist()
