"""Tests of the Keras engine with models of random weights.

Each shape of each search is compiled once, so the tests share engines, batch sizes and lengths.
"""

import dataclasses

import keras
import numpy as np
import pytest

from tests.conftest import SOURCE_VOCAB, TARGET_VOCAB, make_model
from transformer_tf.config import DecodingConfig
from transformer_tf.decoding.engine import KerasEngine
from transformer_tf.errors import ConfigError
from transformer_tf.text.batching.batches import pad

START, END = TARGET_VOCAB - 2, TARGET_VOCAB - 1
GREEDY = DecodingConfig(batch_size=8, max_length=19, scores=True)
BEAM = dataclasses.replace(GREEDY, beam_size=3, n_best=2)
SAMPLE = dataclasses.replace(GREEDY, temperature=1.5, top_k=7, seed=3)


def sentences(count=23, longest=8):
    random = np.random.default_rng(0)
    lengths = random.integers(1, longest + 1, count)
    return [random.integers(1, SOURCE_VOCAB, length).tolist() for length in lengths]


@pytest.fixture(scope="module")
def engine():
    keras.utils.set_random_seed(0)  # this fixture runs before the seed of the test is set
    model = make_model()
    model.output_projection.bias.assign_add(2.0 * np.eye(TARGET_VOCAB)[END])  # some end early
    return KerasEngine(model, START, END)


def teacher_forced(model, source, ids):
    """Log-probabilities `(len(ids) + 1, vocab_size)` of one pass over a whole translation."""
    logits = model(
        {"source": pad([source], len(source) + 3), "target_input": pad([[START, *ids]], 30)}
    )
    logits = np.asarray(logits, "float64")[0, : len(ids) + 1]
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def assert_log_probs_are_teacher_forced(model, sources, found):
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


def test_greedy_search_equals_arg_max_of_teacher_forced_pass(engine):
    found = engine.search(sentences(longest=12), GREEDY)
    assert_log_probs_are_teacher_forced(engine.model, sentences(longest=12), found)
    ended = 0
    for source, (best,) in zip(sentences(longest=12), found, strict=True):
        count = len(best.token_log_probs)
        expected = teacher_forced(engine.model, source, best.ids).argmax(-1)[:count]
        assert [*best.ids, END][:count] == expected.tolist()
        ended += count == len(best.ids) + 1
    assert 0 < ended < len(found)


def test_beam_search_equals_teacher_forced_pass(engine):
    """Each hypothesis attends to its own tokens alone."""
    found = engine.search(sentences(longest=12), BEAM)
    assert_log_probs_are_teacher_forced(engine.model, sentences(longest=12), found)
    assert all(len(row) == 2 and row[0].ids != row[1].ids for row in found)


@pytest.mark.parametrize("options", [GREEDY, BEAM, SAMPLE])
def test_batch_gives_the_results_of_single_sentences(engine, options):
    found = engine.search(sentences(), options)
    single = [
        engine.search([source], options, numbers=[number])[0]
        for number, source in enumerate(sentences()[:7])
    ]
    assert_same(found[:7], single)


def test_seed_changes_draws_without_another_compilation(engine):
    found = engine.search(sentences(), SAMPLE)
    compiled = len(engine._functions)
    other = engine.search(
        sentences(), dataclasses.replace(SAMPLE, seed=4, alignment=True, recase=False)
    )
    assert [row[0].ids for row in other] != [row[0].ids for row in found]
    assert len(engine._functions) == compiled


@pytest.mark.parametrize("options", [GREEDY, BEAM])
def test_prefixes(engine, options):
    prefixes = [[3, 2, 5][: index % 4] for index in range(23)]
    found = engine.search(sentences(), options, prefixes)
    assert_log_probs_are_teacher_forced(engine.model, sentences(), found)
    for row, prefix in zip(found, prefixes, strict=True):
        assert all(hypothesis.ids[: len(prefix)] == prefix for hypothesis in row)


def test_progress_counts_each_sentence_once(engine):
    counts = []
    engine.search(sentences(), GREEDY, progress=counts.append)
    assert sum(counts) == 23
    assert engine.search([], GREEDY, progress=counts.append) == []
    assert sum(counts) == 23


def test_translation_ends_at_the_limit_of_its_sentence(engine):
    options = dataclasses.replace(GREEDY, max_length_ratio=1.0, min_length=18)
    found = engine.search([[3], [3, 4, 5, 6]], options)
    assert [len(row[0].ids) for row in found] == [11, 14]


def test_batches_are_padded_to_few_shapes(engine, monkeypatch):
    shapes = set()

    def function(arguments, max_length):
        shapes.add((*arguments["source"].shape, max_length))
        batch_size = len(arguments["source"])
        return {
            "tokens": np.zeros((batch_size, 1, max_length)),
            "length": np.zeros(batch_size),
            "ended": np.zeros(batch_size),
        }

    monkeypatch.setattr(engine, "_function", lambda options: function)
    options = DecodingConfig(batch_size=64, max_length=40)
    engine.search(sentences(200, longest=30), options)
    assert shapes == {(64, 32, 40), (64, 24, 40), (64, 16, 40), (8, 8, 26)}
    shapes.clear()
    engine.search([[3]], options)
    assert shapes == {(1, 8, 26)}


def test_learned_positions():
    model = make_model(pre_norm=True, tie_embeddings="target", position="learned", max_length=40)
    engine = KerasEngine(model, START, END)
    found = engine.search(sentences(7, longest=35), BEAM)
    assert_log_probs_are_teacher_forced(model, sentences(7, longest=35), found)
    with pytest.raises(ConfigError, match="must be at most 40"):
        engine.search([[3]], dataclasses.replace(GREEDY, max_length=41))


def test_padding_token_in_a_translation_is_never_attended():
    """An untrained model may well choose it."""
    model = make_model()
    bias = np.zeros(TARGET_VOCAB)
    bias[model.pad_id] = 4
    model.output_projection.bias.assign_add(bias)
    found = KerasEngine(model, START, END).search(sentences(8), BEAM)
    translations = [hypothesis.ids for row in found for hypothesis in row]
    assert any(model.pad_id in ids and set(ids) != {model.pad_id} for ids in translations)
    assert_log_probs_are_teacher_forced(model, sentences(8), found)


def test_new_weights_are_used_without_another_compilation():
    """A validation translates with a model that is still being trained."""
    model = make_model()
    engine = KerasEngine(model, START, END)
    engine.search(sentences(8), GREEDY)
    model.set_weights([weight * 1.1 + 0.05 for weight in model.get_weights()])
    found = engine.search(sentences(8), GREEDY)
    assert_log_probs_are_teacher_forced(model, sentences(8), found)


@pytest.mark.parametrize(
    ("precision", "options"), [("mixed_float16", GREEDY), ("mixed_bfloat16", BEAM)]
)
def test_mixed_precision(precision, options):
    found = KerasEngine(make_model(dtype=precision), START, END).search(sentences(8), options)
    assert all(np.isfinite(row[0].score) for row in found)
