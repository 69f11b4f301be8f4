"""The searches on scripted scores, without a model."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from transformer_tf.config import DecodingConfig
from transformer_tf.decoding import BeamSearch, GreedySearch
from transformer_tf.decoding.greedy import _uniform, sentence_seeds
from transformer_tf.decoding.search import arg_max, top_k

VOCAB, END = 5, 4
SLOTS = 23


def run(search, step, limits, prefix=None, numbers=None, slots=SLOTS, source_len=3):
    """Drives a search; `step(row, tokens so far)` gives the scores, and where it looks."""
    from keras import ops

    batch, beam = len(limits), search.beam_size
    state = {
        "token": np.zeros((batch, beam), "int32"),
        "parent": np.zeros((batch, beam), "int32"),
        "position": np.zeros(batch, "int32"),
        "limit": np.array(limits, "int32"),
        "seed": sentence_seeds(search.options.seed, numbers or range(batch)),
        "done": np.zeros(batch, bool),
        **search.start(batch, slots, source_len),
    }
    if prefix is not None:
        state["prefix"] = np.array(prefix, "int32")
    histories = [[()] * beam for _ in range(batch)]
    steps = 0
    while not np.all(state["done"]):
        answers = [[step(row, history) for history in histories[row]] for row in range(batch)]
        logits = np.array([[logits for logits, _ in row] for row in answers], "float32")
        attention = np.array([[looked for _, looked in row] for row in answers], "float32")
        slot = steps % slots
        state = search.advance(
            state, ops.convert_to_tensor(logits), ops.convert_to_tensor(attention), slot
        )
        state["position"] = state["position"] + 1
        tokens, parents = np.asarray(state["token"]), np.asarray(state["parent"])
        histories = [
            [(*histories[row][parents[row][rank]], int(tokens[row][rank])) for rank in range(beam)]
            for row in range(batch)
        ]
        steps += 1
    found = {name: np.asarray(state[name]) for name in search.outputs if name in state}
    return [
        search.hypotheses({name: array[row] for name, array in found.items()})
        for row in range(batch)
    ], steps


def scripted(*rows):
    """Says the tokens of each row in turn, and END after them."""

    def step(row, history):
        assert list(history) == rows[row][: len(history)] or len(history) > len(rows[row])
        position = len(history)
        logits = np.zeros(VOCAB)
        logits[rows[row][position] if position < len(rows[row]) else END] = 3
        return logits, np.zeros(3)

    return step


def language(seed, vocab=VOCAB):
    """A random language: the scores depend on the row and the last two tokens."""
    table = np.random.default_rng(seed).normal(0, 2, (7, vocab + 1, vocab + 1, vocab))

    def step(row, history):
        last = [-1, -1, *history][-2:]
        looked = np.abs(table[row, last[0], last[1], :3])
        return table[row, last[0], last[1]], looked / looked.sum()

    return step


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum())


def options(**changes):
    return DecodingConfig(**changes)


def penalty(length, alpha):
    return ((5 + length) / 6) ** alpha


def test_each_row_ends_at_its_own_end():
    step = scripted([3, 2, 1], [0], [])
    found, steps = run(GreedySearch(options(), END), step, [20, 20, 20])
    assert [row[0].ids for row in found] == [[3, 2, 1], [0], []]
    assert steps == 4  # not one more than the longest needs
    assert found[0][0].score is None


def test_cut_at_the_limit_of_each_row():
    step = scripted([3, 2, 1, 0], [3, 2, 1, 0], [3])
    found, steps = run(GreedySearch(options(scores=True), END), step, [2, 4, 1])
    assert [row[0].ids for row in found] == [[3, 2], [3, 2, 1, 0], [3]]
    assert steps == 4
    assert [len(row[0].token_log_probs) for row in found] == [2, 4, 1]


@pytest.mark.parametrize("beam_size", [1, 3])
def test_scores_are_log_probabilities(beam_size):
    kind = GreedySearch if beam_size == 1 else BeamSearch
    search = kind(options(scores=True, beam_size=beam_size), END)
    step = language(1)
    for row, hypotheses in enumerate(run(search, step, [9] * 5)[0]):
        best = hypotheses[0]
        tokens = [*best.ids, END][: len(best.token_log_probs)]
        expected = [
            log_softmax(step(row, tuple(tokens[:position]))[0])[token]
            for position, token in enumerate(tokens)
        ]
        np.testing.assert_allclose(best.token_log_probs, expected, atol=1e-5)
        np.testing.assert_allclose(best.log_prob, sum(expected), atol=1e-5)


@pytest.mark.parametrize("beam_size", [1, 2])
def test_minimum_length_and_prefix(beam_size):
    kind = GreedySearch if beam_size == 1 else BeamSearch
    search = kind(options(min_length=3, beam_size=beam_size), END)
    assert {len(row[0].ids) >= 3 for row in run(search, language(2), [9] * 7)[0]} == {True}
    search = kind(options(beam_size=beam_size), END)
    prefix = [[1, 1, 2], [3, -1, -1], [-1, -1, -1]]
    found, _ = run(search, language(2), [9] * 3, prefix=prefix)
    free, _ = run(search, language(2), [9] * 3)
    assert found[0][0].ids[:3] == [1, 1, 2]
    assert found[1][0].ids[:1] == [3]
    assert found[2] == free[2]


def exhaustive(step, row, limit, alpha):
    """Every translation with its score, the best first."""
    found = []
    for length in range(limit):
        for tokens in itertools.product([t for t in range(VOCAB) if t != END], repeat=length):
            whole = [*tokens, END]
            total = sum(
                log_softmax(step(row, tuple(whole[:position]))[0])[token]
                for position, token in enumerate(whole)
            )
            found.append((total / penalty(len(whole), alpha), list(tokens)))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_wide_beam_is_exhaustive(alpha):
    step = language(3)
    search = BeamSearch(options(beam_size=70, n_best=4, length_penalty=alpha), END)
    found, _ = run(search, step, [4] * 3)
    for row in range(3):
        expected = exhaustive(step, row, 4, alpha)[:4]
        assert [hypothesis.ids for hypothesis in found[row]] == [ids for _, ids in expected]
        np.testing.assert_allclose(
            [hypothesis.score for hypothesis in found[row]],
            [score for score, _ in expected],
            atol=1e-5,
        )


def obvious_beam_search(step, row, limit, settings):
    """Beam search with lists, which never stops before the limit."""
    alpha, beta, beam = settings.length_penalty, settings.coverage_penalty, settings.beam_size
    live, closed = [(0.0, (), np.zeros(3))], []
    for position in range(limit):
        candidates = []
        for total, history, coverage in live:
            logits, looked = step(row, history)
            candidates += [
                (total + log_prob, (*history, token), coverage + looked)
                for token, log_prob in enumerate(log_softmax(logits))
            ]
        candidates.sort(key=lambda candidate: -candidate[0])
        candidates = candidates[: 2 * beam]
        for total, history, coverage in candidates[:beam]:
            if history[-1] == END:
                score = total / penalty(position + 1, alpha)
                score += beta * np.log(np.minimum(coverage, 1)).sum()
                closed.append((score, list(history[:-1])))
        live = [candidate for candidate in candidates if candidate[1][-1] != END][:beam]
    closed.sort(key=lambda hypothesis: -hypothesis[0])
    cut = [(total / penalty(limit, alpha), list(history)) for total, history, _ in live]
    return (closed[:beam] + cut)[: settings.n_best]


@pytest.mark.parametrize(
    "changes",
    [
        {"beam_size": 2},
        {"beam_size": 3, "n_best": 3},
        {"beam_size": 4, "n_best": 2, "length_penalty": 0.0},
        {"beam_size": 3, "n_best": 2, "coverage_penalty": 0.3},
        {"beam_size": 5, "n_best": 5, "length_penalty": 1.5},
    ],
)
def test_beam_search_is_the_obvious_one_and_its_bound_is_true(changes):
    settings = options(**changes)
    limits = [1, 2, 6, 9, 9, 12, 12]
    steps = []
    for seed in range(5):
        step = language(seed)
        found, taken = run(BeamSearch(settings, END), step, limits)
        steps.append(taken)
        for row, limit in enumerate(limits):
            expected = obvious_beam_search(step, row, limit, settings)
            assert [hypothesis.ids for hypothesis in found[row]] == [ids for _, ids in expected]
            np.testing.assert_allclose(
                [hypothesis.score for hypothesis in found[row]],
                [score for score, _ in expected],
                atol=1e-4,
            )
    if changes["beam_size"] == 2:
        assert min(steps) < 12  # it does stop before the limit


def test_a_beam_of_one_is_greedy():
    step = language(4)
    greedy, _ = run(GreedySearch(options(scores=True), END), step, [9] * 7)
    beam, _ = run(BeamSearch(options(length_penalty=0.0), END), step, [9] * 7)
    assert [row[0].ids for row in greedy] == [row[0].ids for row in beam]
    np.testing.assert_allclose(
        [row[0].score for row in greedy], [row[0].score for row in beam], atol=1e-5
    )


def draw(count=3000, seed=0, numbers=None, **changes):
    """The first tokens of many sentences."""
    logits = np.log([0.4, 0.3, 0.15, 0.1, 0.05])
    search = GreedySearch(options(temperature=1.0, seed=seed, **changes), END)
    found, _ = run(search, lambda row, history: (logits, np.zeros(3)), [1] * count, numbers=numbers)
    return [row[0].ids[0] if row[0].ids else END for row in found]


def test_draws_have_the_distribution_of_the_scores():
    counts = np.bincount(draw(), minlength=VOCAB) / 3000
    # Four standard deviations of the share of the commonest.
    np.testing.assert_allclose(counts, [0.4, 0.3, 0.15, 0.1, 0.05], atol=4 * math.sqrt(0.24 / 3000))


def test_draws_from_the_likeliest():
    assert set(draw(300, top_k=2)) == {0, 1}
    assert set(draw(300, top_p=0.69)) == {0, 1}
    assert set(draw(300, top_p=0.71)) == {0, 1, 2}
    assert set(draw(300, top_p=0.01)) == {0}
    cold = dataclasses.replace(options(), temperature=0.01)
    found, _ = run(
        GreedySearch(cold, END), lambda row, history: (np.log([0.4, 0.3, 0.1, 0.1, 0.1]), [0] * 3),
        [1] * 50,
    )  # fmt: skip
    assert {row[0].ids[0] for row in found} == {0}


def test_no_draw_is_certain():
    """A number that rounds to 1 would be worth more than any score."""
    rows = np.arange(2000, dtype="int32")[:, None]
    numbers = np.asarray(_uniform(rows, rows[::-1], np.arange(8002, dtype="int32")))
    assert 0 < numbers.min() < 1e-6 and 1 - 1e-6 < numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 1e-3


def test_a_draw_depends_on_seed_and_sentence_alone():
    first = draw(50)
    assert draw(50) == first
    assert draw(50, seed=1) != first
    assert draw(3, numbers=[40, 7, 12]) == [first[40], first[7], first[12]]


def test_draws_of_no_two_places_are_the_same():
    """Neither of two sentences, nor of two positions, nor of two seeds."""
    tokens = np.arange(50, dtype="int32")
    numbers = np.array([0, 1, 1009, 2**31 - 1])
    seeds = np.concatenate([sentence_seeds(seed, numbers) for seed in (0, 1, 2**32 - 1)])
    assert len(set(seeds.tolist())) == 12 and seeds.min() >= 0
    places = np.array([0, 1, 1009, 5000], "int32")
    drawn = np.asarray(_uniform(seeds[:, None, None], places[:, None], tokens)).reshape(-1, 50)
    assert len({row.tobytes() for row in drawn}) == 48


def test_arg_max_and_top_k(random):
    scores = random.integers(0, 50, (3, 2, 7)).astype("float32")  # with many equal ones
    best, index = arg_max(scores)
    np.testing.assert_array_equal(best, scores.max(-1))
    np.testing.assert_array_equal(index, scores.argmax(-1))
    for size in (5, 31, 700, 1009, 20000):
        scores = random.permuted(np.tile(np.arange(size, dtype="float32"), (3, 1)), axis=1)
        best, index = top_k(scores, 5)
        np.testing.assert_array_equal(best, np.sort(scores)[:, ::-1][:, :5])
        np.testing.assert_array_equal(index, np.argsort(-scores)[:, :5])
