"""What the notebooks of the course share: a drawing, a diary, and checks of the exercises."""

import contextlib
import io
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from transformer_tf import numpy_transformer as nt


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


def checks(notebook):
    """Returns the functions `check_1`, `check_2` and so on of a notebook, 1 to 5.

    Each takes your answer, and prints whether it is right, or what is wrong with it. An answer of
    three dots is one that is still to come.
    """
    return [_answering(number, check) for number, check in enumerate(CHECKS[notebook], start=1)]


class Unanswered(Exception):
    """The answer, or what a function of the reader returns, is `...`."""


def _answering(number, check):
    def answer(*given):
        try:
            hint = check(*map(_answered, given))
            verdict = f"not yet. {hint}" if hint else "right."
        except Unanswered:
            verdict = "put your answer in the place of the three dots."
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
    return _same(np.asarray(order)[back], np.arange(len(order)), "shuffled[back] is not out.")


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
        if found != j - i:
            return f"From position {i} to {j} it finds {found}."
    return None


def _further(words):
    return None if words == 1 else "Measure with one, two and three words more."


# Notebook 3


def _big_model(weights):
    if np.isclose(weights, 214.2e6, rtol=0.002):
        return None
    return "count_by_hand counts three matrices of the vocabulary, and a bias. One matrix stays."


def _does_nothing(layer):
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
    ):
        units = _answered(function(word, merges))
        if list(units) != expected:
            return f"{word} becomes {units} instead of {expected}."
    return None


def _cheated(loss):
    return None if loss < 0.1 else "Take the loss of the last epoch. It should be near 0."


def _sorted_accuracy(accuracy):
    return None if 0.9 < accuracy <= 1 else "It should learn more than nine in ten."


# Notebook 5


def _continued(text):
    begins = text.startswith("Wo liegt") and len(text.split()) > 2
    return None if begins else "The translation should begin with your two words and go on."


def _useless(text):
    from sacrebleu.metrics import BLEU

    reference = "Peter sagt , dass er deinen alten Schlüssel nicht finden kann ."
    bleu = BLEU(effective_order=True).sentence_score(text, [reference]).score
    if text == reference:
        return "That is the reference."
    return None if bleu > 80 else f"Its BLEU is {bleu:.0f}."


def _share(answer):
    return None if answer == "larger" else "Compare (gains > 1e-3).mean() of both."


def _exact(function):
    for seed in range(5):
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


CHECKS = {
    1: (_heads_one_by_one, _no_mask, _order_restored),
    2: (_turns, _distance, _further),
    3: (_big_model, _does_nothing, _decoder_only),
    4: (_merged_by_rank, _cheated, _sorted_accuracy),
    5: (_continued, _useless, _share, _exact),
}
