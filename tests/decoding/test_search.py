"""Tests of the searches on scripted logits, without a model."""

import itertools
import math

import numpy as np
import pytest
from keras import ops

from transformer_tf.config import DecodingConfig
from transformer_tf.decoding.beam import BeamSearch
from transformer_tf.decoding.greedy import GreedySearch, _uniform, sentence_seeds
from transformer_tf.decoding.search import arg_max, top_k

VOCAB, END = 5, 4


def run(search, next_logits, limits, prefix=None, numbers=None):
    """Runs a search; `next_logits(row, tokens so far)` returns the logits of the next token."""
    batch, beam = len(limits), search.beam_size
    state = {
        "token": np.zeros((batch, beam), "int32"),
        "parent": np.zeros((batch, beam), "int32"),
        "limit": np.array(limits, "int32"),
        "seed": sentence_seeds(search.options.seed, numbers or range(batch)),
        "done": np.zeros(batch, bool),
        **search.start(batch, max(limits)),
    }
    if prefix is not None:
        state["prefix"] = np.array(prefix, "int32")
    histories = [[()] * beam for _ in range(batch)]
    step = 0
    while not np.all(state["done"]):
        logits = [[next_logits(row, history) for history in histories[row]] for row in range(batch)]
        state = search.advance(state, ops.convert_to_tensor(np.array(logits, "float32")), step)
        tokens, parents = np.asarray(state["token"]), np.asarray(state["parent"])
        histories = [
            [(*histories[row][parents[row][rank]], int(tokens[row][rank])) for rank in range(beam)]
            for row in range(batch)
        ]
        step += 1
    found = {name: np.asarray(state[name]) for name in search.outputs if name in state}
    return [
        search.hypotheses({name: array[row] for name, array in found.items()})
        for row in range(batch)
    ], step


def scripted(*rows):
    """Returns logits whose likeliest tokens are those of each row, then END."""

    def next_logits(row, history):
        assert list(history) == rows[row][: len(history)] or len(history) > len(rows[row])
        position = len(history)
        logits = np.zeros(VOCAB)
        logits[rows[row][position] if position < len(rows[row]) else END] = 3
        return logits

    return next_logits


def language(seed, vocab=VOCAB):
    """Returns random logits that depend on the row and the last two tokens."""
    table = np.random.default_rng(seed).normal(0, 2, (7, vocab + 1, vocab + 1, vocab))

    def next_logits(row, history):
        last = [-1, -1, *history][-2:]
        return table[row, last[0], last[1]]

    return next_logits


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum())


def penalty(length, alpha):
    return ((5 + length) / 6) ** alpha


def test_greedy_search_ends_each_row_at_its_end_token():
    logits = scripted([3, 2, 1], [0], [])
    found, steps = run(GreedySearch(DecodingConfig(), END), logits, [20, 20, 20])
    assert [row[0].ids for row in found] == [[3, 2, 1], [0], []]
    assert steps == 4  # the longest row and its end
    assert found[0][0].score is None


def test_greedy_search_cuts_each_row_at_its_limit():
    logits = scripted([3, 2, 1, 0], [3, 2, 1, 0], [3])
    found, steps = run(GreedySearch(DecodingConfig(scores=True), END), logits, [2, 4, 1])
    assert [row[0].ids for row in found] == [[3, 2], [3, 2, 1, 0], [3]]
    assert steps == 4
    assert [len(row[0].token_log_probs) for row in found] == [2, 4, 1]


@pytest.mark.parametrize("beam_size", [1, 3])
def test_scores_are_log_probabilities(beam_size):
    kind = GreedySearch if beam_size == 1 else BeamSearch
    search = kind(DecodingConfig(scores=True, beam_size=beam_size), END)
    logits = language(1)
    for row, hypotheses in enumerate(run(search, logits, [9] * 5)[0]):
        best = hypotheses[0]
        tokens = [*best.ids, END][: len(best.token_log_probs)]
        expected = [
            log_softmax(logits(row, tuple(tokens[:position])))[token]
            for position, token in enumerate(tokens)
        ]
        np.testing.assert_allclose(best.token_log_probs, expected, atol=1e-5)
        np.testing.assert_allclose(best.log_prob, sum(expected), atol=1e-5)


@pytest.mark.parametrize("beam_size", [1, 2])
def test_minimum_length_and_prefix(beam_size):
    kind = GreedySearch if beam_size == 1 else BeamSearch
    search = kind(DecodingConfig(min_length=3, beam_size=beam_size), END)
    assert {len(row[0].ids) >= 3 for row in run(search, language(2), [9] * 7)[0]} == {True}
    search = kind(DecodingConfig(beam_size=beam_size), END)
    prefix = [[1, 1, 2], [3, -1, -1], [-1, -1, -1]]
    found, _ = run(search, language(2), [9] * 3, prefix=prefix)
    free, _ = run(search, language(2), [9] * 3)
    assert found[0][0].ids[:3] == [1, 1, 2]
    assert found[1][0].ids[:1] == [3]
    assert found[2] == free[2]


def exhaustive(logits, row, limit, alpha):
    """Returns the scores and tokens of all possible translations, best first."""
    found = []
    for length in range(limit):
        for tokens in itertools.product([t for t in range(VOCAB) if t != END], repeat=length):
            whole = [*tokens, END]
            total = sum(
                log_softmax(logits(row, tuple(whole[:position])))[token]
                for position, token in enumerate(whole)
            )
            found.append((total / penalty(len(whole), alpha), list(tokens)))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_wide_beam_equals_exhaustive_search(alpha):
    logits = language(3)
    search = BeamSearch(DecodingConfig(beam_size=70, n_best=4, length_penalty=alpha), END)
    found, _ = run(search, logits, [4] * 3)
    for row in range(3):
        expected = exhaustive(logits, row, 4, alpha)[:4]
        assert [hypothesis.ids for hypothesis in found[row]] == [ids for _, ids in expected]
        np.testing.assert_allclose(
            [hypothesis.score for hypothesis in found[row]],
            [score for score, _ in expected],
            atol=1e-5,
        )


def simple_beam_search(logits, row, limit, options):
    """Beam search with lists that always runs to the limit."""
    alpha, beam = options.length_penalty, options.beam_size
    unfinished, finished = [(0.0, ())], []
    for position in range(limit):
        candidates = [
            (total + log_prob, (*history, token))
            for total, history in unfinished
            for token, log_prob in enumerate(log_softmax(logits(row, history)))
        ]
        candidates.sort(key=lambda candidate: -candidate[0])
        candidates = candidates[: 2 * beam]
        for total, history in candidates[:beam]:
            if history[-1] == END:
                finished.append((total / penalty(position + 1, alpha), list(history[:-1])))
        unfinished = [candidate for candidate in candidates if candidate[1][-1] != END][:beam]
    finished.sort(key=lambda hypothesis: -hypothesis[0])
    cut = [(total / penalty(limit, alpha), list(history)) for total, history in unfinished]
    return (finished[:beam] + cut)[: options.n_best]


@pytest.mark.parametrize(
    "changes",
    [
        {"beam_size": 2},
        {"beam_size": 3, "n_best": 3},
        {"beam_size": 4, "n_best": 2, "length_penalty": 0.0},
        {"beam_size": 5, "n_best": 5, "length_penalty": 1.5},
    ],
)
def test_beam_search_equals_simple_beam_search(changes):
    options = DecodingConfig(**changes)
    limits = [1, 2, 6, 9, 9, 12, 12]
    steps = []
    for seed in range(5):
        logits = language(seed)
        found, taken = run(BeamSearch(options, END), logits, limits)
        steps.append(taken)
        for row, limit in enumerate(limits):
            expected = simple_beam_search(logits, row, limit, options)
            assert [hypothesis.ids for hypothesis in found[row]] == [ids for _, ids in expected]
            np.testing.assert_allclose(
                [hypothesis.score for hypothesis in found[row]],
                [score for score, _ in expected],
                atol=1e-4,
            )
    if changes["beam_size"] == 2:
        assert min(steps) < 12  # the bound stops the search before the limit


def test_beam_of_one_equals_greedy_search():
    logits = language(4)
    greedy, _ = run(GreedySearch(DecodingConfig(scores=True), END), logits, [9] * 7)
    beam, _ = run(BeamSearch(DecodingConfig(length_penalty=0.0), END), logits, [9] * 7)
    assert [row[0].ids for row in greedy] == [row[0].ids for row in beam]
    np.testing.assert_allclose(
        [row[0].score for row in greedy], [row[0].score for row in beam], atol=1e-5
    )


def draw(count=3000, seed=0, numbers=None, **changes):
    """Draws the first tokens of many sentences."""
    logits = np.log([0.4, 0.3, 0.15, 0.1, 0.05])
    search = GreedySearch(DecodingConfig(**{"temperature": 1.0, "seed": seed, **changes}), END)
    found, _ = run(search, lambda row, history: logits, [1] * count, numbers=numbers)
    return [row[0].ids[0] if row[0].ids else END for row in found]


def test_draws_follow_the_softmax_distribution():
    counts = np.bincount(draw(), minlength=VOCAB) / 3000
    # Four standard deviations of the share of the likeliest token.
    np.testing.assert_allclose(counts, [0.4, 0.3, 0.15, 0.1, 0.05], atol=4 * math.sqrt(0.24 / 3000))


def test_top_k_top_p_and_temperature_narrow_the_draws():
    assert set(draw(300, top_k=2)) == {0, 1}
    assert set(draw(300, top_p=0.69)) == {0, 1}
    assert set(draw(300, top_p=0.71)) == {0, 1, 2}
    assert set(draw(300, top_p=0.01)) == {0}
    assert set(draw(50, temperature=0.01)) == {0}


def test_uniform_numbers_never_reach_0_or_1():
    """Either would become infinite noise."""
    rows = np.arange(2000, dtype="int32")[:, None]
    numbers = np.asarray(_uniform(rows, rows[::-1], np.arange(8002, dtype="int32")))
    assert 0 < numbers.min() < 1e-6 and 1 - 1e-6 < numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 1e-3


def test_draw_depends_only_on_seed_and_sentence():
    first = draw(50)
    assert draw(50) == first
    assert draw(50, seed=1) != first
    assert draw(3, numbers=[40, 7, 12]) == [first[40], first[7], first[12]]


def test_draws_differ_between_sentences_positions_and_seeds():
    tokens = np.arange(50, dtype="int32")
    numbers = np.array([0, 1, 1009, 2**31 - 1])
    seeds = np.concatenate([sentence_seeds(seed, numbers) for seed in (0, 1, 2**32 - 1)])
    assert len(set(seeds.tolist())) == 12 and seeds.min() >= 0
    places = np.array([0, 1, 1009, 5000], "int32")
    drawn = np.asarray(_uniform(seeds[:, None, None], places[:, None], tokens)).reshape(-1, 50)
    assert len({row.tobytes() for row in drawn}) == 48


def test_arg_max_and_top_k(random):
    scores = random.integers(0, 50, (3, 2, 7)).astype("float32")  # with many ties
    best, index = arg_max(scores)
    np.testing.assert_array_equal(best, scores.max(-1))
    np.testing.assert_array_equal(index, scores.argmax(-1))
    for size in (5, 31, 700, 1009, 20000):
        scores = random.permuted(np.tile(np.arange(size, dtype="float32"), (3, 1)), axis=1)
        best, index = top_k(scores, 5)
        np.testing.assert_array_equal(best, np.sort(scores)[:, ::-1][:, :5])
        np.testing.assert_array_equal(index, np.argsort(-scores)[:, :5])
