"""The search loop over a batch of sentences, as one function that a backend can compile."""

from __future__ import annotations

from keras import ops

from transformer_tf.decoding.search import Search
from transformer_tf.transformer import Transformer


def translate_ids(
    model: Transformer,
    search: Search,
    start_id: int,
    source,
    limit,
    seed,
    prefix=None,
    *,
    max_length,
):
    """Translates a batch of sentences, one token per step, until all of them are done.

    Each step writes the keys and values of all hypotheses at the same index of the cache. A
    hypothesis attends to its own tokens through a mask, so beam search reorders the mask instead
    of the larger cache.

    Args:
        model: The model.
        search: The search.
        start_id: The id of the start token.
        source: Integer tensor `(batch, source_len)`.
        limit: Integer tensor `(batch,)`: the maximum number of tokens of each translation, the end
            token included; at least 1.
        seed: Integer tensor `(batch,)`: the seed of each sentence's random draws.
        prefix: Integer tensor `(batch, prefix_len)`: the first tokens of each translation, -1 after
            the last of them. None for no prefixes.
        max_length: The largest limit.

    Returns:
        A dictionary of the `outputs` of the search.
    """
    batch_size, beam_size = ops.shape(source)[0], search.beam_size
    cache_length = max_length * beam_size
    cross_attention_cache = model.encode_for_search(source)
    position_table = model.target_embedding.position_table(max_length)
    state = {
        "token": ops.full((batch_size, beam_size), start_id, "int32"),
        "parent": ops.zeros((batch_size, beam_size), "int32"),
        "limit": limit,
        "seed": seed,
        "done": ops.zeros((batch_size,), "bool"),
        **search.start(batch_size, max_length),
    }
    if prefix is not None:
        state["prefix"] = prefix

    def is_unfinished(step, state, mask, cache):
        return ops.logical_not(ops.all(state["done"]))

    def advance(step, state, mask, cache):
        mask = _update_mask(mask, state["token"] != model.pad_id, state["parent"], step)
        position = ops.take(position_table, ops.reshape(step, (1, 1)), axis=0)  # (1, 1, d_model)
        logits, cache = model.step(
            state["token"], position, cross_attention_cache, cache, step * beam_size, mask[:, None]
        )
        return step + 1, search.advance(state, logits, step), mask, cache

    step = ops.zeros((), "int32")
    mask = ops.zeros((batch_size, beam_size, cache_length), "bool")
    cache = model.decoder.new_cache(batch_size, cache_length)
    _, state, _, _ = ops.while_loop(is_unfinished, advance, (step, state, mask, cache))
    return {name: state[name] for name in search.outputs if name in state}


def _update_mask(mask, is_token, parent, step):
    """Lets each hypothesis attend to its parent's tokens and to its own newest token.

    The mask is `(batch, beam_size, max_length · beam_size)`, the others `(batch, beam_size)`.
    """
    beam_size = mask.shape[1]
    if beam_size > 1:
        mask = ops.take_along_axis(mask, parent[:, :, None], axis=1)
    newest = ops.logical_and(ops.eye(beam_size, dtype="bool"), is_token[:, :, None])
    return ops.slice_update(mask, (0, 0, step * beam_size), newest)
