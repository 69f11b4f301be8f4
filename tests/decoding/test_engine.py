"""The loop over many sentences, with a model of random weights."""

import dataclasses

import keras
import numpy as np
import pytest

from tests.conftest import SOURCE_VOCAB, TARGET_VOCAB, make_model
from transformer_tf.config import DecodingConfig
from transformer_tf.decoding import KerasEngine, engine
from transformer_tf.errors import ConfigError
from transformer_tf.text.batching import pad

START, END = TARGET_VOCAB - 2, TARGET_VOCAB - 1
OPTIONS = DecodingConfig(batch_size=5, max_length=19, scores=True)
BEAM = dataclasses.replace(OPTIONS, beam_size=3, n_best=2)


def sentences(count=23, longest=8, seed=0):
    random = np.random.default_rng(seed)
    lengths = random.integers(1, longest + 1, count)
    return [random.integers(1, SOURCE_VOCAB, length).tolist() for length in lengths]


@pytest.fixture(scope="module")
def searcher():
    keras.utils.set_random_seed(0)  # the weights are made before the test's own seed is set
    model = make_model()
    model.output_projection.bias.assign_add(2.0 * np.eye(TARGET_VOCAB)[END])  # ends sometimes
    return KerasEngine(model, START, END)


@pytest.fixture(scope="module")
def pre_norm():
    """Another kind of model, tied and with learned positions."""
    keras.utils.set_random_seed(0)
    model = make_model(pre_norm=True, tie_embeddings="target", position="learned", max_length=40)
    return KerasEngine(model, START, END)


def compiled(searcher, monkeypatch):
    """The engine, made to compile at once."""
    monkeypatch.setattr(engine, "STEPS_THAT_PAY", 0)
    return KerasEngine(searcher.model, START, END)


def teacher_forced(model, source, ids):
    """Log-probabilities `(len(ids) + 1, vocab_size)` of one pass over a whole translation."""
    logits = model(
        {"source": pad([source], len(source) + 3), "target_input": pad([[START, *ids]], 30)}
    )
    logits = np.asarray(logits, "float64")[0, : len(ids) + 1]
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def assert_same(found, expected):
    assert [[h.ids for h in row] for row in found] == [[h.ids for h in row] for row in expected]
    for row, other in zip(found, expected, strict=True):
        for a, b in zip(row, other, strict=True):
            np.testing.assert_allclose(a.token_log_probs, b.token_log_probs, atol=1e-4)
            np.testing.assert_allclose([a.score, a.log_prob], [b.score, b.log_prob], atol=1e-4)


def test_greedy_is_the_arg_max_of_a_teacher_forced_pass(searcher):
    found = searcher.search(sentences(), OPTIONS)
    ended = 0
    for source, (best,) in zip(sentences(), found, strict=True):
        log_probs = teacher_forced(searcher.model, source, best.ids)
        whole = [*best.ids, END]
        said = len(best.token_log_probs)
        ended += said == len(whole)
        assert log_probs.argmax(-1)[:said].tolist() == whole[:said]
        expected = log_probs[np.arange(said), whole[:said]]
        np.testing.assert_allclose(best.token_log_probs, expected, atol=1e-4)
    assert 0 < ended < len(found)


@pytest.mark.parametrize("options", [BEAM, dataclasses.replace(BEAM, coverage_penalty=0.2)])
def test_a_hypothesis_has_the_probability_of_a_teacher_forced_pass(searcher, options):
    """Whoever its parents were: no hypothesis sees the tokens of another."""
    for source, row in zip(sentences(), searcher.search(sentences(), options), strict=True):
        assert len(row) == 2
        assert row[0].ids != row[1].ids
        for hypothesis in row:
            log_probs = teacher_forced(searcher.model, source, hypothesis.ids)
            said = len(hypothesis.token_log_probs)
            expected = log_probs[np.arange(said), [*hypothesis.ids, END][:said]]
            np.testing.assert_allclose(hypothesis.token_log_probs, expected, atol=1e-4)
            np.testing.assert_allclose(hypothesis.log_prob, expected.sum(), atol=1e-3)


@pytest.mark.parametrize("options", [OPTIONS, BEAM])
def test_a_batch_gives_what_single_sentences_give(searcher, options):
    single = [searcher.search([source], options)[0] for source in sentences()]
    for batch_size in (2, 5, 23, 64):
        options = dataclasses.replace(options, batch_size=batch_size)
        assert_same(searcher.search(sentences(), options), single)


@pytest.mark.parametrize("options", [OPTIONS, BEAM])
def test_compiled_is_plain(searcher, options, monkeypatch):
    plain = searcher.search(sentences(), options)
    fast = compiled(searcher, monkeypatch)
    assert_same(fast.search(sentences(), options), plain)
    assert_same([fast.search([source], options)[0] for source in sentences()[:7]], plain[:7])


def test_sentences_of_all_lengths(searcher, monkeypatch):
    mixed = sentences(longest=35)
    plain = searcher.search(mixed, OPTIONS)
    assert_same(plain, [searcher.search([source], OPTIONS)[0] for source in mixed])
    assert_same(compiled(searcher, monkeypatch).search(mixed, OPTIONS), plain)


def test_a_draw_does_not_depend_on_the_batch(searcher, monkeypatch):
    options = dataclasses.replace(OPTIONS, temperature=1.5, top_k=7, seed=3)
    found = searcher.search(sentences(), options)
    assert_same(searcher.search(sentences(), dataclasses.replace(options, batch_size=23)), found)
    assert_same(compiled(searcher, monkeypatch).search(sentences(), options), found)
    other = searcher.search(sentences(), dataclasses.replace(options, seed=4))
    assert [row[0].ids for row in other] != [row[0].ids for row in found]


@pytest.mark.parametrize("options", [OPTIONS, BEAM])
def test_prefixes(searcher, options, monkeypatch):
    prefixes = [[3, 2, 5][: index % 4] for index in range(23)]
    for search in (searcher, compiled(searcher, monkeypatch)):
        for row, prefix in zip(
            search.search(sentences(), options, prefixes), prefixes, strict=True
        ):
            for hypothesis in row:
                assert hypothesis.ids[: len(prefix)] == prefix


def test_every_sentence_is_told_of_once(searcher):
    told = []
    searcher.search(sentences(23), OPTIONS, progress=told.append)
    assert sum(told) == 23
    assert searcher.search([], OPTIONS) == []


def test_the_limits_of_a_sentence(searcher):
    options = dataclasses.replace(OPTIONS, max_length_ratio=0.0, max_length=40, min_length=30)
    found = searcher.search(sentences(5), options)
    assert [len(row[0].ids) for row in found] == [10] * 5


def test_learned_positions(pre_norm, monkeypatch):
    mixed = sentences(longest=35)
    plain = pre_norm.search(mixed, BEAM)
    for source, row in zip(mixed, plain, strict=True):
        log_probs = teacher_forced(pre_norm.model, source, row[0].ids)
        said = len(row[0].token_log_probs)
        expected = log_probs[np.arange(said), [*row[0].ids, END][:said]]
        np.testing.assert_allclose(row[0].token_log_probs, expected, atol=1e-4)
    assert_same(compiled(pre_norm, monkeypatch).search(mixed, BEAM), plain)
    with pytest.raises(ConfigError, match="must be at most 40"):
        pre_norm.search(mixed, dataclasses.replace(OPTIONS, max_length=41))


def test_padding_may_be_said_and_is_never_looked_at():
    """What an untrained model may well do."""
    model = make_model()
    bias = np.zeros(TARGET_VOCAB)
    bias[model.pad_id] = 4
    model.output_projection.bias.assign_add(bias)
    found = KerasEngine(model, START, END).search(sentences(), BEAM)
    said = [hypothesis.ids for row in found for hypothesis in row]
    assert any(model.pad_id in ids and set(ids) != {model.pad_id} for ids in said)
    for source, row in zip(sentences(), found, strict=True):
        for hypothesis in row:
            log_probs = teacher_forced(model, source, hypothesis.ids)
            said = len(hypothesis.token_log_probs)
            expected = log_probs[np.arange(said), [*hypothesis.ids, END][:said]]
            np.testing.assert_allclose(hypothesis.token_log_probs, expected, atol=1e-4)


def test_a_new_weight_is_used_at_once(searcher, monkeypatch):
    """A translator serves a model that is still being trained."""
    model = make_model()
    plain = KerasEngine(model, START, END)
    fast = compiled(plain, monkeypatch)
    before = plain.search(sentences(), OPTIONS)
    assert_same(fast.search(sentences(), OPTIONS), before)
    model.set_weights([weight * 1.1 + 0.05 for weight in model.get_weights()])
    after = plain.search(sentences(), OPTIONS)
    assert abs(after[0][0].score - before[0][0].score) > 0.01
    assert_same(fast.search(sentences(), OPTIONS), after)


def test_compilation_waits_until_it_pays(searcher, monkeypatch):
    if keras.backend.backend() != "tensorflow":
        pytest.skip("the other back ends always compile")
    monkeypatch.setattr(engine, "STEPS_THAT_PAY", 30)
    patient = KerasEngine(searcher.model, START, END)
    ways = []
    make = patient._make_search
    monkeypatch.setattr(
        patient, "_make_search", lambda options, way: ways.append(way) or make(options, way)
    )
    for _ in range(12):
        patient.search([[3, 4, 5, 6]], OPTIONS)
    assert ways[0] is False
    assert ways[-1] is True
    assert patient.search([[3, 4, 5, 6]], OPTIONS) == patient.search([[3, 4, 5, 6]], OPTIONS)


@pytest.mark.parametrize("precision", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision(precision, monkeypatch):
    model = make_model(dtype=precision)
    found = KerasEngine(model, START, END).search(sentences(), BEAM)
    assert all(np.isfinite(row[0].score) for row in found)
    fast = compiled(KerasEngine(model, START, END), monkeypatch).search(sentences(), OPTIONS)
    assert all(np.isfinite(row[0].score) for row in fast)


def test_one_loop_for_every_seed(searcher):
    """And for whatever else no search knows: else each call would be traced anew."""
    own = KerasEngine(searcher.model, START, END)
    drawn = [
        own.search(sentences(3), DecodingConfig(max_length=19, temperature=1.0, seed=seed, **more))
        for seed, more in ((1, {}), (2, {}), (1, {"alignment": True, "recase": False}))
    ]
    assert drawn[0] == drawn[2] != drawn[1]
    assert len(own._functions) == 1
