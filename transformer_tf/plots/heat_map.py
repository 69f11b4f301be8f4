"""Attention scores as heat maps: a panel for each head, queries down, keys across."""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure

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
    with the number of tokens, so that labels stay legible. `<start>`, `<end>` and `<pad>` are gray.
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
    maps = _checked_scores(scores, query_labels, key_labels, head_titles)
    num_layers, num_heads = maps.shape[:2]
    if head_titles is None:
        head_titles = [f"Head {number}" for number in range(1, num_heads + 1)]
    queries, keys, heads, (title, subtitle) = drawable(
        *(list(map(_on_one_line, labels)) for labels in (query_labels, key_labels, head_titles)),
        [title, subtitle],
    )
    with figure_style():
        figure = new_figure(1, 1)  # `_fit` gives it its size
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
        body.supylabel(query_axis)
        body.supxlabel(key_axis)
        cell = NUMBER_CELL if numbers else MIN_CELL
        if np.ndim(scores) == 4 and num_heads > 1:
            panels = _draw_sheet(body, maps, queries, keys, heads)
        else:
            if np.ndim(scores) == 4:
                heads = [f"{heads[0]}, layer {layer}" for layer in range(1, num_layers + 1)]
            cell = min(max(PANEL / max(maps.shape[2:]), cell), MAX_CELL)
            maps = maps.reshape(-1, *maps.shape[2:])
            panels = _draw_grid(body, maps, queries, keys, heads, cell)
        if numbers:
            for axes in panels:
                _write_numbers(axes)
        lengths = [max(map(len, labels)) for labels in (queries, keys)]
        _fit(figure, body, panels, cell, lengths)
    return figure


def _draw_sheet(
    body: SubFigure,
    maps: npt.NDArray[np.float64],
    queries: Sequence[str],
    keys: Sequence[str],
    titles: Sequence[str],
) -> list[Axes]:
    """Draws a row for each layer and a column for each head, with labels at the edges."""
    panels = body.subplots(*maps.shape[:2], squeeze=False)
    for layer, row in enumerate(panels):
        for axes, weights in zip(row, maps[layer], strict=True):
            _draw_panel(axes, weights, maps.max())
        _label(row[0].yaxis, queries)
        row[0].set_ylabel(f"Layer {layer + 1}", size=11, weight="bold")
    for axes, title in zip(panels[0], titles, strict=True):
        axes.set_title(title)
    for axes in panels[-1]:
        _label(axes.xaxis, keys, rotation=90)
    return list(panels.flat)


def _draw_grid(
    body: SubFigure,
    maps: npt.NDArray[np.float64],
    queries: Sequence[str],
    keys: Sequence[str],
    titles: Sequence[str],
    cell: float,
) -> list[Axes]:
    """Draws maps side by side, as many in a row as fit, each with its labels."""
    most = int(MAX_WIDTH // (cell * len(keys) + 0.8))  # 0.8 inches of labels, roughly
    rows = math.ceil(len(maps) / min(max(most, 1), MAX_COLUMNS))
    columns = math.ceil(len(maps) / rows)
    grid = list(body.subplots(rows, columns, squeeze=False).flat)
    panels, unused = grid[: len(maps)], grid[len(maps) :]
    for axes in unused:
        axes.remove()
    for axes, weights, title in zip(panels, maps, titles, strict=True):
        _draw_panel(axes, weights, maps.max())
        _label(axes.yaxis, queries)
        _label(axes.xaxis, keys, rotation=90)
        axes.set_title(title)
    return panels


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
    # Half precision may round past 1; NaN fails as well.
    if not (heads.min() >= -0.01 and heads.max() <= 1.01):
        raise ValueError(
            "`scores` must lie between 0 and 1, as they do after the softmax. "
            f"Received: values from {heads.min()} to {heads.max()}"
        )
    texts = {"head_titles": head_titles, "query_labels": query_labels, "key_labels": key_labels}
    for (name, labels), size in zip(texts.items(), heads.shape[-3:], strict=True):
        # A string would pass as a sequence of one-character labels.
        if labels is not None and (isinstance(labels, str) or len(labels) != size):
            raise ValueError(
                f"`{name}` must hold {size} strings for scores.shape={heads.shape}. "
                f"Received: {labels!r}"
            )
    return heads if heads.ndim == 4 else heads[None]


def _draw_panel(axes: Axes, weights: npt.NDArray[np.float64], largest: float) -> None:
    axes.imshow(weights, cmap=WEIGHT_COLORS, vmin=0, vmax=largest or 1.0, aspect="auto")
    # Hairlines between the cells lead the eye to the labels. They are two collections of lines: a
    # grid of minor ticks takes as long as all the rest.
    rows, columns = weights.shape
    style: Any = {"color": HAIRLINE, "linewidth": 0.5, "in_layout": False}
    axes.hlines(np.arange(0.5, rows - 1), -0.5, columns - 0.5, **style)
    axes.vlines(np.arange(0.5, columns - 1), -0.5, rows - 0.5, **style)
    axes.tick_params(length=0)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set(visible=True, color=HAIRLINE, linewidth=0.8)


def _label(axis: Axis, labels: Sequence[str], rotation: float = 0) -> None:
    axis.set_ticks(range(len(labels)), labels=labels, rotation=rotation)
    for text, label in zip(axis.get_ticklabels(), labels, strict=True):
        text.set_color(MUTED if is_special(label) else INK)


def _write_numbers(axes: Axes) -> None:
    (image,) = axes.images
    weights, (_, largest) = np.asarray(image.get_array()), image.get_clim()
    for query, key in zip(*np.nonzero(weights >= 0.005), strict=True):
        weight = weights[query, key]
        axes.text(
            key,
            query,
            "1" if weight >= 0.995 else f"{weight:.2f}"[1:],
            ha="center",
            va="center_baseline",
            size=7,
            color="white" if weight > 0.55 * largest else INK,
        )


def _draw_bar(body: SubFigure, panels: Sequence[Axes], panels_height: float) -> None:
    """Draws the color bar of the whole figure beside the panels, at most `BAR_LENGTH` long."""
    (image,) = panels[0].images
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


def _fit(
    figure: Figure,
    body: SubFigure,
    panels: Sequence[Axes],
    cell: float,
    lengths: Sequence[int],
) -> None:
    """Adds the color bar and sizes the figure.

    Labels and titles take the same space in a figure of any size, except that a title wraps in a
    narrower figure. A second round corrects for this. The layout is then final, since computing it
    for each drawing takes a third of a second.

    Args:
        figure: The figure.
        body: Its part with the panels.
        panels: The panels.
        cell: Side of a square cell in inches; in a narrow figure it is larger.
        lengths: Number of characters of the longest query label and key label.
    """
    panel = panels[0]
    gridspec = panel.get_gridspec()
    assert gridspec is not None  # `subplots` sets it
    rows, columns = gridspec.get_geometry()
    query_len, key_len = panel.images[0].get_size()
    _draw_bar(body, panels, rows * cell * query_len)
    engine = figure.get_layout_engine()
    assert engine is not None  # `new_figure` sets it
    # Large enough for the labels; the rounds below reduce it.
    beside, below = (0.6 + LABEL_WIDTH * length for length in lengths)
    figure.set_size_inches(
        columns * (cell * key_len + beside) + 2, rows * (cell * query_len + below) + 2
    )
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
