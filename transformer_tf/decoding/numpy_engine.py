"""Search with `NumpyTransformer`, without importing Keras."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_tf.decoding.batched import BatchedEngine
from transformer_tf.decoding.hypothesis import BATCH_SIZE, Hypothesis
from transformer_tf.decoding.numpy_search import Beam, Greedy
from transformer_tf.numpy_transformer import NumpyTransformer, position_table
from transformer_tf.text.batching.batches import pad
from transformer_tf.utils.startup import available_cpus

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

MIN_BATCH_SIZE = 8  # smaller batches are not worth a thread of their own


class _OneBlasThread(contextlib.ContextDecorator):
    """Limits BLAS to one thread while any thread of the process is in a decorated method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._searches = 0

    @functools.cached_property
    def _libraries(self) -> ThreadpoolController:
        """The libraries that multiply matrices; NumPy's is loaded, so once is enough."""
        from threadpoolctl import ThreadpoolController  # only when there is something to translate

        return ThreadpoolController()

    def __enter__(self) -> None:
        with self._lock:
            if not self._searches:
                self._limit = self._libraries.limit(limits=1, user_api="blas")
            self._searches += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._searches -= 1
            if not self._searches:
                self._limit.restore_original_limits()


_one_blas_thread = _OneBlasThread()


class NumpyEngine(BatchedEngine):
    """Searches for translations with a `NumpyTransformer`.

    Sentences of similar length share a batch, and several batches are translated at the same time.
    Each of them has one BLAS thread. With more, 48 sentences and a beam of 4 took 18 s instead of
    2.3. A second thread would make a single sentence 1.4 times as fast on idle CPUs, but 6 times
    slower on busy ones.

    It needs less than the Keras engine even for many sentences: 1 000 take 4 s of processor time
    with greedy search instead of 6.7 s, and 9 s with a beam of 4 (`checkpoints/en-de`, 2026-11-23).

    Args:
        model: The model.
        start_id: The id of the start token.
        end_id: The id of the end token.
        copies: The target id of each placeholder, by its source id. A translation has those of its
            source, each once.
    """

    def __init__(
        self,
        model: NumpyTransformer,
        start_id: int,
        end_id: int,
        copies: Mapping[int, int] | None = None,
    ):
        learned = model.target_embedding[1:]
        super().__init__(available_cpus(), len(learned[0]) if learned else None)
        self.model = model
        self.start_id = start_id
        self.end_id = end_id
        self.copies = copies or {}

    search = _one_blas_thread(BatchedEngine.search)
    attend = _one_blas_thread(BatchedEngine.attend)

    def _batch_size(self, count):
        return min(BATCH_SIZE, max(MIN_BATCH_SIZE, -(-count // self.workers)))

    def _attend_batch(self, sources, target_inputs):
        _, scores = self.model(pad(sources), pad(target_inputs))
        return {kind: np.stack(layers, axis=1) for kind, layers in scores.items()}

    def _search_batch(self, sources, options, prefixes, n_best):
        """Translates the sentences of a batch, one token per step."""
        model, beam, count = self.model, options.beam_size, len(sources)
        limits = [
            options.limit(len(source), len(prefix))
            for source, prefix in zip(sources, prefixes or [()] * count, strict=True)
        ]
        source = pad(sources)
        cross_mask = model.padding_mask(source)
        encoded, _ = model.encode(source)
        cross_cache = model.cross_attention_cache(encoded)
        cache = model.new_cache(count, max(limits) * beam)
        table = position_table(max(limits), model.target_embedding)
        wanted = np.array([np.isin(list(self.copies), source) for source in sources])
        copied: dict[str, Any] = {"copied_ids": list(self.copies.values()), "wanted": wanted}
        arguments = options, self.end_id, limits, prefixes
        search = Greedy(*arguments, **copied) if beam == 1 else Beam(*arguments, n_best, **copied)

        found: list[list[Hypothesis]] = [[] for _ in sources]
        sentences = np.arange(count)  # the index of each row's sentence
        unfinished = np.ones(count, bool)
        token = np.full((count, beam), self.start_id)
        parent = np.zeros((count, beam), int)
        # Which cached tokens belong to each hypothesis: (batch, beam_size, tokens)
        visible = np.zeros((count, beam, 0), bool)
        for position in range(max(limits)):
            newest = np.eye(beam, dtype=bool) & (token != model.pad_id)[:, :, None]
            visible = np.take_along_axis(visible, parent[:, :, None], axis=1)
            visible = np.concatenate([visible, newest], axis=2)
            logits, _, _ = model.decode(
                token,
                table[position : position + 1],
                cross_cache,
                None if visible.all() else visible[:, None],
                None if cross_mask.all() else cross_mask,
                cache,
                position * beam,
            )
            token, parent, done = search.advance(logits, unfinished)
            for row in np.flatnonzero(done & unfinished).tolist():
                found[sentences[row]] = search.hypotheses(row)
            unfinished &= ~done
            if not unfinished.any():
                break
            # Drop finished rows only once they are an eighth: each drop copies all other rows.
            if 8 * unfinished.sum() <= 7 * len(unfinished):
                kept, used = unfinished, visible.shape[2]
                old_cache, cache = cache, model.new_cache(kept.sum(), cache.shape[4])
                cache[..., :used, :] = old_cache[:, :, kept, :, :used]
                cross_cache, cross_mask = cross_cache[:, :, kept], cross_mask[kept]
                sentences, token, parent = sentences[kept], token[kept], parent[kept]
                visible = visible[kept]
                search.keep(kept)
                unfinished = unfinished[kept]
        return found
