"""Greedy and beam search on scripted logits, without a model."""

import itertools

import numpy as np
import pytest

from transformer_tf.config import DecodingConfig
from transformer_tf.decoding.numpy_search import Beam, Greedy, top_k

VOCAB, END = 5, 4


def run(next_logits, limits, prefixes=None, n_best=1, copies=(), wanted=None, **changes):
    """Runs a search; `next_logits(row, tokens so far)` returns the logits of the next token."""
    options = DecodingConfig(**changes)
    beam, batch, arguments = options.beam_size, len(limits), (options, END, limits, prefixes)
    copied = {"copied_ids": copies, "wanted": wanted}
    search = Beam(*arguments, n_best, **copied) if changes else Greedy(*arguments, **copied)
    histories = [[()] * beam for _ in range(batch)]
    rows, found, unfinished, steps = np.arange(batch), [[] for _ in limits], np.ones(batch, bool), 0
    while unfinished.any():
        logits = [[next_logits(row, history) for history in histories[row]] for row in rows]
        tokens, parents, done = search.advance(np.array(logits, "float32"), unfinished)
        for row, token, parent in zip(rows, tokens, parents, strict=True):
            histories[row] = [
                (*histories[row][p], int(t)) for t, p in zip(token, parent, strict=True)
            ]
        for index in np.flatnonzero(done & unfinished):
            found[rows[index]] = search.hypotheses(index)
        unfinished &= ~done
        steps += 1
        assert steps <= max(limits)
        if steps % 2 == 0:  # an engine drops finished rows only now and then
            search.keep(unfinished)
            rows, unfinished = rows[unfinished], unfinished[unfinished]
    return found, steps


def scripted(*rows):
    """Returns logits whose likeliest tokens are those of each row, then END."""

    def next_logits(row, history):
        position = len(history)
        logits = np.zeros(VOCAB)
        logits[rows[row][position] if position < len(rows[row]) else END] = 3
        return logits

    return next_logits


def language(seed):
    """Returns random logits that depend on the row and the last two tokens."""
    table = np.random.default_rng(seed).normal(0, 2, (7, VOCAB + 1, VOCAB + 1, VOCAB))

    def next_logits(row, history):
        last = [-1, -1, *history][-2:]
        return table[row, last[0], last[1]]

    return next_logits


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum())


def penalty(length, alpha):
    return ((5 + length) / 6) ** alpha


def assert_same(found, expected):
    """Compares hypotheses with pairs of score and tokens."""
    assert [hypothesis.ids for hypothesis in found] == [ids for _, ids in expected]
    for hypothesis in found:
        assert sum(hypothesis.token_log_probs) == pytest.approx(hypothesis.log_prob, abs=1e-3)
    scores = [score for score, _ in expected]
    np.testing.assert_allclose([hypothesis.score for hypothesis in found], scores, atol=1e-4)


def test_greedy_search_ends_each_row_at_its_end_token():
    found, steps = run(scripted([3, 2, 1], [0], []), [20, 20, 20])
    assert [row[0].ids for row in found] == [[3, 2, 1], [0], []]
    assert steps == 4  # the longest row and its end


def test_greedy_search_cuts_each_row_at_its_limit():
    found, steps = run(scripted([3, 2, 1, 0], [3, 2, 1, 0], [3]), [2, 4, 1])
    assert [row[0].ids for row in found] == [[3, 2], [3, 2, 1, 0], [3]]
    assert steps == 4
    assert [len(row[0].token_log_probs) for row in found] == [2, 4, 1]


@pytest.mark.parametrize("changes", [{}, {"beam_size": 2}])
def test_prefixes(changes):
    # The first row is over before the second one's prefix.
    prefixes, limits = [[3], [1, 1, 2, 0, 3], [0], []], [2, 9, 9, 9]
    found, _ = run(language(2), limits, prefixes, **changes)
    free, _ = run(language(2), limits, **changes)
    for (best, *_), prefix in zip(found, prefixes, strict=True):
        assert best.ids[: len(prefix)] == prefix
    assert found[3] == free[3]


def exhaustive(logits, row, limit, alpha, copies=(), wanted=()):
    """Returns the scores and tokens of all possible translations, best first.

    Of `copies` they have those of `wanted`, each once.
    """
    found = []
    for length in range(limit):
        for tokens in itertools.product([t for t in range(VOCAB) if t != END], repeat=length):
            whole = [*tokens, END]
            total = sum(
                log_softmax(logits(row, tuple(whole[:position])))[token]
                for position, token in enumerate(whole)
            )
            if sorted(token for token in tokens if token in copies) == sorted(wanted):
                found.append((total / penalty(len(whole), alpha), list(tokens)))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_wide_beam_equals_exhaustive_search(alpha):
    logits = language(3)
    found, _ = run(logits, [4] * 3, beam_size=70, n_best=4, length_penalty=alpha)
    for row in range(3):
        assert_same(found[row], exhaustive(logits, row, 4, alpha)[:4])


def test_translations_have_each_wanted_placeholder_once():
    logits, copies, wanted = language(8), [1, 3], [[False, False], [True, False], [True, True]]
    arguments = {"copies": copies, "wanted": np.array(wanted)}
    found, _ = run(logits, [4] * 3, beam_size=70, n_best=4, length_penalty=0.6, **arguments)
    greedy, _ = run(logits, [2, 50, 50], **arguments)  # the first row is over first
    for row, ids in enumerate(([], [1], [1, 3])):
        assert_same(found[row], exhaustive(logits, row, 4, 0.6, copies, ids)[:4])
        (best,) = greedy[row]
        assert sorted(token for token in best.ids if token in copies) == ids
        tokens = [*best.ids, END][: len(best.token_log_probs)]
        log_probs = [
            log_softmax(logits(row, best.ids[:position]))[token]
            for position, token in enumerate(tokens)
        ]
        np.testing.assert_allclose(best.token_log_probs, log_probs, atol=1e-4)
        assert best.log_prob == best.score == pytest.approx(sum(log_probs), abs=1e-3)


def simple_beam_search(logits, row, limit, options, n_best):
    """Beam search with lists that always runs to the limit, and the step that decides it."""
    alpha, beam = options.length_penalty, options.beam_size
    unfinished, finished, decided = [(0.0, ())], [], None
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
        overtakes = unfinished[0][0] / penalty(limit, alpha)
        if decided is None and len(finished) >= n_best and finished[n_best - 1][0] >= overtakes:
            decided = position + 1
    cut = [(total / penalty(limit, alpha), list(history)) for total, history in unfinished]
    return (finished[:beam] + cut)[:n_best], decided or limit


@pytest.mark.parametrize(
    ("n_best", "changes"),
    [
        (1, {"beam_size": 2}),
        (3, {"beam_size": 3}),
        (2, {"beam_size": 4, "length_penalty": 0.0}),
        (5, {"beam_size": 5, "length_penalty": 1.5}),
    ],
    ids=str,
)
def test_beam_search_equals_simple_beam_search(n_best, changes):
    limits, options = [1, 2, 6, 9, 9, 12, 12], DecodingConfig(**changes)
    for seed in range(3):
        logits = language(seed)
        found, taken = run(logits, limits, n_best=n_best, **changes)
        steps = []
        for row, limit in enumerate(limits):
            expected, step = simple_beam_search(logits, row, limit, options, n_best)
            assert_same(found[row], expected)
            steps.append(step)
        assert taken == max(steps)


def test_fewer_translations_than_wanted():
    (found,), _ = run(language(6), [1], beam_size=11, n_best=11)
    assert sorted(hypothesis.ids for hypothesis in found) == [[], [0], [1], [2], [3]]


def test_beam_of_one_equals_greedy_search():
    logits = language(4)
    greedy, _ = run(logits, [9] * 7)
    beam, _ = run(logits, [9] * 7, beam_size=1, length_penalty=0.0)
    for one, other in zip(greedy, beam, strict=True):
        assert_same(one, [(other[0].score, other[0].ids)])


@pytest.mark.parametrize(
    ("size", "k"), [(3, 3), (31, 3), (331, 3), (331, 12), (331, 20), (8002, 3)]
)
def test_top_k_is_a_stable_sort(size, k):
    random = np.random.default_rng(0)
    values = random.integers(0, size, (50, size)).astype("float32")
    values[1:30] = random.normal(size=(29, size))
    best, index = top_k(values, k)
    expected = np.argsort(-values, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(best, np.take_along_axis(values, expected, axis=1))
    np.testing.assert_array_equal(np.take_along_axis(values, index, axis=1), best)
    np.testing.assert_array_equal(index[1:30], expected[1:30])
    assert (np.diff(index, axis=1)[best[:, 1:] == best[:, :-1]] > 0).all()
