"""The NumPy engine finds what the Keras engine finds."""

import dataclasses

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tests.conftest import SOURCE_VOCAB, TARGET_VOCAB, make_model
from tests.test_numpy_transformer import KINDS, to_numpy
from transformer_tf.config import DecodingConfig
from transformer_tf.decoding.engine import KerasEngine
from transformer_tf.decoding.numpy_engine import NumpyEngine, top_k
from transformer_tf.errors import ConfigError

START, END = TARGET_VOCAB - 2, TARGET_VOCAB - 1
GREEDY = DecodingConfig(batch_size=5, max_length=19, scores=True)
BEAM = dataclasses.replace(GREEDY, beam_size=3, n_best=2, length_penalty=0.6)


def make_engines(folder, **settings):
    """Both engines with the same model, which comes to an end sometimes."""
    model = make_model(**settings)
    embeddings = model.target_embedding.embeddings
    if model.tie_embeddings == "none":
        model.output_projection.bias.assign_add(2.0 * np.eye(TARGET_VOCAB)[END])
    else:
        embeddings.assign(embeddings * np.where(np.arange(TARGET_VOCAB) == END, 2, 1)[:, None])
    return KerasEngine(model, START, END), NumpyEngine(to_numpy(model, folder), START, END)


SLOW = ("the paper's", "pre-norm, target tied")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(kind, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name, kind in KINDS.items()
    ],
)
def engines(request, tmp_path_factory):
    return make_engines(tmp_path_factory.mktemp("weights"), **request.param)


def sentences(engines, count=23, longest=8):
    random = np.random.default_rng(0)
    vocab = min(SOURCE_VOCAB, engines[0].model.source_vocab_size)
    lengths = random.integers(1, longest + 1, count)
    return [random.integers(1, vocab, length).tolist() for length in lengths]


def assert_same(found, expected):
    assert [[h.ids for h in row] for row in found] == [[h.ids for h in row] for row in expected]
    for row, other in zip(found, expected, strict=True):
        for a, b in zip(row, other, strict=True):
            np.testing.assert_allclose(a.token_log_probs, b.token_log_probs, atol=1e-4)
            np.testing.assert_allclose([a.score, a.log_prob], [b.score, b.log_prob], atol=1e-4)


# For every kind of model one compiled search of each kind, with all that it can.
EVERYTHING = dataclasses.replace(BEAM, min_length=3, n_best=3)


@pytest.mark.parametrize("options", [GREEDY, EVERYTHING], ids=["greedy", "beam"])
def test_hypotheses_equal_those_of_the_keras_engine(engines, options):
    keras_engine, engine = engines
    sources = sentences(engines)
    prefixes = [[[3, 4], [], [5], [2, 2, 7, 1]][n % 4] for n in range(len(sources))]
    found = engine.search(sources, options, prefixes)
    assert_same(found, keras_engine.search(sources, options, prefixes))
    for row, prefix in zip(found, prefixes, strict=True):
        assert row[0].ids[: len(prefix)] == prefix


@pytest.mark.parametrize(
    "changes", [{}, {"n_best": 1, "length_penalty": 0.0}, {"min_length": 9}], ids=str
)
def test_beam_searches_equal_those_of_the_keras_engine(changes, tmp_path):
    keras_engine, engine = make_engines(tmp_path, pre_norm=True)
    sources = sentences((keras_engine, engine))
    options = dataclasses.replace(BEAM, **changes)
    found = engine.search(sources, options)
    assert_same(found, keras_engine.search(sources, options))
    ended = [len(best.token_log_probs) > len(best.ids) for best, *_ in found]
    assert 0 < sum(ended) < len(ended) or options.min_length


@pytest.mark.parametrize("options", [GREEDY, EVERYTHING], ids=["greedy", "beam"])
def test_the_size_of_a_batch_changes_nothing(engines, options):
    _, engine = engines
    sources = sentences(engines)
    single = [engine.search([source], options)[0] for source in sources]
    for batch_size in (2, 23):
        assert_same(
            engine.search(sources, dataclasses.replace(options, batch_size=batch_size)), single
        )


def test_attention_equals_that_of_the_keras_engine(engines):
    keras_engine, engine = engines
    sources = sentences(engines, 5)
    targets = [[START, *range(1, n)] for n in (2, 7, 1, 4, 5)]
    found, expected = (e.attend(sources, targets) for e in (engine, keras_engine))
    for ours, theirs in zip(found, expected, strict=True):
        assert set(ours) == set(theirs)
        for kind, scores in theirs.items():
            np.testing.assert_allclose(ours[kind], scores, atol=1e-5)


def test_a_greedy_search_without_scores_has_ids_alone(engines):
    _, engine = engines
    options = dataclasses.replace(GREEDY, scores=False)
    sources = sentences(engines)
    for row, (scored,) in zip(
        engine.search(sources, options), engine.search(sources, GREEDY), strict=True
    ):
        assert [(h.ids, h.score) for h in row] == [(scored.ids, None)]


def test_progress_counts_every_sentence(engines):
    done = []
    engines[1].search(sentences(engines), GREEDY, progress=done.append)
    assert sum(done) == 23


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_a_search_has_one_blas_thread(engines):
    """More threads fight with those of the batches: 48 sentences took eight times as long."""
    during = []
    with threadpool_limits(3, user_api="blas"):
        before = blas_threads()
        engines[1].search(
            sentences(engines), GREEDY, progress=lambda _: during.append(blas_threads())
        )
        assert blas_threads() == before
    assert len(during) > 1
    assert all(set(threads) == {1} for threads in during)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": 0.5}, "does not support decoding.temperature=0.5"),
        ({"precision": "bfloat16"}, "does not support decoding.precision=bfloat16"),
    ],
)
def test_what_the_engine_does_not_have_is_an_error(engines, changes, message):
    options = dataclasses.replace(GREEDY, **changes)
    with pytest.raises(ConfigError, match=message):
        engines[1].search([[1]], options)


def test_translations_longer_than_the_learned_positions_are_an_error(tmp_path):
    _, engine = make_engines(tmp_path, position="learned", max_length=40)
    with pytest.raises(ConfigError, match="at most 40, the number of learned positions"):
        engine.search([[1]], dataclasses.replace(GREEDY, max_length=41))


@pytest.mark.parametrize("size", [3, 31, 331])
def test_top_k_is_a_stable_sort(random, size):
    scores = random.integers(0, size, (5, size)).astype("float32")
    scores[1:3] = random.normal(size=(2, size))
    best, index = top_k(scores, 3)
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :3]
    np.testing.assert_array_equal(best, np.take_along_axis(scores, expected, axis=1))
    np.testing.assert_array_equal(np.take_along_axis(scores, index, axis=1), best)
    np.testing.assert_array_equal(index[1:3], expected[1:3])
