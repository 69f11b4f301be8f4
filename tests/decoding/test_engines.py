"""The NumPy engine finds what the Keras model says, and the Keras engine finds the same."""

import contextlib
import dataclasses
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tests.conftest import SOURCE_VOCAB, TARGET_VOCAB, make_model
from tests.test_numpy_transformer import KINDS, to_numpy
from transformer_tf.config import DecodingConfig
from transformer_tf.decoding import batched, keras_engine, numpy_engine
from transformer_tf.decoding.batched import BatchedEngine
from transformer_tf.decoding.hypothesis import Hypothesis
from transformer_tf.decoding.keras_engine import KerasEngine
from transformer_tf.decoding.numpy_engine import NumpyEngine
from transformer_tf.errors import ConfigError
from transformer_tf.text.batching.batches import pad

START, END = TARGET_VOCAB - 2, TARGET_VOCAB - 1
GREEDY = DecodingConfig(max_length=19)
BEAM = dataclasses.replace(GREEDY, beam_size=3)
PREFIXES = [[[3, 4], [], [5], [2, 2, 7, 1]][n % 4] for n in range(11)]
SLOW = ("the paper's", "pre-norm, target tied")


def make_engines(folder, **settings):
    """Both engines with the same model, whose translations sometimes end."""
    model = make_model(**settings)
    embeddings = model.target_embedding.embeddings
    if model.tie_embeddings == "none":
        model.output_projection.bias.assign_add(2.0 * np.eye(TARGET_VOCAB)[END])
    else:
        embeddings.assign(embeddings * np.where(np.arange(TARGET_VOCAB) == END, 2, 1)[:, None])
    return KerasEngine(model, START, END), NumpyEngine(to_numpy(model, folder), START, END)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(kind, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name, kind in KINDS.items()
    ],
)
def engines(request, tmp_path_factory):
    return make_engines(tmp_path_factory.mktemp("weights"), **request.param)


def sentences(count=11, longest=8):
    random = np.random.default_rng(0)
    lengths = random.integers(1, longest + 1, count)
    vocab = min(SOURCE_VOCAB, TARGET_VOCAB)
    return [random.integers(1, vocab, length).tolist() for length in lengths]


def teacher_forced(model, source, ids):
    """Log-probabilities `(len(ids) + 1, vocab_size)` of one pass over a whole translation."""
    logits = model({"source": pad([source]), "target_input": pad([[START, *ids]])})
    logits = np.asarray(logits, "float64")[0]
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_a_translation_has_each_placeholder_of_its_source_once(engines, options):
    copies = {3: 5, 4: 2, 6: 3}
    engine = NumpyEngine(engines[1].model, START, END, copies=copies)
    sources = [*sentences(), [3, 1], [6, 4, 3], [7]]
    for source, found in zip(sources, engine.search(sources, options), strict=True):
        wanted = sorted(copies[id_] for id_ in copies if id_ in source)
        for hypothesis in found:
            copied = sorted(id_ for id_ in hypothesis.ids if id_ in copies.values())
            cut = len(hypothesis.token_log_probs) == len(hypothesis.ids)
            assert copied == wanted or (cut and set(copied) < set(wanted))


def assert_teacher_forced(model, sources, found):
    """Checks the log-probabilities of hypotheses."""
    for source, row in zip(sources, found, strict=True):
        for hypothesis in row:
            log_probs = teacher_forced(model, source, hypothesis.ids)
            count = len(hypothesis.token_log_probs)
            expected = log_probs[np.arange(count), [*hypothesis.ids, END][:count]]
            np.testing.assert_allclose(hypothesis.token_log_probs, expected, atol=1e-4)
            np.testing.assert_allclose(hypothesis.log_prob, expected.sum(), atol=1e-3)


def assert_same(found, expected):
    assert [[h.ids for h in row] for row in found] == [[h.ids for h in row] for row in expected]
    for row, other in zip(found, expected, strict=True):
        for a, b in zip(row, other, strict=True):
            np.testing.assert_allclose(a.token_log_probs, b.token_log_probs, atol=1e-4)
            np.testing.assert_allclose([a.score, a.log_prob], [b.score, b.log_prob], atol=1e-4)


def test_greedy_search_equals_arg_max_of_teacher_forced_pass(engines):
    keras_engine, engine = engines
    found, ended = engine.search(sentences(), GREEDY), 0
    for source, (best,) in zip(sentences(), found, strict=True):
        count = len(best.token_log_probs)
        expected = teacher_forced(keras_engine.model, source, best.ids).argmax(-1)[:count]
        assert [*best.ids, END][:count] == expected.tolist()
        ended += count == len(best.ids) + 1
    assert ended or keras_engine.model.tie_embeddings == "all"


@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_log_probabilities_are_those_of_a_teacher_forced_pass(engines, options):
    """Each hypothesis attends to its own tokens alone, and begins with its prefix."""
    keras_engine, engine = engines
    found = engine.search(sentences(), options, PREFIXES, n_best=options.beam_size)
    assert_teacher_forced(keras_engine.model, sentences(), found)
    assert {len(row) for row in found} == {options.beam_size}
    for row, prefix in zip(found, PREFIXES, strict=True):
        assert all(hypothesis.ids[: len(prefix)] == prefix for hypothesis in row)


def test_the_keras_engine_finds_the_same(engines):
    keras_engine, engine = engines
    expected = engine.search(sentences(), GREEDY)
    assert_same(keras_engine.search(sentences(), GREEDY), expected)


@pytest.mark.parametrize(
    ("options", "prefixes", "named"),
    [
        (BEAM, None, ": set decoding.beam_size=1, or use the NumPy engine for .*beam_size=3"),
        (GREEDY, PREFIXES, ": use the NumPy engine for prefixes"),
    ],
    ids=["beam", "prefixes"],
)
def test_the_keras_engine_has_neither_beam_nor_prefixes(engines, options, prefixes, named):
    with pytest.raises(ConfigError, match=named):
        engines[0].search(sentences(), options, prefixes)


@pytest.mark.parametrize(
    ("lengths", "num_positions", "batches"),
    [
        ([3], None, [(1, 16, [16], 42)]),
        ([16], None, [(1, 16, [42], 42)]),
        ([2, 17], None, [(64, 32, [44, 14], 61)]),
        ([5] * 65, None, [(64, 16, [20] * 64, 42), (1, 16, [20], 42)]),
        ([3], 67, [(1, 16, [16], 42)]),
        ([61, 60], 67, [(64, 64, [61, 61], 61)]),
        ([65], 67, [(1, 67, [61], 61)]),
    ],
)
def test_the_keras_engine_has_few_shapes(lengths, num_positions, batches, monkeypatch):
    """JAX compiles each: (rows, source length, limits, steps). A row of padding ends at once."""
    engine, found = KerasEngine(make_model(), START, END), []
    assert engine.workers == 1
    engine.num_positions = num_positions

    def search(source, limit, steps):
        assert limit.dtype == "int32"
        found.append((*source.shape, limit.tolist(), steps))
        tokens = np.full((len(source), steps), END)
        return {"tokens": tokens, "log_probs": -tokens / 7, "length": np.ones(len(source), int)}

    monkeypatch.setattr(engine, "_search", search)
    options = dataclasses.replace(GREEDY, max_length=61)
    hypotheses = engine.search([[4] * length for length in lengths], options)
    assert [row[0].ids for row in hypotheses] == [[]] * len(lengths)
    for rows, *_, limits, _ in batches:
        limits += [1] * (rows - len(limits))
    assert found == batches


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="TensorFlow's compilation")
def test_tensorflow_compiles_one_program_for_all_shapes(engines):
    for count, longest in ((1, 3), (2, 7), (1, 23)):
        engines[0].search(sentences(count, longest), dataclasses.replace(GREEDY, max_length=count))
    assert engines[0]._search.experimental_get_tracing_count() == 1


def test_jax_compiles_one_program_for_all_weights(monkeypatch):
    """Weights are arguments of the program, not constants in it. The steps are a constant."""
    jax = pytest.importorskip("jax")
    weights, programs = {}, []
    model = types.SimpleNamespace(position="sinusoidal")
    model.variables = [types.SimpleNamespace(value=np.float32(value)) for value in (2.0, 5.0)]

    @contextlib.contextmanager
    def scope(state_mapping):
        weights.update({id(variable): value for variable, value in state_mapping})
        yield
        weights.clear()

    def search(model, start_id, end_id, source, limit, steps):
        programs.append(type(steps))
        first, second = (weights[id(variable)] for variable in model.variables)
        return first * source + second * limit + 100 * start_id + 1000 * end_id + 10000 * steps

    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    monkeypatch.setattr(keras, "StatelessScope", scope)
    monkeypatch.setattr(keras_engine, "greedy_search", search)
    engine, source, limit = KerasEngine(model, 3, 7), np.float32(13.0), np.float32(11.0)
    with jax.default_device(jax.devices("cpu")[0]):
        assert float(engine._search(source, limit, 1)) == 2 * 13 + 5 * 11 + 17300
        model.variables[0].value = np.float32(17.0)
        assert float(engine._search(source, limit, 1)) == 17 * 13 + 5 * 11 + 17300
        assert programs == [int]
        assert float(engine._search(source, limit, 2)) == 17 * 13 + 5 * 11 + 27300
        assert programs == [int, int]


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(1, [1]), (5, [5]), (9, [5, 4]), (13, [7, 6]), (22, [11, 11]), (27, [11, 11, 5])],
)
def test_a_worker_gets_a_batch_unless_it_would_be_small_or_large(
    engines, count, sizes, monkeypatch
):
    """Two workers, batches of 5 to 11."""
    monkeypatch.setattr(engines[1], "workers", 2)
    monkeypatch.setattr(numpy_engine, "MIN_BATCH_SIZE", 5)
    monkeypatch.setattr(numpy_engine, "BATCH_SIZE", 11)
    done = []
    engines[1].search(
        sentences(count), dataclasses.replace(GREEDY, max_length=2), None, done.append
    )
    assert sorted(done, reverse=True) == sizes


@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_the_size_of_a_batch_changes_nothing(engines, options, monkeypatch):
    _, engine = engines
    n_best = options.beam_size
    single = [engine.search([source], options, n_best=n_best)[0] for source in sentences()]
    for batch_size in (2, 5, 11):
        monkeypatch.setattr(numpy_engine, "MIN_BATCH_SIZE", batch_size)
        monkeypatch.setattr(numpy_engine, "BATCH_SIZE", batch_size)
        assert_same(engine.search(sentences(), options, n_best=n_best), single)


def test_attention_equals_that_of_the_keras_engine(engines):
    targets = [[START, *range(1, n)] for n in (2, 7, 1, 4, 5)]
    expected, found = (engine.attend(sentences(5), targets) for engine in engines)
    for ours, theirs in zip(found, expected, strict=True):
        assert set(ours) == set(theirs)
        for kind, scores in theirs.items():
            np.testing.assert_allclose(ours[kind], scores, atol=1e-5)


class ScriptedEngine(BatchedEngine):
    """Keeps its batches, and answers each source with its length."""

    def __init__(self, workers=2):
        super().__init__(workers, None)
        self.batches, self.threads = [], set()

    def _batch_size(self, count):
        return 3

    def _search_batch(self, sources, options, prefixes, n_best):
        self.batches.append((list(map(len, sources)), prefixes, n_best))
        self.threads.add(threading.current_thread())
        time.sleep(0.02)  # the next batch needs another thread
        return [[Hypothesis([len(source)], 0.0)] for source in sources]

    def _attend_batch(self, sources, target_inputs):
        self.batches.append((list(map(len, sources)), list(map(len, target_inputs))))
        lengths = np.array([len(source) for source in sources])
        scores = np.broadcast_to(lengths[:, None, None, None, None], (len(sources), 1, 1, 9, 9))
        return {kind: scores for kind in ("encoder", "decoder", "cross")}


def test_the_longest_sentences_are_translated_first():
    engine, lengths = ScriptedEngine(workers=1), [4, 1, 7, 2, 5, 3, 6]
    sources, prefixes = ([[9] * length for length in lengths], [[length] for length in lengths])
    found = engine.search(sources, GREEDY)
    assert [row[0].ids for row in found] == prefixes
    assert engine.batches == [([7, 6, 5], None, 1), ([4, 3, 2], None, 1), ([1], None, 1)]
    engine.batches.clear()
    engine.search(sources, GREEDY, prefixes, n_best=5)
    assert engine.batches[1:] == [([4, 3, 2], [[4], [3], [2]], 5), ([1], [[1]], 5)]


def test_batches_share_the_threads_of_the_workers_and_one_batch_needs_none():
    """Ctrl-C ends a search in the main thread at once."""
    main, engine = threading.main_thread(), ScriptedEngine()
    for count, expected in ((3, {True}), (6, {False}), (21, {False})):
        engine.threads.clear()
        engine.search([[1]] * count, GREEDY)
        assert {thread is main for thread in engine.threads} == expected
        assert len(engine.threads) <= 2


def test_an_engine_that_loses_a_sentence_is_an_error(monkeypatch):
    engine = ScriptedEngine()
    monkeypatch.setattr(engine, "_search_batch", lambda *_: [])
    with pytest.raises(ValueError, match="zip"):
        engine.search([[1]], GREEDY)


def test_sentences_of_similar_length_share_a_batch_of_attention(monkeypatch):
    monkeypatch.setattr(batched, "ATTEND_BATCH_SIZE", 2)
    engine, lengths = ScriptedEngine(), [5, 1, 4, 2, 3]
    targets = [[9] * (length + 1) for length in lengths]
    found = engine.attend([[9] * length for length in lengths], targets)
    assert engine.batches == [([1, 2], [2, 3]), ([3, 4], [4, 5]), ([5], [6])]
    for length, scores in zip(lengths, found, strict=True):
        shapes = {kind: each.shape[2:] for kind, each in scores.items()}
        more = length + 1
        assert shapes == {
            "encoder": (length, length),
            "decoder": (more, more),
            "cross": (more, length),
        }
        assert all((each == length).all() for each in scores.values())


def test_progress_counts_every_sentence(engines):
    done = []
    engines[1].search(sentences(), GREEDY, progress=done.append)
    assert engines[1].search([], GREEDY, progress=done.append) == []
    assert sum(done) == 11


def test_a_translation_is_at_most_twice_as_long_as_its_source_plus_ten(tmp_path):
    model = make_model()
    model.output_projection.bias.assign_add(-99.0 * np.eye(TARGET_VOCAB)[END])  # no end
    engine = NumpyEngine(to_numpy(model, tmp_path), START, END)
    found = engine.search([[3], [3, 4, 5, 6]], GREEDY, [[1], []])
    assert [len(row[0].ids) for row in found] == [13, 18]


@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_a_translation_ends_with_the_end_token(options, tmp_path):
    model = make_model()
    model.output_projection.bias.assign_add(99.0 * np.eye(TARGET_VOCAB)[END])
    engine = NumpyEngine(to_numpy(model, tmp_path), START, END)
    for (best,) in engine.search(sentences(), options):
        assert best.ids == [] and len(best.token_log_probs) == 1


def test_a_padding_token_in_a_translation_is_never_attended(tmp_path):
    """An untrained model may well choose it: with these weights, on any backend."""
    model, generator = make_model(), np.random.default_rng(1)
    model.set_weights([generator.normal(0, 0.5, weight.shape) for weight in model.get_weights()])
    model.output_projection.bias.assign_add(3.0 * np.eye(TARGET_VOCAB)[model.pad_id])
    keras_engine = KerasEngine(model, START, END)
    for engine, options in (
        (keras_engine, GREEDY),
        (NumpyEngine(to_numpy(model, tmp_path), START, END), BEAM),
    ):
        found = engine.search(sentences(), options, n_best=options.beam_size)
        translations = [hypothesis.ids for row in found for hypothesis in row]
        assert any(model.pad_id in ids and set(ids) != {model.pad_id} for ids in translations)
        assert_teacher_forced(model, sentences(), found)


def test_translations_longer_than_the_learned_positions_are_an_error(tmp_path):
    for engine in make_engines(tmp_path, position="learned", max_length=40):
        with pytest.raises(ConfigError, match="decoding.max_length"):
            engine.search([[1]], dataclasses.replace(GREEDY, max_length=40))


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_a_search_has_one_blas_thread(engines):
    """More threads fight with those of the batches: 48 sentences took eight times as long."""
    during = []
    with threadpool_limits(3, user_api="blas"):
        before = blas_threads()
        engines[1].search(sentences(65), GREEDY, progress=lambda _: during.append(blas_threads()))
        assert blas_threads() == before
    assert len(during) > 1
    assert all(set(threads) == {1} for threads in during)


def test_the_limit_of_blas_threads_ends_with_the_search():
    limit = numpy_engine._OneBlasThread()
    with threadpool_limits(3, user_api="blas"):
        before = blas_threads()
        with limit:
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_only_the_last_of_several_searches_ends_the_limit():
    """Other threads, such as OpenMP's, stay."""

    class Libraries:
        limited = None

        def limit(self, **options):
            self.limited = options
            return self

        def restore_original_limits(self):
            self.limited = None

    limit = numpy_engine._OneBlasThread()
    limit._libraries = libraries = Libraries()
    for _ in range(2):
        with limit:
            for _ in range(3):
                with limit:
                    assert libraries.limited == {"limits": 1, "user_api": "blas"}
                assert libraries.limited
        assert libraries.limited is None


def test_searches_that_overlap_restore_the_blas_threads(engines):
    begun, both, over = (threading.Event() for _ in range(3))

    def first(_):
        begun.set()
        both.wait(10)

    def second(_):
        both.set()
        over.wait(10)

    with threadpool_limits(3, user_api="blas"), ThreadPoolExecutor(2) as pool:
        before = blas_threads()
        one = pool.submit(engines[1].search, sentences(1), GREEDY, progress=first)
        begun.wait(10)
        other = pool.submit(engines[1].search, sentences(1), GREEDY, progress=second)
        one.result()
        over.set()
        other.result()
        assert blas_threads() == before
