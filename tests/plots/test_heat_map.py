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
        outer = QUERIES if axes is panels[0] else []
        assert (labels(axes.yaxis), labels(axes.xaxis)) == (outer, KEYS)
        # The first query is on top, the first key at the left.
        first, last = axes.transData.transform([(0, 0), (4, 6)])
        assert first[1] > last[1] and first[0] < last[0]


def test_the_mean_first_as_high_as_eight_heads():
    scores = make_scores(8, 7, 5)
    figure = plot_attention(scores, QUERIES, KEYS, mean=True)
    mean, *heads, bar = figure.axes
    np.testing.assert_allclose(mean.images[0].get_array(), scores.mean(axis=0))
    assert len(heads) == 8
    assert (labels(mean.yaxis), labels(mean.xaxis)) == (QUERIES, KEYS)
    # Four columns, two rows; the labels stand left and below.
    for index, axes in enumerate(heads):
        outer = (QUERIES if index % 4 == 0 else [], KEYS if index >= 4 else [])
        assert (labels(axes.yaxis), labels(axes.xaxis)) == outer
    assert mean.bbox.y0 == pytest.approx(heads[4].bbox.y0)
    assert mean.bbox.y1 == pytest.approx(heads[0].bbox.y1)
    assert (bar.bbox.y0, bar.bbox.y1) == pytest.approx((heads[3].bbox.y0, heads[3].bbox.y1))


def test_titles_axes_and_one_color_scale(grid):
    scores, figure = grid
    texts = {text.get_text() for text in figure.findobj(Text)}
    assert {"one\n→ two", "small", "German", "Keys", f"{scores.max():.2f}"[1:]} <= texts
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
    title = "A title of many words " * 20  # several lines
    figure = plot_attention(make_scores(5, 12, 12), names, names, title=title, mean=True)
    figure.draw_without_rendering()
    inside = figure.bbox
    for axes in figure.axes[:-1]:
        for ticks in (axes.get_yticklabels(), axes.get_xticklabels()):
            assert all(label.get_fontsize() / 72 * DPI >= 8 for label in ticks)
            assert_apart(boxes(ticks))
    everything = [axes.get_tightbbox() for axes in figure.axes] + boxes(figure.texts)
    for box in everything:
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= inside.x1 and box.y1 <= inside.y1
    assert not any(one.overlaps(other) for one, other in itertools.combinations(everything, 2))


def test_long_labels_are_cut():
    figure = plot_attention(make_scores(1, 2, 1), ["ü" * 41, "ü" * 40], ["a\nb"])
    assert labels(figure.axes[0].yaxis) == ["ü" * 39 + "…", "ü" * 40]
    assert labels(figure.axes[0].xaxis) == ["a\\nb"]


def test_numbers_in_the_cells():
    scores = np.array([[[0.04, 0.996], [0.4, 0.44]]])
    axes = plot_attention(scores, ["a", "b"], ["c", "d"], numbers=True).axes[0]
    assert {text.get_position(): (text.get_text(), text.get_color()) for text in axes.texts} == {
        (1, 0): ("1.0", "white"),
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
