"""Attention scores as heat maps: a panel for each head, queries down, keys across."""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

from transformer_tf.plots.style import (
    AXIS_SIZE,
    HEADING_SIZE,
    INK,
    LABEL_SIZE,
    MUTED,
    TITLE_SIZE,
    drawable,
    figure_style,
    new_figure,
)
from transformer_tf.text.symbols import is_special

MAX_COLUMNS = 4
MAX_LABEL_LENGTH = 40

# In inches. A label of 9.5 points needs a cell of 0.15, a number one of 0.3.
PANEL, SINGLE_PANEL = 1.7, 4.0  # a map of a few tokens
MIN_CELL, NUMBER_CELL, MAX_CELL = 0.15, 0.3, 0.6
MIN_WIDTH, MAX_WIDTH = 4.5, 16.0
GAP, LINE = 0.12, 0.3  # between maps side by side; a line of text with its margins
BAR, BAR_WIDTH = 0.8, 0.14  # the color bar with and without its labels


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
    mean: bool = False,
    numbers: bool = False,
) -> Figure:
    """Draws the attention scores of every head as a heat map.

    The heads of one layer make a grid of at most four columns. Several layers make a sheet with a
    row for each layer and a column for each head; with one head, they make a grid as well. The
    outer maps have the labels.

    All maps share one color scale, from 0 to the largest weight of the figure. The figure grows
    with the number of tokens, so that labels stay legible. `<start>`, `<end>` and `<pad>` are gray.
    Labels of more than 40 characters are cut.

    Args:
        scores: Array of shape `(num_heads, query_len, key_len)`, or
            `(num_layers, num_heads, query_len, key_len)` for a sheet, with values from 0 to 1.
        query_labels: The `query_len` labels of the y axis, the first on top.
        key_labels: The `key_len` labels of the x axis.
        title: Text above the maps; long lines are wrapped.
        subtitle: Smaller text below the title.
        query_axis: Label of the y axis, beside the maps.
        key_axis: Label of the x axis, below the maps.
        head_titles: `num_heads` titles of maps; by default "Head 1", "Head 2", and so on.
        mean: Whether to draw the mean of several heads of one layer first, as high as all of them.
        numbers: Whether to write each weight of at least 0.05 into its cell, with two digits.

    Returns:
        The figure. Its axes are the mean, if drawn, the maps, head by head and layer by layer, and
        the color bar.

    Raises:
        ValueError: If the shape or the values of `scores`, or a number of labels, is wrong.

    Warns:
        UserWarning: Once, if no installed font has some characters.
    """
    maps = _checked_scores(scores, query_labels, key_labels, head_titles)
    num_layers, num_heads, query_len, key_len = maps.shape
    if head_titles is None:
        head_titles = [f"Head {number}" for number in range(1, num_heads + 1)]
    queries, keys, heads, (title, subtitle) = drawable(
        *(list(map(_on_one_line, labels)) for labels in (query_labels, key_labels, head_titles)),
        [title, subtitle],
    )
    is_sheet = np.ndim(scores) == 4 and num_heads > 1
    if np.ndim(scores) == 4 and not is_sheet:
        heads = [f"{heads[0]}, layer {layer}" for layer in range(1, num_layers + 1)]
    maps = maps.reshape(-1, query_len, key_len)
    mean = mean and num_layers == 1 < num_heads
    with figure_style():
        figure = new_figure(1, 1, layout=None)  # it gets its size below; all lengths are in inches
        least = NUMBER_CELL if numbers else MIN_CELL
        room = (PANEL if len(maps) > 1 else SINGLE_PANEL) / max(query_len, key_len)
        cell = least if is_sheet else min(max(room, least), MAX_CELL)
        width, height = cell * key_len, cell * query_len  # of a map
        beside, below = (_longest(figure, labels) + GAP for labels in (queries, keys))
        if is_sheet:
            rows, columns = num_layers, num_heads
            beside += LINE  # for "Layer 1"
        else:
            most = max(int(MAX_WIDTH // (width + GAP)), 1)
            rows = math.ceil(len(maps) / min(most, MAX_COLUMNS))
            columns = math.ceil(len(maps) / rows)
        grid_height = rows * (height + LINE) - LINE
        mean_cell = min(grid_height / query_len, MAX_CELL) if mean else 0.0
        left = LINE + beside
        grid_left = left + (mean_cell * key_len + GAP + beside if mean else 0.0)
        right = grid_left + columns * (width + GAP)
        full_width = max(right + BAR, MIN_WIDTH)
        top = _draw_titles(figure, title, subtitle, full_width) + LINE
        full_height = top + grid_height + below + LINE
        figure.set_size_inches(full_width, full_height)

        def add_axes(x: float, y: float, width: float, height: float) -> Axes:
            """Adds axes of this size, `x` from the left and `y` from the top of the figure."""
            bottom = full_height - y - height
            return figure.add_axes(
                (x / full_width, bottom / full_height, width / full_width, height / full_height)
            )

        panels = []
        if mean:
            panels.append(add_axes(left, top, mean_cell * key_len, mean_cell * query_len))
            _draw_panel(panels[0], maps.mean(axis=0), maps.max(), f"Mean of {num_heads} heads")
            _label(panels[0].yaxis, queries)
            _label(panels[0].xaxis, keys, rotation=90)
        for index, weights in enumerate(maps):
            row, column = divmod(index, columns)
            x, y = grid_left + column * (width + GAP), top + row * (height + LINE)
            panels.append(axes := add_axes(x, y, width, height))
            _draw_panel(axes, weights, maps.max(), "" if is_sheet and row else heads[index])
            if column == 0:
                _label(axes.yaxis, queries)
                if is_sheet:
                    axes.set_ylabel(f"Layer {row + 1}", size=HEADING_SIZE, weight="bold")
            if index + columns >= len(maps):
                _label(axes.xaxis, keys, rotation=90)
        if numbers:
            for axes in panels:
                _write_numbers(axes)
        style: Any = {"size": AXIS_SIZE, "color": MUTED}
        middle = top + grid_height / 2
        _write(figure, LINE / 2, middle, query_axis, rotation=90, ha="center", va="center", **style)
        _write(figure, left, full_height - LINE / 2, key_axis, va="center", **style)
        _draw_bar(add_axes(right, top, BAR_WIDTH, height), panels[-1])
    return figure


def _write(figure: Figure, x: float, y: float, text: str, **style: Any) -> Text:
    """Writes text, `x` inches from the left and `y` inches from the top of the figure."""
    move = ScaledTranslation(x, -y, figure.dpi_scale_trans)
    return figure.text(0, 1, text, transform=figure.transFigure + move, **style)


def _longest(figure: Figure, labels: Sequence[str]) -> float:
    """Returns the length of the longest label in inches."""
    renderer = cast(FigureCanvasAgg, figure.canvas).get_renderer()
    font = FontProperties(size=LABEL_SIZE)
    sizes = (renderer.get_text_width_height_descent(label, font, False) for label in labels)
    return max(width for width, _, _ in sizes) / figure.dpi


def _draw_titles(figure: Figure, title: str, subtitle: str, width: float) -> float:
    """Writes the texts above the maps, wrapped, and returns their height in inches."""
    figure.set_size_inches(width, 1)
    below = GAP
    styles: list[dict[str, Any]] = [{"size": TITLE_SIZE, "weight": "bold"}, {"color": MUTED}]
    for text, style in zip((title, subtitle), styles, strict=True):
        if text:
            written = _write(figure, GAP, below, text, va="top", wrap=True, **style)
            below += written.get_window_extent().height / figure.dpi + GAP / 2
    return below


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


def _draw_panel(axes: Axes, weights: npt.NDArray[np.float64], largest: float, title: str) -> None:
    axes.imshow(weights, vmin=0, vmax=largest or 1.0, aspect="auto", interpolation="nearest")
    # Gaps between the cells lead the eye to the labels. A grid of minor ticks would be slow.
    rows, columns = weights.shape
    lines = [[(-0.5, y - 0.5), (columns - 0.5, y - 0.5)] for y in range(1, rows)]
    lines += [[(x - 0.5, -0.5), (x - 0.5, rows - 0.5)] for x in range(1, columns)]
    axes.add_collection(LineCollection(lines, colors="white", linewidths=0.6), autolim=False)
    axes.tick_params(length=0)
    axes.set(xticks=[], yticks=[], title=title)
    axes.spines[:].set_visible(False)


def _label(axis: Axis, labels: Sequence[str], rotation: float = 0) -> None:
    axis.set_ticks(range(len(labels)), labels=labels, rotation=rotation)
    for text, label in zip(axis.get_ticklabels(), labels, strict=True):
        text.set_color(MUTED if is_special(label.rpartition(" ▸ ")[2]) else INK)


def _write_numbers(axes: Axes) -> None:
    (image,) = axes.images
    weights, (_, largest) = np.asarray(image.get_array()), image.get_clim()
    for query, key in zip(*np.nonzero(weights >= 0.05), strict=True):
        weight = weights[query, key]
        axes.text(
            key,
            query,
            _number(weight),
            ha="center",
            va="center_baseline",
            size=7,
            color="white" if weight > 0.55 * largest else INK,
        )


def _number(weight: float) -> str:
    return "1.0" if weight >= 0.995 else f"{weight:.2f}"[1:]


def _draw_bar(axes: Axes, panel: Axes) -> None:
    """Draws the color bar of the whole figure into `axes`."""
    (image,) = panel.images
    low, high = image.get_clim()
    bar = axes.figure.colorbar(image, cax=axes, label="Attention weight")
    bar.set_ticks([low, high / 2, high], labels=["0", _number(high / 2), _number(high)])
    bar.outline.set_visible(False)
    axes.tick_params(length=0)
