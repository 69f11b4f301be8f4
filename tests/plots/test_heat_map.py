"""Heat maps: contents, layout and legibility, without comparing pixels."""

import itertools

import numpy as np
import pytest
from matplotlib.text import Text

from transformer_tf.plots import plot_attention
from transformer_tf.plots.style import DPI, INK

QUERIES = ["Der", "Zug", "über", "Brücken", ".", "<end>", "$x_1$"]
KEYS = ["<start>", "The", "train", "es", "bridges"]


def make_scores(*shape):
    return np.random.default_rng(0).dirichlet(np.ones(shape[-1]), size=shape[:-1])


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def boxes(texts):
    return [text.get_window_extent() for text in texts]


def assert_apart(some):
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(some))


@pytest.fixture(scope="module")
def grid():
    """Three heads of one layer."""
    scores = make_scores(3, 7, 5)
    figure = plot_attention(
        scores, QUERIES, KEYS, title="one\n→ two", subtitle="small", query_axis="German"
    )
    figure.draw_without_rendering()
    return scores, figure


def test_a_panel_for_each_head(grid):
    scores, figure = grid
    panels = figure.axes[:-1]
    assert [axes.get_title("left") for axes in panels] == ["Head 1", "Head 2", "Head 3"]
    for axes, head in zip(panels, scores, strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), head)
        assert (labels(axes.yaxis), labels(axes.xaxis)) == (QUERIES, KEYS)
        # The first query is on top, the first key at the left.
        first, last = axes.transData.transform([(0, 0), (4, 6)])
        assert first[1] > last[1] and first[0] < last[0]


def test_titles_axes_and_one_color_scale(grid):
    scores, figure = grid
    texts = {text.get_text() for text in figure.findobj(Text)}
    assert {"one\n→ two", "small", "German", "Keys", f"{scores.max():.2f}"} <= texts
    assert {axes.images[0].get_clim() for axes in figure.axes[:-1]} == {(0, scores.max())}


def test_a_sheet_of_layers_and_heads():
    scores = make_scores(2, 3, 7, 5)
    figure = plot_attention(scores, QUERIES, KEYS)
    panels = figure.axes[:-1]
    for axes, head in zip(panels, scores.reshape(-1, 7, 5), strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), head)
    assert [axes.get_title("left") for axes in panels] == ["Head 1", "Head 2", "Head 3", *[""] * 3]
    assert [axes.get_ylabel() for axes in panels] == ["Layer 1", "", "", "Layer 2", "", ""]


def test_legible_at_the_saved_resolution():
    """Labels are at least 8 pixels high, apart from each other and inside the figure."""
    names = [f"Äg{number}" for number in range(12)]
    figure = plot_attention(make_scores(5, 12, 12), names, names, title="A title")
    figure.draw_without_rendering()
    inside = figure.bbox
    for axes in figure.axes[:-1]:
        for ticks in (axes.get_yticklabels(), axes.get_xticklabels()):
            assert min(label.get_fontsize() for label in ticks) / 72 * DPI >= 8
            assert_apart(boxes(ticks))
    everything = [axes.get_tightbbox() for axes in figure.axes]
    for box in everything:
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= inside.x1 and box.y1 <= inside.y1
    assert not any(one.overlaps(other) for one, other in itertools.combinations(everything, 2))


def test_long_labels_are_cut():
    figure = plot_attention(make_scores(1, 2, 1), ["ü" * 41, "ü" * 40], ["a\nb"])
    assert labels(figure.axes[0].yaxis) == ["ü" * 39 + "…", "ü" * 40]
    assert labels(figure.axes[0].xaxis) == ["a\\nb"]


def test_numbers_in_the_cells():
    scores = np.array([[[0.004, 0.996], [0.4, 0.44]]])
    axes = plot_attention(scores, ["a", "b"], ["c", "d"], numbers=True).axes[0]
    assert {text.get_position(): (text.get_text(), text.get_color()) for text in axes.texts} == {
        (1, 0): ("1", "white"),
        (0, 1): (".40", INK),
        (1, 1): (".44", INK),
    }


@pytest.mark.parametrize("value", [-0.5, 1.5, np.nan])
def test_scores_out_of_range(value):
    scores = make_scores(3, 7, 5)
    scores[1, 2, 3] = value
    with pytest.raises(ValueError, match="between 0 and 1"):
        plot_attention(scores, QUERIES, KEYS)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("query_labels", {"query_labels": KEYS}),
        ("key_labels", {"key_labels": QUERIES}),
        ("query_labels", {"query_labels": "seven 7"}),
        ("head_titles", {"head_titles": ["one", "two"]}),
        ("scores", {"scores": np.zeros((7, 5))}),
        ("scores", {"scores": np.zeros((0, 7, 5))}),
    ],
)
def test_arguments_that_do_not_match(name, options):
    fitting = {"scores": make_scores(3, 7, 5), "query_labels": QUERIES, "key_labels": KEYS}
    with pytest.raises(ValueError, match=f"`{name}` must"):
        plot_attention(**{**fitting, **options})
