"""The checks of the course's exercises know right answers from wrong ones."""

import contextlib
import functools
import importlib.util
import urllib.request
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from transformer_tf.layers import EncoderLayer

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

specification = importlib.util.spec_from_file_location("course", EXAMPLES / "course.py")
course = importlib.util.module_from_spec(specification)
specification.loader.exec_module(course)

NEXT_WORD, EVEN = np.eye(7)[1:], np.tri(6, 7) / np.tri(6, 7).sum(axis=1, keepdims=True)


def in_order(word, merges):
    units = ["▁", *word]
    for pair in merges:
        i = 0
        while i < len(units) - 1:
            if tuple(units[i : i + 2]) == pair:
                units[i : i + 2] = ["".join(pair)]
            i += 1
    return units


def first_pair_first(word, merges):
    units, i = ["▁", *word], 0
    while i < len(units) - 1:
        if tuple(units[i : i + 2]) in merges:
            units[i : i + 2], i = ["".join(units[i : i + 2])], 0
        else:
            i += 1
    return units


def each_merge_once(word, merges):
    units = ["▁", *word]
    for pair in merges:
        pairs = list(zip(units, units[1:], strict=False))
        if pair in pairs:
            i = pairs.index(pair)
            units[i : i + 2] = ["".join(pair)]
    return units


def softmax_minus_one(logits, answers):
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    p[range(len(answers)), answers] -= 1
    return p * (answers > 0)[:, None] / (answers > 0).sum()


def attention_gradient(query, key, value, d_output, root=5**0.5):
    powers = np.exp(query @ key.T / 5**0.5)
    p = powers / powers.sum(axis=1)[:, None]
    of_softmax = p[:, :, None] * (np.eye(len(key)) - p[:, None])  # (queries, keys, keys)
    d_scores = np.einsum("qd,kd,qkj->qj", d_output, value, of_softmax) / root
    return d_scores @ key, d_scores.T @ query, p.T @ d_output


def batches_of(key, most=10_000, check=max):
    """Returns a function that fills batches in the order of `key`, with at most `most` pairs."""

    def make_batches(lengths, budget):
        batches = [[]]
        for i in sorted(range(len(lengths)), key=lambda i: key(lengths[i])):
            longer = [*batches[-1], i]
            cells = len(longer) * max(check(lengths[j]) for j in longer)
            if cells > budget or len(longer) > most:
                batches.append([i])
            else:
                batches[-1] = longer
        return batches

    return make_batches


def by_target_and_source(pair):
    return pair[::-1]


def random_hands(length, d_model):
    speed = np.random.default_rng(0).uniform(0, np.pi, d_model // 2)
    angle = np.arange(length)[:, None] * speed
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)


def likely_enough(log_p, share):
    kept = np.where(log_p - log_p.max() >= np.log(share), np.exp(log_p), 0)
    return kept / kept.sum()


def relu_gradient(w, b, v, x, t):
    a = w * x + b
    error = v * max(a, 0) - t
    slope = 2 * error * v * (a > 0)
    return slope * x, slope, 2 * error * max(a, 0)


def corpus_bleu(translations, references, clipped=True, capped=True):
    hits, counts, words, wanted = np.zeros(4), np.zeros(4), 0, 0
    for said, right in zip(map(str.split, translations), map(str.split, references), strict=True):
        words, wanted = words + len(said), wanted + len(right)
        for n in range(4):
            ours, theirs = (
                Counter(zip(*(x[i:] for i in range(n + 1)), strict=False)) for x in (said, right)
            )
            hits[n] += sum(
                min(k, theirs[u]) if clipped else k * (u in theirs) for u, k in ours.items()
            )
            counts[n] += sum(ours.values())
    brevity = np.exp(1 - wanted / words)
    return 100 * (min(1, brevity) if capped else brevity) * np.prod(hits / counts) ** 0.25


class Number:
    """Passes a gradient on along each way from the result, one after the other."""

    def __init__(self, value, parents=()):
        self.value, self.parents, self.gradient = value, parents, 0.0

    def __add__(self, other):
        return type(self)(self.value + other.value, ((self, 1), (other, 1)))

    def __mul__(self, other):
        return type(self)(self.value * other.value, ((self, other.value), (other, self.value)))

    def tanh(self):
        h = np.tanh(self.value)
        return type(self)(h, ((self, 1 - h * h),))

    def backward(self, gradient=1.0):
        self.gradient += gradient
        for parent, derivative in self.parents:
            parent.backward(gradient * derivative)


class Overwriting(Number):
    def backward(self, gradient=1.0):
        self.gradient = gradient
        for parent, derivative in self.parents:
            parent.backward(gradient * derivative)


class TooEarly(Number):
    """Passes a gradient on in the order in which it meets the numbers, complete or not."""

    def backward(self):
        self.gradient, met = 1.0, [self]
        for number in met:
            for parent, derivative in number.parents:
                parent.gradient += number.gradient * derivative
                if parent not in met:
                    met.append(parent)


def random_table(length, d_model):
    return np.random.default_rng(0).normal(size=(length, d_model)) / 3


def fixed_table(length, d_model):
    return random_hands(100, d_model)


def likely_enough_otherwise(log_p, share):
    p = np.exp(log_p)
    kept = p * (p >= share * p.max())
    return kept / kept.sum()


def search(limit_less=0, width=None):
    """Returns a search of all sequences, or of the `width` best ones, that may stop too early."""

    def exact(next_log_probs, start, end, limit):
        ended, begun = [], [(0.0, [start])]
        for _ in range(limit - limit_less):
            longer = []
            for total, said in begun:
                for token, log_p in enumerate(next_log_probs(said)):
                    longer.append((total + log_p, [*said, token]))
            longer = sorted(longer, reverse=True)[:width]
            ended += [each for each in longer if each[1][-1] == end]
            begun = [each for each in longer if each[1][-1] != end]
        return max(ended, default=(-np.inf, []))

    return exact


def angle_of_the_slowest_hand(a, b):
    return (np.arctan2(*b[-2:]) - np.arctan2(*a[-2:])) * 10000 ** (62 / 64)


WRONG = {
    "Wo der Bahnhof ist?",
    "Wir muss meine Tante besuchen.",
    "Mein Bruder sind im Park.",
    "Anna hat eine rote Mantel gekauft.",
    "Ich glaube, dass er kommt heute.",
}


def doubled(ids):
    return 2.0 * ids[..., None]


@pytest.mark.parametrize(
    ("notebook", "number", "right", "wrong"),
    [
        (0, 1, ([1, 1, 1, 2],), ([1, 1, 1, 1],)),
        (0, 2, (relu_gradient,), (lambda *weights: (0, 0, 0),)),
        (0, 3, (0.5, 0.6), (0.6, 0.5)),
        (0, 4, (Number,), (Overwriting,)),
        (0, 4, (Number,), (TooEarly,)),
        (7, 1, (33_536,), (33_280,)),
        (7, 2, (lambda a, b: a not in WRONG,), (lambda a, b: a in WRONG,)),
        (7, 3, (doubled, doubled), (doubled, lambda ids: ids[..., None])),
        (1, 2, (NEXT_WORD, EVEN), (NEXT_WORD, NEXT_WORD)),
        (1, 3, ([2, 0, 1], [1, 2, 0]), ([2, 0, 1], [2, 0, 1])),
        (1, 4, (attention_gradient,), (functools.partial(attention_gradient, root=1),)),
        (1, 4, (attention_gradient,), (lambda *given: attention_gradient(*given)[::-1],)),
        (2, 1, (6.28, 60_600), (6.28, 10_000)),
        (2, 2, (angle_of_the_slowest_hand,), (lambda a, b: abs(a - b).sum(),)),
        (3, 1, (4, 2, 214.2e6), (4, 2, 328e6)),
        (3, 1, (4.0, 2.0, 214.2e6), (2, 2, 214.2e6)),
        (3, 1, (3.998, 2, 214.2e6), (4, 4, 214.2e6)),
        (4, 1, (in_order,), (lambda word, merges: ["▁", *word],)),
        (4, 2, (softmax_minus_one,), (lambda logits, answers: logits,)),
        (4, 4, (batches_of(max),), (batches_of(hash),)),  # much padding
        (4, 4, (batches_of(by_target_and_source),), (batches_of(max, most=1),)),
        (4, 4, (batches_of(max),), (batches_of(max, check=min),)),  # too large
        (4, 4, (batches_of(max),), (lambda *given: batches_of(max)(*given)[1:],)),
        (5, 1, ("Wo liegt der Bahnhof?",), ("Wo ist der Bahnhof?",)),
        (2, 4, (random_hands,), (lambda length, d_model: np.arange(length * d_model),)),
        (5, 2, (corpus_bleu,), (functools.partial(corpus_bleu, clipped=False),)),
        (5, 2, (corpus_bleu,), (functools.partial(corpus_bleu, capped=False),)),
        (5, 3, (likely_enough,), (lambda log_p, share: np.exp(log_p),)),
        (5, 3, (likely_enough_otherwise,), (lambda p, share: np.exp(p) * (p >= np.log(share)),)),
        (0, 2, (relu_gradient,), (lambda w, b, v, x, t: relu_gradient(w, b, v, x, t)[::-1],)),
        (1, 3, ([2, 0, 1], (1, 2, 0)), ([2, 0, 1], [0, 1, 2])),
        (2, 1, (2 * np.pi, 60_612.4), (1, 60_612.4)),
        (2, 2, (angle_of_the_slowest_hand,), (lambda a, b: abs(angle_of_the_slowest_hand(a, b)),)),
        (2, 4, (random_hands,), (random_table,)),
        (2, 4, (random_hands,), (fixed_table,)),
        (4, 1, (in_order,), (first_pair_first,)),
        (4, 1, (in_order,), (each_merge_once,)),
        (4, 2, (softmax_minus_one,), (lambda *given: -softmax_minus_one(*given),)),
        (4, 3, (0.97,), (97,)),
        (5, 1, ("Wo liegt der Bahnhof?",), ("Wo liegt",)),
        (5, 4, (search(),), (search(limit_less=1),)),
        (5, 4, (search(),), (search(width=4),)),
        (7, 2, (lambda a, b: (b in WRONG) - 0.5,), (lambda a, b: (a in WRONG) - 0.5,)),
        (7, 2, (lambda a, b: a not in WRONG,), (lambda a, b: True,)),
    ],
)
def test_a_check_says_right_and_not_yet(notebook, number, right, wrong, capsys):
    check = course.checks(notebook)[number - 1]
    for answer, verdict in ((right, "right."), (wrong, "not yet."), (right[1:] + (...,), "dots")):
        check(*answer)
        assert verdict in capsys.readouterr().out


def test_a_layer_that_does_nothing_is_a_layer(capsys):
    _, check, _ = course.checks(3)
    layer = EncoderLayer(64, 4, 256, pre_norm=True)
    layer.build((1, 7, 64))
    check(layer)
    check(lambda x: x)
    assert capsys.readouterr().out.count("not yet.") == 2
    for weight in layer.weights:  # not only those of the output projections
        weight.assign(0 * weight)
    check(layer)
    assert "right." in capsys.readouterr().out


SILENT = []


@contextlib.contextmanager
def silenced(kind, layer, heads):
    SILENT.extend((layer, head) for head in heads)
    yield
    del SILENT[len(SILENT) - len(heads) :]


def loss():
    """Each silent head costs 0.01 times its layer and number, counted from 1."""
    return 1 + sum(0.01 * (layer + 1) * (head + 1) for layer, head in SILENT)


HARM = {"cross": 0.01 * np.outer([1, 2], [1, 2, 3])}  # two layers of three heads


@pytest.mark.parametrize(
    ("number", "right", "wrong"),
    [
        (1, ["Er ist es.", "Er ist es nicht."], ["Wo ist es?", "Er ist es."]),
        (2, [1.1, 1.08, 1.06], [1.02, 1.04, 1.06]),
        (3, 4, 5),  # 0.01, 0.02, 0.02 and 0.03 make 0.08; with 0.04 it is 0.12
        (4, lambda r, p, h, n: by_mean(*p, r), lambda r, p, h, n: p),
    ],
)
def test_the_checks_of_notebook_6_ask_the_model(number, right, wrong, capsys):
    check = course.checks(6, silenced, loss, HARM)[number - 1]
    for answer, verdict in ((right, "right."), (wrong, "not yet."), (..., "dots")):
        check(answer)
        assert verdict in capsys.readouterr().out
    assert SILENT == []


def by_mean(kernel, bias, results):
    """Replaces heads 1 and 3 of 3 heads of 4 numbers by their mean."""
    kept = np.diag([0.0] * 4 + [1.0] * 4 + [0.0] * 4)
    return kept @ kernel, bias + results.mean(axis=0) @ (np.eye(12) - kept) @ kernel


def test_the_page_is_served(capsys, monkeypatch):
    monkeypatch.setattr(course, "PAGE", "http://localhost:18017/")
    course.serve_page()
    course.serve_page()  # another notebook
    with urllib.request.urlopen(course.PAGE) as answer:
        assert b"<title>Inside a translator</title>" in answer.read()
    with urllib.request.urlopen(f"{course.PAGE}en-de.gz") as answer:
        assert len(answer.read()) > 1_000_000
    assert capsys.readouterr().out.count("http://localhost:18017/") == 2
