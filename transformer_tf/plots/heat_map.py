"""Attention scores as heat maps: a panel for each head, queries down, keys across."""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage

from transformer_tf.attention_maps.words import is_special
from transformer_tf.plots.style import (
    HAIRLINE,
    INK,
    MUTED,
    SUBTITLE_SIZE,
    WEIGHT_COLORS,
    drawable,
    figure_style,
    new_figure,
)

MAX_COLUMNS = 4
MAX_LABEL_LENGTH = 40

# In inches. A label of 9.5 points needs a cell of 0.17, a number one of 0.3.
PANEL = 2.4
MIN_CELL, NUMBER_CELL, MAX_CELL = 0.17, 0.3, 0.6
MIN_WIDTH, MAX_WIDTH = 6.5, 16.0
BAR_LENGTH, BAR_WIDTH = 2.5, 0.14
LABEL_WIDTH = 0.15  # inches of a label's character, at most


def plot_attention(
    scores: npt.ArrayLike,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    *,
    title: str = "",
    subtitle: str = "",
    query_axis: str = "Queries",
    key_axis: str = "Keys",
    head_titles: Sequence[str] | None = None,
    numbers: bool = False,
) -> Figure:
    """Draws the attention scores of every head as a heat map.

    The heads of one layer make a grid. Several layers make a sheet with a row for each layer and
    a column for each head; with one head, they make a grid as well.

    All panels share one color scale, from 0 to the largest weight of the figure. The figure grows
    with the number of tokens, so that labels stay legible. `<start>`, `<end>` and `<pad>` are grey.
    Labels of more than 40 characters are cut.

    Args:
        scores: Array of shape `(num_heads, query_len, key_len)`, or
            `(num_layers, num_heads, query_len, key_len)` for a sheet, with values from 0 to 1.
        query_labels: The `query_len` labels of the y axis, the first on top.
        key_labels: The `key_len` labels of the x axis.
        title: Text above the panels; long lines are wrapped.
        subtitle: Smaller text below the title.
        query_axis: Label of the y axis, beside the panels.
        key_axis: Label of the x axis, below the panels.
        head_titles: `num_heads` panel titles; by default "Head 1", "Head 2", and so on.
        numbers: Whether to write each weight of at least 0.005 into its cell, in hundredths.

    Returns:
        The figure. Its first axes are the panels, head by head and layer by layer; the last one
        is the color bar.

    Raises:
        ValueError: If the shape or the values of `scores`, or a number of labels, is wrong.

    Warns:
        UserWarning: Once, if no installed font has some characters.
    """
    layers = _checked_scores(scores, query_labels, key_labels, head_titles)
    if head_titles is None:
        head_titles = [f"Head {number}" for number in range(1, layers.shape[1] + 1)]
    sheet = np.ndim(scores) == 4 and layers.shape[1] > 1
    if np.ndim(scores) == 4 and not sheet:  # a grid of layers
        head_titles = [f"{head_titles[0]}, layer {n}" for n in range(1, len(layers) + 1)]
        layers = layers.swapaxes(0, 1)
    num_layers, num_heads, query_len, key_len = layers.shape
    queries, keys, heads, (title, subtitle) = drawable(
        *(list(map(_on_one_line, labels)) for labels in (query_labels, key_labels, head_titles)),
        [title, subtitle],
    )

    smallest = NUMBER_CELL if numbers else MIN_CELL
    largest = max(query_len, key_len)
    cell = smallest if sheet else min(max(PANEL / largest, smallest), MAX_CELL)
    if sheet:
        rows, columns = num_layers, num_heads
    else:
        most = int(MAX_WIDTH // (cell * key_len + 0.8))  # 0.8 inches of labels, roughly
        rows = math.ceil(num_heads / min(max(most, 1), MAX_COLUMNS))
        columns = math.ceil(num_heads / rows)

    scale = float(layers.max()) or 1.0
    with figure_style():
        # Large enough for the labels; `_fit` reduces it.
        rooms = [0.6 + LABEL_WIDTH * max(map(len, labels)) for labels in (queries, keys)]
        figure = new_figure(
            columns * (cell * key_len + rooms[0]) + 2, rows * (cell * query_len + rooms[1]) + 2
        )
        figure.suptitle(title, x=0.01, ha="left", wrap=True)
        body = cast(SubFigure, figure.subfigures())  # below the title
        body.suptitle(
            subtitle,
            x=0.01,
            ha="left",
            wrap=True,
            color=MUTED,
            size=SUBTITLE_SIZE,
            weight="normal",
        )
        grid = body.subplots(rows, columns, squeeze=False)
        panels = list(grid.flat)[: num_layers * num_heads]
        for unused in list(grid.flat)[len(panels) :]:
            unused.remove()
        for number, (axes, weights) in enumerate(
            zip(panels, layers.reshape(-1, query_len, key_len), strict=True)
        ):
            row, column = divmod(number, columns)
            image = _draw_panel(axes, weights, scale)
            if not sheet or column == 0:
                _label(axes.yaxis, queries)
            if not sheet or row == rows - 1:
                _label(axes.xaxis, keys, rotation=90)
            if not sheet or row == 0:
                axes.set_title(heads[number % num_heads])
            if sheet and column == 0:
                axes.set_ylabel(f"Layer {row + 1}", size=11, weight="bold")
            if numbers:
                _write_numbers(axes, weights, scale)
        body.supylabel(query_axis)
        body.supxlabel(key_axis)
        _draw_bar(body, image, panels, rows * cell * query_len)
        _fit(figure, panels[0], rows, columns, cell)
    return figure


def _on_one_line(label: str) -> str:
    label = label.replace("\n", "\\n")
    return label if len(label) <= MAX_LABEL_LENGTH else label[: MAX_LABEL_LENGTH - 1] + "…"


def _checked_scores(
    scores: npt.ArrayLike,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    head_titles: Sequence[str] | None,
) -> npt.NDArray[np.float64]:
    """Returns the scores with four axes, or raises an error that says what is wrong."""
    heads = np.asarray(scores, dtype=np.float64)
    if heads.ndim not in (3, 4) or 0 in heads.shape:
        raise ValueError(
            "`scores` must have shape (num_heads, query_len, key_len), or num_layers before that, "
            f"none of them 0. Received: scores.shape={heads.shape}"
        )
    for name, labels, size in (
        ("query_labels", query_labels, heads.shape[-2]),
        ("key_labels", key_labels, heads.shape[-1]),
        ("head_titles", head_titles, heads.shape[-3]),
    ):
        # A string would pass as a sequence of one-character labels.
        if labels is not None and (isinstance(labels, str) or len(labels) != size):
            received = repr(labels) if isinstance(labels, str) else f"{len(labels)} labels"
            raise ValueError(
                f"`{name}` must hold {size} strings for scores.shape={heads.shape}. "
                f"Received: {received}"
            )
    low, high = heads.min(), heads.max()
    if not (low >= -0.01 and high <= 1.01):  # half precision may round past 1; NaN fails as well
        raise ValueError(
            "`scores` must lie between 0 and 1, as they do after the softmax. "
            f"Received: values from {low} to {high}"
        )
    return heads if heads.ndim == 4 else heads[None]


def _draw_panel(axes: Axes, weights: npt.NDArray[np.float64], scale: float) -> AxesImage:
    image = axes.imshow(weights, cmap=WEIGHT_COLORS, vmin=0, vmax=scale, aspect="auto")
    # Hairlines between the cells lead the eye to the labels. They are two collections of lines: a
    # grid of minor ticks takes as long as all the rest.
    rows, columns = weights.shape
    style: Any = {"color": HAIRLINE, "linewidth": 0.5, "in_layout": False}
    axes.hlines(np.arange(0.5, rows - 1), -0.5, columns - 0.5, **style)
    axes.vlines(np.arange(0.5, columns - 1), -0.5, rows - 0.5, **style)
    axes.tick_params(length=0)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set(visible=True, color=HAIRLINE, linewidth=0.8)
    return image


def _label(axis: Axis, labels: Sequence[str], rotation: float = 0) -> None:
    axis.set_ticks(range(len(labels)), labels=labels, rotation=rotation)
    for text, label in zip(axis.get_ticklabels(), labels, strict=True):
        text.set_color(MUTED if is_special(label) else INK)


def _write_numbers(axes: Axes, weights: npt.NDArray[np.float64], scale: float) -> None:
    for query, key in zip(*np.nonzero(weights >= 0.005), strict=True):
        weight = weights[query, key]
        axes.text(
            key,
            query,
            "1" if weight >= 0.995 else f"{weight:.2f}"[1:],
            ha="center",
            va="center_baseline",
            size=7,
            color="white" if weight > 0.55 * scale else INK,
        )


def _draw_bar(
    body: SubFigure, image: AxesImage, panels: Sequence[Axes], panels_height: float
) -> None:
    """Draws the color bar of the whole figure beside the panels, at most `BAR_LENGTH` long."""
    shrink = min(1.0, BAR_LENGTH / panels_height)
    bar = body.colorbar(
        image,
        ax=panels,
        shrink=shrink,
        pad=0.01,
        anchor=(0.0, 1.0),
        aspect=shrink * panels_height / BAR_WIDTH,
        label="Attention weight",
    )
    low, high = image.get_clim()
    bar.set_ticks([low, (low + high) / 2, high], labels=["0", f"{high / 2:.2f}", f"{high:.2f}"])
    bar.outline.set_visible(False)


def _fit(figure: Figure, panel: Axes, rows: int, columns: int, cell: float) -> None:
    """Sizes the figure so that each cell is a square of `cell` inches, larger in a narrow figure.

    Labels and titles take the same space in a figure of any size, except that a title wraps in a
    narrower figure. A second round corrects for this. The layout is then final, since computing it
    for each drawing takes a third of a second.
    """
    engine = figure.get_layout_engine()
    assert engine is not None  # `new_figure` sets it
    query_len, key_len = panel.images[0].get_size()
    for _ in range(2):
        engine.execute(figure)
        box = panel.get_window_extent()
        width, height = figure.get_size_inches()
        width += columns * (cell * key_len - box.width / figure.dpi)
        growth = (MIN_WIDTH - width) / (columns * key_len)
        growth = min(max(growth, 0.0), max(MAX_CELL - cell, 0.0))
        cell += growth
        width += columns * growth * key_len
        height += rows * (cell * query_len - box.height / figure.dpi)
        figure.set_size_inches(width, height)
    figure.set_layout_engine("none")
