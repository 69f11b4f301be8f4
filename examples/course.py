"""What the notebooks of the course share: the page, drawings, a diary, and checks of exercises."""

import contextlib
import functools
import http.client
import io
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from transformer_tf import numpy_transformer as nt

PAGE = "http://localhost:8017/"  # in the links of the notebooks; the site has its own page


def serve_page():
    """Serves the page of the translators to this computer, until the kernel ends.

    Several notebooks share the page of the first one.

    Raises:
        RuntimeError: If another program uses the port.
    """
    from transformer_tf.catalog import find_checkpoint
    from transformer_tf.serve.server import TranslationServer

    address = urllib.parse.urlsplit(PAGE)
    folders = [find_checkpoint(name) for name in ("en-de", "de-en", "en-es")]
    for _ in range(5):
        try:
            server = TranslationServer((address.hostname, address.port), {}, folders)
        except OSError:
            try:
                with urllib.request.urlopen(PAGE, timeout=5) as answer:
                    served = b"Inside a translator" in answer.read()
            except (OSError, http.client.HTTPException):  # that one ends, or is no page
                served = False
            if served:
                break
            time.sleep(1)
        else:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            break
    else:
        raise RuntimeError(f"Another program uses port {address.port}")
    print(f"The page is at {PAGE} while this notebook runs.")


def heat_map(ax, table, write, rows=None, columns=None, **options):
    """Draws a table with its numbers in the cells, as `write` makes texts of them.

    `rows` and `columns` are the labels, by default 1, 2, …; `options` go to `imshow`.
    """
    image = ax.imshow(table, **options)
    for (row, column), value in np.ndenumerate(table):
        dark = image.norm(value) > 0.5
        color = "white" if dark else "black"
        ax.text(column, row, write(value), ha="center", va="center", color=color, fontsize=8)
    ax.set_yticks(range(len(table)), rows or range(1, len(table) + 1))
    ax.set_xticks(range(table.shape[1]), columns or range(1, table.shape[1] + 1))
    return image


ATTENTION, NETWORK, NORM, WORDS = "#fdd9b5", "#b5d9fd", "#f4f0a8", "#e8d5ec"


def draw_figure_1():
    """Draws the encoder and the decoder as figure 1 of the paper does."""
    fig, ax = plt.subplots(figsize=(8, 7.5), layout="constrained")
    stacks = {
        0: ["self-attention", "feed-forward"],
        6: ["masked self-attention", "cross-attention", "feed-forward"],
    }
    for x, sub_layers in stacks.items():
        _arrow(ax, (x, -0.5), (x, 0))
        _box(ax, x, 0, "embedding + position", WORDS)
        y = 1.6
        frame = plt.Rectangle(
            (x - 2.1, 1.1), 4.2, 2.25 * len(sub_layers) + 0.2, fill=False, linestyle="--"
        )
        ax.add_patch(frame)
        ax.text(x - 2.2, 1.3, "N ×", ha="right")
        for name in sub_layers:
            _arrow(ax, (x, y - 0.9), (x, y))
            _box(ax, x, y, name, NETWORK if "feed" in name else ATTENTION)
            _arrow(ax, (x, y + 0.7), (x, y + 1.0))
            _box(ax, x, y + 1.0, "add & norm", NORM, 0.4)
            _arrow(ax, (x, y - 0.35), (x + 1.85, y - 0.35), (x + 1.85, y + 1.2), (x + 1.5, y + 1.2))
            y += 2.25
    _arrow(ax, (0, 5.25), (0, 6.6), (3, 6.6), (3, 4.3), (4.5, 4.3))
    ax.text(3.1, 5.2, "keys, values", fontsize=8, rotation=90, va="center")
    _arrow(ax, (6, 7.5), (6, 8.4))
    _box(ax, 6, 8.4, "linear: a score for each unit", WORDS)
    _arrow(ax, (6, 9.1), (6, 9.5))
    _box(ax, 6, 9.5, "softmax", NORM, 0.5)
    _arrow(ax, (6, 10), (6, 10.4))
    for x, text in ((0, "source"), (6, "translation so far")):
        ax.text(x, -0.8, text, ha="center")
    ax.text(6, 10.5, "probabilities of the next unit", ha="center")
    ax.set(xlim=(-3, 9), ylim=(-1, 11))
    ax.axis("off")


def _box(ax, x, y, text, color, height=0.7):
    ax.add_patch(plt.Rectangle((x - 1.5, y), 3, height, facecolor=color, edgecolor="black"))
    ax.text(x, y + height / 2, text, ha="center", va="center", fontsize=9)


def _arrow(ax, *points):
    ax.plot(*np.array(points[:-1]).T, color="black", linewidth=1)
    ax.annotate("", points[-1], points[-2], arrowprops={"arrowstyle": "->"})


def train_with_diary(config, samples, correct):
    """Trains, and notes at each validation what the translator says and where it looks.

    Returns:
        The trainer, the metrics of each validation, the translations of `samples` at each, and the
        cross-attention at each while the decoder reads `correct`, a translation of the first of
        them: for each layer an array (heads, target_len, source_len).
    """
    from transformer_tf.runs.trainer import Trainer  # takes seconds, and not all notebooks train
    from transformer_tf.translator import Translator

    said, maps = [], []

    def make_translator():
        translator = Translator.from_model(
            trainer.model, config, trainer.source_tokenizer, trainer.target_tokenizer
        )
        said.append(translator.translate(samples))
        source = translator.source_tokenizer.encode_sentence(samples[0])
        target = translator.target_tokenizer.encode_sentence(correct)
        maps.append(translator.engine.attend([source], [target[:-1]])[0]["cross"])
        return translator

    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stderr(io.StringIO()),  # the progress line
        Trainer(config, Path(folder) / "run").prepare() as trainer,
    ):
        rows = trainer.fit(make_translator)
    return trainer, rows, said, maps


def checks(notebook, *tools):
    """Returns the functions `check_1`, `check_2` and so on of a notebook.

    Each takes your answer, and prints whether it is right, or what is wrong with it. An answer of
    three dots is one that is still to come. `tools` are functions and results of the notebook with
    which its checks compute the right answers.
    """
    return [
        _answering(number, functools.partial(check, *tools))
        for number, check in enumerate(CHECKS[notebook], start=1)
    ]


class Unanswered(Exception):
    """The answer, or what a function of the reader returns, is `...`."""


def _answering(number, check):
    def answer(*given):
        try:
            hint = check(*map(_answered, given))
            verdict = f"not yet. {hint}" if hint else "right."
        except Unanswered:
            verdict = "replace the three dots with your answer."
        print(f"Exercise {number}: {verdict}")

    return answer


def _answered(answer):
    if answer is ...:
        raise Unanswered
    return answer


def _same(given, expected, hint):
    given = np.asarray(_answered(given))
    if given.shape != np.shape(expected):
        return f"The result has the shape {given.shape} instead of {np.shape(expected)}."
    return None if np.allclose(given, expected, atol=1e-5) else hint


def _layer_weights(rng, d_model, d_ff):
    def dense(rows, columns):
        return rng.normal(size=(rows, columns)), rng.normal(size=columns)

    names = ("query_projection", "key_projection", "value_projection", "output_projection")
    return {
        "self_attention": {name: dense(d_model, d_model) for name in names},
        "feed_forward": {
            "hidden": dense(d_model, d_ff),
            "output_projection": dense(d_ff, d_model),
        },
        "self_attention_norm": rng.normal(size=(2, d_model)),
        "feed_forward_norm": rng.normal(size=(2, d_model)),
    }


# Notebook 0


def _bag(numbers):
    return _same(numbers, [1, 1, 1, 2], "How often does each word of the vocabulary occur?")


def _relu_gradient(function):
    for x, t, *weights in (
        (2.0, 1.0, 0.3, -0.1, 0.8),
        (3.0, 0.7, 0.5, 0.2, -1.5),
        (2, 1, 0.3, -1, 1),
    ):

        def loss(w, b, v, x=x, t=t):
            return (v * max(0.0, w * x + b) - t) ** 2

        wiggles = 1e-6 * np.eye(3)
        expected = [(loss(*(weights + d)) - loss(*(weights - d))) / 2e-6 for d in wiggles]
        w, b, v = weights
        if not np.allclose(_answered(function(w, b, v, x, t)), expected, atol=1e-4):
            return f"{w=}, {b=}, {v=}, {x=}, {t=}: wiggled, it is {np.round(expected, 3)}."
    return None


def _read_backward(plain, backward):
    if not 0 <= plain <= backward <= 1:
        return "Turn the symbols of each source around, but not its padding, nor the target."
    return None if backward > plain + 0.02 else "It should make a difference."


def _differentiates(number_class):
    x, y = number_class(0.7), number_class(-1.3)
    z = x * y + x
    result = z.tanh() * z + z * z.tanh() + y * y  # z stands before and behind its tanh
    result.backward()
    value = -0.3 * 0.7
    slope = 2 * (np.tanh(value) + value * (1 - np.tanh(value) ** 2))  # of 2 z · tanh(z)
    if not np.isclose(result.value, 2 * np.tanh(value) * value + 1.69):
        return "The value of tanh(z) · z + z · tanh(z) + y · y is wrong."
    gradients = (("x", x, slope * -0.3), ("y", y, slope * 0.7 - 2.6), ("z", z, slope))
    for name, number, expected in gradients:
        if not np.isclose(number.gradient, expected):
            return f"The gradient of {name} is {number.gradient} instead of {expected:.4f}."
    return None


# Notebook 1


def _heads_one_by_one(function):
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(5, 12)), _layer_weights(rng, 12, 20)["self_attention"]
    expected, _ = nt.multi_head_attention(x[None], x[None], x[None], weights, 3)
    hint = "Head i takes columns 4 i to 4 i + 3 of the three matrices and biases, if 4 is its size."
    return _same(function(x, list(weights.values()), 3), expected[0], hint)


def _no_mask(free, masked):
    for name, weights in (("free", free), ("masked", masked)):
        if np.shape(weights) != (6, 7) or not np.allclose(np.sum(weights, axis=1), 1):
            return f"`{name}` should be 6 rows of 7 weights that add up to 1."
    if np.min(np.diagonal(free, 1)) < 0.9:
        return "Without a mask, each word should find the next one. The queries are `seven[1:]`."
    if np.max(np.triu(masked, 1)) > 0:
        return "With the mask, no word should look at a later one."
    return None


def _order_restored(order, back):
    return _same(
        np.asarray(order)[np.asarray(back)], np.arange(len(order)), "shuffled[back] is not out."
    )


def _attention_gradient(function):
    rng = np.random.default_rng(0)
    given = {"query": (3, 5), "key": (7, 5), "value": (7, 2)}
    given = {name: rng.normal(size=shape) for name, shape in given.items()}
    d_output = rng.normal(size=(3, 2))

    def loss(query, key, value):
        powers = np.exp(query @ key.T / np.sqrt(5))
        return (powers / powers.sum(axis=-1, keepdims=True) @ value * d_output).sum()

    found = _answered(function(*given.values(), d_output))
    for (name, array), gradient in zip(given.items(), found, strict=True):
        expected = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            wiggle = np.zeros_like(array)
            wiggle[place] = 1e-5
            higher, lower = (loss(**{**given, name: array + sign * wiggle}) for sign in (1, -1))
            expected[place] = (higher - lower) / 2e-5
        hint = _same(
            gradient, expected, f"It differs from what wiggling each number of `{name}` finds."
        )
        if hint:
            return f"The gradient of `{name}`: {hint}"
    return None


# Notebook 2


def _turns(first, last):
    if not np.isclose(first, 2 * np.pi, rtol=0.01):
        return "The first hand turns by 1 radian a step. A full turn has 2 π."
    expected = 2 * np.pi * 10000 ** (510 / 512)
    return None if np.isclose(last, expected, rtol=0.01) else "The last hand is i = 255."


def _distance(function):
    encoding = nt.positional_encoding(60, 64)
    for i, j in ((12, 40), (3, 5), (0, 59), (30, 29)):
        found = _answered(function(encoding[i], encoding[j]))
        if not np.isclose(found, j - i, atol=0.1):  # with or without rounding
            return f"From position {i} to {j} it finds {found}."
    return None


def _further(words):
    return None if words == 1 else "Measure with one, two and three words more."


def _own_encoding(function):
    table = np.asarray(_answered(function(100, 64)))
    if table.shape != (100, 64):
        return f"The table of 100 positions has the shape {table.shape} instead of (100, 64)."
    shorter = np.asarray(function(50, 64))
    if shorter.shape != (50, 64):
        return f"The table of 50 positions has the shape {shorter.shape} instead of (50, 64)."
    if not np.allclose(shorter, table[:50]):
        return "In a sentence of 50 words, positions have other vectors than in one of 100."
    if abs(table).max() > 3:
        return f"The numbers should stay small, and one is {abs(table).max():.0f}."
    if np.allclose(table, nt.positional_encoding(100, 64), atol=1e-3):
        return "That is the paper's. Change the speeds, or something else."
    distances = np.linalg.norm(table[:, None] - table, axis=-1)
    i, j = np.unravel_index((distances + 9 * np.eye(100)).argmin(), (100, 100))
    if distances[i, j] < 0.1:
        return f"Positions {i} and {j} have almost the same vector."
    products = table @ table.T
    if any(np.ptp(products.diagonal(step)) > 0.01 for step in range(100)):
        return "Two pairs of positions have the same distance, and different dot products."
    return None


# Notebook 3


def _big_model(layers, vocabulary, weights):
    if not np.isclose(layers, 4, atol=0.02):  # biases and norms only double
        return "The weights of a layer are mostly matrices: d by d, and d by f. How do they grow?"
    if not np.isclose(vocabulary, 2, atol=0.02):
        return "The matrix of the vocabulary has 37 000 rows of d numbers. How does it grow?"
    if np.isclose(weights, 214.2e6, rtol=0.002):
        return None
    return "count_by_hand counts three matrices of the vocabulary, and a bias. One matrix stays."


def _does_nothing(layer):
    from transformer_tf.layers import EncoderLayer

    if not isinstance(layer, EncoderLayer):
        return "It should be an EncoderLayer. Set its weights."
    x = np.random.default_rng(0).normal(size=(1, 7, 64)).astype("float32")
    return _same(layer(x), x, "Which weights make a sub-layer add 0?")


def _decoder_only(function):
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(1, 7, 12)), _layer_weights(rng, 12, 20)
    expected, _ = nt.encoder_layer(x, weights, 3, True, np.tri(7, dtype=bool))
    return _same(function(x, weights, 3), expected, "It is pre-norm, and hides the future.")


# Notebook 4


def _merged_by_rank(function):
    merges = [
        ("l", "k"),
        ("a", "lk"),
        ("▁", "w"),
        ("▁w", "alk"),
        ("i", "n"),
        ("in", "g"),
        ("a", "a"),
    ]
    for word, expected in (
        ("walking", ["▁walk", "ing"]),
        ("lawless", ["▁", "l", "a", "w", "l", "e", "s", "s"]),
        ("aaalk", ["▁", "aa", "alk"]),
        ("aalk", ["▁", "a", "alk"]),  # not the pair that is first in the word
        ("inin", ["▁", "in", "in"]),
    ):
        units = _answered(function(word, merges))
        if list(units) != expected:
            return f"{word} becomes {units} instead of {expected}."
    return None


def _gradient(function):
    rng = np.random.default_rng(0)
    logits, answers = rng.normal(size=(6, 5)), np.array([2, 4, 0, 1, 3, 0])
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    expected = (p - np.eye(5)[answers]) * (answers != 0)[:, None] / 4
    hint = "Take the softmax of the logits. The answer's place differs from the others by a 1."
    return _same(function(logits.copy(), answers), expected, hint)


def _sorted_accuracy(accuracy):
    return None if 0.9 < accuracy <= 1 else "It should learn more than nine in ten."


def _batches(function):
    rng, budget = np.random.default_rng(0), 512
    source = 2 + rng.gamma(4, 2.5, 2000).astype(int)
    target = np.maximum(2, (source * rng.normal(1.1, 0.2, 2000)).astype(int))
    lengths = list(zip(source.tolist(), target.tolist(), strict=True))
    batches = [list(batch) for batch in _answered(function(lengths, budget))]
    if sorted(i for batch in batches for i in batch) != list(range(2000)):
        return "Each pair should be in exactly one batch, by its number."
    cells = 0
    for batch in batches:
        longest = source[batch].max(), target[batch].max()
        if len(batch) * max(longest) > budget:
            return f"{len(batch)} pairs, padded to {max(longest)} tokens, are more than {budget}."
        cells += len(batch) * sum(longest)
    padding = 1 - (source + target).sum() / cells
    if padding > 0.2:
        return f"{padding:.0%} is padding. Which sentences should share a batch?"
    many = len(batches) > 1.4 * np.maximum(source, target).sum() / budget
    return f"{len(batches)} batches are too many. Fill each one up." if many else None


# Notebook 5


def _continued(text):
    begins = text.startswith("Wo liegt") and len(text.split()) > 2
    return None if begins else "The translation should begin with your two words and go on."


def _corpus_bleu(function):
    from sacrebleu.metrics import BLEU

    references = ["a b c d e f g", "h i j k l m n o", "p q r s t"]
    shorter = ["a b c d x f", "h i j k l m n", "q p"]
    longer = ["a a b c d e f g", *references[1:]]  # with a repeated word
    for texts in (references, shorter, longer):
        expected = BLEU(tokenize="none").corpus_score(texts, [references]).score
        found = _answered(function(texts, references))
        if not np.isclose(found, expected, atol=0.01):
            return f"The BLEU of {texts} against {references} is {expected:.2f}, not {found:.2f}."
    return None


def _min_p(function):
    log_p = np.log([0.08, 0.5, 0.28, 0.02, 0.12])
    hint = "With a share of 0.2, units of 0.5, 0.28 and 0.12 stay, and their sum becomes 1."
    return _same(function(log_p, 0.2), np.array([0, 0.5, 0.28, 0, 0.12]) / 0.9, hint)


def _exact(function):
    for seed in (0, 6, 7, 59):  # a beam of 4 misses the likeliest twice; the last needs all steps
        tables = np.random.default_rng(seed).dirichlet(np.full(4, 0.5), size=(5, 4))  # ids 0 to 3

        def next_log_probs(said, tables=tables):
            return np.log(tables[len(said) - 1, said[-1]])

        # Brute force: every sequence from start 0 to end 3 in at most five steps.
        ended, begun = [], [([0], 0.0)]
        for _ in range(5):
            begun = [
                ([*said, token], total + next_log_probs(said)[token])
                for said, total in begun
                for token in (0, 1, 2, 3)
            ]
            ended += [(total, said) for said, total in begun if said[-1] == 3]
            begun = [(said, total) for said, total in begun if said[-1] != 3]
        total, said = _answered(function(next_log_probs, 0, 3, 5))
        if list(said) != max(ended)[1] or not np.isclose(total, max(ended)[0]):
            return f"The likeliest is {max(ended)[1]} with {max(ended)[0]:.2f}, not {said}."
    return None


# Notebook 6. `silenced` and `loss` are those of the notebook, `harm` what it measured with them.


def _without_source(silenced, loss, harm, answers):
    if len(answers) != 2 or not all(answers):
        return "There should be two translations."
    short, long = sorted(answers, key=len)
    return None if long.startswith(short.rstrip(".?!")) else "One of them still knows its source."


def _alone(silenced, loss, harm, answer):
    layers, heads = harm["cross"].shape
    expected = []
    for head in range(heads):
        with silenced("cross", layers - 1, [other for other in range(heads) if other != head]):
            expected.append(loss())
    return _same(answer, expected, "Silence the other seven heads of the last layer each time.")


def _can_go(silenced, loss, harm, answer):
    order = sorted(np.ndindex(harm["cross"].shape), key=lambda head: harm["cross"][head])
    limit = loss() + 0.1
    with contextlib.ExitStack() as stack:
        for count, (layer, head) in enumerate(order):
            stack.enter_context(silenced("cross", layer, [head]))
            if loss() > limit:
                return None if answer == count else f"After {answer} heads, is it at the limit?"
    return "The loss has not risen by 0.1 with all heads silent. Is `harm` what you measured?"


def _replaced_by_mean(silenced, loss, harm, function):
    rng = np.random.default_rng(0)
    results, others = rng.normal(2, 1, size=(50, 12)), rng.normal(size=(7, 12))
    kernel, bias = rng.normal(size=(12, 12)), rng.normal(size=12)
    kept = kernel.copy(), bias.copy()
    new_kernel, new_bias = _answered(function(results, (kernel, bias), [0, 2], 3))
    if not (np.array_equal(kernel, kept[0]) and np.array_equal(bias, kept[1])):
        return "It changes the projection that it is given. Copy it first."
    mixed = others.copy()
    mixed[:, [0, 1, 2, 3, 8, 9, 10, 11]] = results.mean(axis=0)[[0, 1, 2, 3, 8, 9, 10, 11]]
    hint = "The mean of a head reaches the sum through its own rows of the matrix."
    return _same(others @ new_kernel + new_bias, mixed @ kernel + bias, hint)


# Notebook 7


def _cross_attention(weights):
    if weights == 2 * 4 * (64 * 64 + 64):
        return "The sub-layer has a norm of its own."
    return None if weights == 33_536 else "Four matrices of 64 x 64 with biases, and a norm."


def _grammar(function):
    pairs = (
        ("Wo ist der Bahnhof?", "Wo der Bahnhof ist?"),
        ("Wir müssen meine Tante besuchen.", "Wir muss meine Tante besuchen."),
        ("Mein Bruder ist im Park.", "Mein Bruder sind im Park."),
        ("Anna hat einen roten Mantel gekauft.", "Anna hat eine rote Mantel gekauft."),
        ("Ich glaube, dass er heute kommt.", "Ich glaube, dass er kommt heute."),
    )
    # A difference of two log-probabilities is an answer, too.
    found = [_answered(function(*pair)) > 0 for pair in pairs]
    turned = [_answered(function(wrong, right)) > 0 for right, wrong in pairs]
    if any(one == other for one, other in zip(found, turned)):
        return "If the sentences change places, the answer has to change, too."
    wrong = [right for (right, _), answer in zip(pairs, found) if not answer]
    return f"It does not prefer: {' '.join(wrong)}" if len(wrong) > 1 else None


def _without_keras(function, model):
    ids = np.random.default_rng(0).integers(2, 800, 9)
    found, expected = _answered(function(ids)), np.asarray(model(ids[None]))[0]
    if np.shape(found) != expected.shape:
        return f"The result has the shape {np.shape(found)} instead of {expected.shape}."
    if np.allclose(found, expected, atol=1e-2):
        return None
    return "Compare one step after the other with the layers of `model`."


CHECKS = {
    0: (_bag, _relu_gradient, _read_backward, _differentiates),
    1: (_heads_one_by_one, _no_mask, _order_restored, _attention_gradient),
    2: (_turns, _distance, _further, _own_encoding),
    3: (_big_model, _does_nothing, _decoder_only),
    4: (_merged_by_rank, _gradient, _sorted_accuracy, _batches),
    5: (_continued, _corpus_bleu, _min_p, _exact),
    6: (_without_source, _alone, _can_go, _replaced_by_mean),
    7: (_cross_attention, _grammar, _without_keras),
}
