"""The loop of a search over many sentences, as one function that a back end can compile."""

from __future__ import annotations

import keras
from keras import ops

from transformer_tf.decoding.search import Search, State
from transformer_tf.transformer import Transformer

# The longest of the sentences, once done, can wait so many steps until another takes its place.
MAX_WAIT = 8


def translate_ids(
    model: Transformer,
    search: Search,
    start_id: int,
    source,
    limit,
    seed,
    count,
    *,
    batch_size,
    max_length,
    prefix=None,
):
    """Translates sentences, a batch of them at a time.

    The sources are all read first. Then `batch_size` sentences are extended together, and whenever
    a part of them is done the next ones take their places, so that hardly a row of the batch is
    computed for nothing.

    The keys and values of the targets are kept in a ring: all rows write to the same slot of it at
    a time, wherever they are in their sentences, and a mask says which slots are whose. So the
    writing is one in-place copy, a place changes hands by clearing its mask, and beam search
    reorders the mask instead of the keys and values.

    Args:
        model: The model.
        search: The search.
        start_id: The token every target starts with.
        source: Integer tensor `(sentences, source_len)`; sort sentences by falling length.
        limit: Integer tensor `(sentences,)`: most tokens of a translation, its end included; at
            least 1.
        seed: Integer tensor `(sentences,)`: what the random draws of each sentence depend on.
        count: Number of sentences; the rows of `source` from there on are not translated.
        batch_size: Number of sentences at a time.
        max_length: The largest limit.
        prefix: Integer tensor `(sentences, prefix_len)`: tokens to begin with, -1 after the last
            of them. None for none at all.

    Returns:
        The `outputs` of the search, each with the sentences on its first axis.
    """
    beam = search.beam_size
    ring = max_length + MAX_WAIT
    sentences, source_len = ops.shape(source)[0], ops.shape(source)[1]
    memory = _read(model, source, count, batch_size)
    table = model.target_embedding.position_table(max_length)
    fresh = {
        "token": ops.full((batch_size, beam), start_id, "int32"),
        "parent": ops.zeros((batch_size, beam), "int32"),
        "position": ops.zeros((batch_size,), "int32"),
        "begin": ops.zeros((batch_size,), "int32"),
        "visible": ops.zeros((batch_size, beam, ring * beam), "bool"),
        **search.start(batch_size, ring, source_len),
    }
    names = [name for name in search.outputs if name in fresh]
    rows: State = {
        **fresh,
        "done": ops.ones((batch_size,), "bool"),
        "sentence": ops.zeros((batch_size,), "int32") + sentences,  # none
        "seed": ops.zeros((batch_size,), "int32"),
        "limit": ops.ones((batch_size,), "int32"),
    }
    if prefix is not None:
        rows["prefix"] = ops.full((batch_size, ops.shape(prefix)[1]), -1, "int32")
    # One row more than there are sentences, for what nobody asked for.
    results = {
        name: ops.zeros((sentences + 1, *ops.shape(fresh[name])[1:]), fresh[name].dtype)
        for name in names
    }

    def collect(rows, results):
        """Takes what the rows that are done have found."""
        index = ops.where(rows["done"], rows["sentence"], sentences)[:, None]
        slots = ops.mod(rows["begin"][:, None] + ops.arange(ring, dtype="int32"), ring)
        found = {name: rows[name] for name in names}
        for name in set(names) & set(search.by_position):
            order = ops.broadcast_to(slots[:, None], ops.shape(found[name]))
            found[name] = ops.take_along_axis(found[name], order, axis=-1)
        return {name: ops.scatter_update(results[name], index, found[name]) for name in names}

    def refill(rows, time, following):
        """Gives the places of rows that are done to the sentences that follow."""
        place = following + ops.cumsum(ops.cast(rows["done"], "int32")) - 1
        taken = ops.logical_and(rows["done"], place < count)
        idle = ops.logical_and(rows["done"], ops.logical_not(taken))
        sentence = ops.where(taken, place, ops.where(idle, sentences, rows["sentence"]))
        known = ops.minimum(sentence, sentences - 1)
        begin = {**fresh, "begin": fresh["begin"] + time}
        rows = {
            **{name: _where(taken, begin[name], rows[name]) for name in fresh},
            "done": idle,
            "sentence": sentence,
            "limit": ops.take(limit, known, axis=0),
            "seed": ops.take(seed, known, axis=0),
        }
        if prefix is not None:
            rows["prefix"] = ops.take(prefix, known, axis=0)
        here = keras.tree.map_structure(lambda tensor: ops.take(tensor, known, axis=0), memory)
        return rows, here, following + ops.sum(ops.cast(taken, "int32"))

    def step(time, rows, cache, here):
        slot = ops.mod(time, ring)
        visible = _visible(rows, slot, model.pad_id, ring)
        positions = ops.take(table, ops.minimum(rows["position"], max_length - 1), axis=0)
        logits, cache, cross_scores = model.step(
            rows["token"], positions[:, None], here, cache, slot * beam, visible[:, None]
        )
        rows = {**rows, "visible": visible}
        rows = search.advance(rows, logits, ops.mean(cross_scores, axis=1), slot)
        return time + 1, {**rows, "position": rows["position"] + 1}, cache

    def turn(time, following, rows, cache, results):
        results = collect(rows, results)
        rows, here, following = refill(rows, time, following)
        idle = ops.sum(ops.cast(rows["done"], "int32"))
        # Refilling costs about as much as a step: wait for some more, but not when none follow.
        enough = ops.where(following < count, idle + (batch_size + 3) // 4, batch_size)

        def waiting(time, rows, cache):
            done = ops.sum(ops.cast(rows["done"], "int32"))
            found = ops.logical_and(rows["done"], rows["sentence"] < sentences)
            overwritten = ops.logical_and(found, time - rows["begin"] >= ring)
            return ops.logical_and(done < enough, ops.logical_not(ops.any(overwritten)))

        def body(time, rows, cache):
            return step(time, rows, cache, here)

        time, rows, cache = ops.while_loop(waiting, body, (time, rows, cache))
        return time, following, rows, cache, results

    def unfinished(time, following, rows, cache, results):
        return ops.logical_or(following < count, ops.any(rows["sentence"] < sentences))

    cache = model.decoder.new_cache(batch_size, ring * beam)
    zero = ops.zeros((), "int32")
    everything = (zero, zero, rows, cache, results)
    if source.shape[0] is not None and source.shape[0] == batch_size:
        # All have a place from the beginning: one turn it is.
        _, _, rows, _, results = turn(*everything)
        return collect(rows, results)
    return ops.while_loop(unfinished, turn, everything)[-1]


def _read(model: Transformer, source, count, batch_size):
    """`model.read` of the first sentences, a batch at a time, so that it stays in the caches."""
    memory = model.read(source[:batch_size])
    if source.shape[0] is not None and source.shape[0] == batch_size:
        return memory
    sentences, source_len = ops.shape(source)
    memory = keras.tree.map_structure(
        lambda tensor: ops.concatenate(
            [tensor, ops.zeros((sentences - batch_size, *ops.shape(tensor)[1:]), tensor.dtype)]
        ),
        memory,
    )

    def unread(begin, memory):
        return begin < count

    def read_batch(begin, memory):
        start = ops.minimum(begin, sentences - batch_size)  # the last batch overlaps another
        read = model.read(ops.slice(source, (start, 0), (batch_size, source_len)))
        memory = keras.tree.map_structure(
            lambda kept, new: ops.slice_update(kept, (start, *[0] * (len(new.shape) - 1)), new),
            memory,
            read,
        )
        return begin + batch_size, memory

    begin = ops.zeros((), "int32") + batch_size
    return ops.while_loop(unread, read_batch, (begin, memory))[1]


def _visible(rows: State, slot, pad_id: int, ring: int):
    """Which slots each hypothesis may look at, the newest of its own among them.

    Args:
        rows: The state.
        slot: The place in the ring of the newest tokens.
        pad_id: A token nobody looks at.
        ring: Number of places in the ring.

    Returns:
        Boolean tensor `(batch, beam_size, ring · beam_size)`.
    """
    visible = rows["visible"]
    beam = visible.shape[1]
    if beam > 1:
        visible = ops.take_along_axis(visible, rows["parent"][:, :, None], axis=1)
    index = ops.arange(ring * beam, dtype="int32")
    newest = index // beam == slot
    own = ops.logical_and(newest, index % beam == ops.arange(beam, dtype="int32")[:, None])
    own = ops.logical_and(own[None], (rows["token"] != pad_id)[:, :, None])
    return ops.where(newest, own, visible)


def _where(condition, x, y):
    """A choice for each row, whatever the shape behind the first axis."""
    return ops.where(ops.reshape(condition, (-1, *[1] * (len(x.shape) - 1))), x, y)
