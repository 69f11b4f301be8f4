"""Attention scores as heat maps: a panel for each head, query tokens down, key tokens across.

Works on NumPy arrays and labels alone, and on matplotlib's objects rather than `pyplot`: it needs
no display and leaves no global state behind.
"""

import math
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from transformer_tf.attention_maps.fonts import (
    REPLACEMENT,
    choose_fonts,
    missing_glyphs_message,
    text_style,
    visible,
    widest,
    wrapped,
)
from transformer_tf.files import whole_file

FILE_SUFFIXES = (".png", ".svg", ".pdf")

# Lengths in inches, font sizes in points (1/72 inch).
_MAX_COLUMNS = 4
_PANEL_SIDE = 2.7  # what a panel of medium size measures; small ones are smaller, long ones longer
_MIN_CELL, _MAX_CELL = 0.15, 0.36
_MIN_LABEL_POINTS, _MAX_LABEL_POINTS = 7.0, 10.0
_NUMBER_CELL, _NUMBER_POINTS = 0.3, 7.0  # a cell that a weight can be read in
_LABEL_GAP = 0.06
# These grow with the panels, so that a large figure can be read from further off.
_PANEL_TITLE_POINTS, _TITLE_POINTS, _AXIS_POINTS, _BAR_POINTS = 11.0, 14.0, 11.0, 9.0
_PANEL_TITLE_ROOM, _TITLE_GAP, _TITLE_LINE, _AXIS_ROOM = 0.28, 0.15, 0.27, 0.32
_MIN_TITLE_WIDTH = 6.0
_COLUMN_GAP, _ROW_GAP, _MARGIN = 0.3, 0.3, 0.15
_BAR_GAP, _BAR_WIDTH, _BAR_LABEL_ROOM = 0.3, 0.15, 0.65
_MIN_BAR, _MAX_BAR = 1.5, 4.0
_MAX_GROWTH = 2.5

_DPI = 150
_MAX_PIXELS = 100_000_000  # 400 MB while drawing


def plot_attention(
    scores: npt.ArrayLike,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    *,
    title: str | None = None,
    head_titles: Sequence[str] | None = None,
    numbers: bool = False,
) -> Figure:
    """Draw the attention scores of every head as a heat map.

    The heads of one layer make a grid, each with labels of its own; those of several layers a
    sheet, a row for each layer, with the labels at its left and lower edge.

    All panels share one colour scale from 0 to 1 and one colour bar, so colours compare between
    heads and between figures. The figure grows with the number of tokens, so that labels stay
    legible. Labels are drawn as they are: `$` and `_` mean nothing special. A control character
    is shown by its escape, and labels of more than 40 characters are cut.

    Args:
        scores: Array of shape `(num_heads, query_len, key_len)`, or
            `(num_layers, num_heads, query_len, key_len)` for a sheet, with values from 0 to 1.
        query_labels: The `query_len` tokens that attend, drawn down the y axis, first on top.
        key_labels: The `key_len` tokens attended to, drawn along the x axis.
        title: Text above the panels, or `None` for none; long lines are wrapped.
        head_titles: `num_heads` panel titles; by default "Head 1", "Head 2", ... On a sheet
            "Layer 1, " and so on goes before.
        numbers: Whether to write each weight of at least 0.005 into its cell, in hundredths.

    Returns:
        The figure, with an Agg canvas; its first axes are the panels in the order of the heads,
        on a sheet layer by layer, the last one is the colour bar.

    Raises:
        ValueError: If a shape, a number of labels, or a value of `scores` is not as said above.

    Warns:
        UserWarning: Once, if no installed font has some character of the text; that character
            is then drawn as U+FFFD.
    """
    layers = _checked_scores(scores, query_labels, key_labels, head_titles)
    num_layers, num_heads, query_len, key_len = layers.shape
    heads = layers.reshape(-1, query_len, key_len)
    sheet = np.ndim(scores) == 4
    if head_titles is None:
        head_titles = [f"Head {number}" for number in range(1, num_heads + 1)]
    if sheet:
        head_titles = [
            f"Layer {layer}, {head[:1].lower()}{head[1:]}"
            for layer in range(1, num_layers + 1)
            for head in head_titles
        ]
    queries, keys, panel_titles = (
        [visible(label) for label in labels] for labels in (query_labels, key_labels, head_titles)
    )
    shown_title = "\n".join(
        visible(line, max_length=None) for line in ("" if title is None else title).split("\n")
    )

    families, missing = choose_fonts(
        {*"".join([*queries, *keys, *panel_titles, *shown_title.split("\n")])}
    )
    if missing:
        warnings.warn(missing_glyphs_message(missing), UserWarning, stacklevel=2)
        table = str.maketrans(dict.fromkeys(missing, REPLACEMENT))
        queries, keys, panel_titles = (
            [label.translate(table) for label in labels] for labels in (queries, keys, panel_titles)
        )
        shown_title = shown_title.translate(table)

    # Everything is measured in inches first; the figure's size follows from it.
    smallest = _NUMBER_CELL if numbers else _MIN_CELL
    cell = min(max(_PANEL_SIDE / max(query_len, key_len), smallest), _MAX_CELL)
    panel_width, panel_height = cell * key_len, cell * query_len
    growth = min(max(min(panel_width, panel_height) / _PANEL_SIDE, 1.0), _MAX_GROWTH)
    label_points = min(max(0.66 * cell * 72, _MIN_LABEL_POINTS), _MAX_LABEL_POINTS)
    label_style = text_style(families, label_points)
    panel_title_style = text_style(families, growth * _PANEL_TITLE_POINTS)
    title_style = text_style(families, growth * _TITLE_POINTS)
    axis_style = {**text_style(families, growth * _AXIS_POINTS), "color": "0.35"}
    left_room = widest(queries, label_style) + _LABEL_GAP
    bottom_room = widest(keys, label_style) + _LABEL_GAP
    panel_title_room = growth * _PANEL_TITLE_ROOM
    column_gap, row_gap, margin = growth * _COLUMN_GAP, growth * _ROW_GAP, growth * _MARGIN

    rows = num_layers if sheet else math.ceil(num_heads / _MAX_COLUMNS)
    columns = num_heads if sheet else math.ceil(num_heads / rows)
    # Labels stand at each panel, or once at the edge of the sheet.
    edge_room, panel_left_room = (left_room, 0.0) if sheet else (0.0, left_room)
    panel_bottom_room = 0.0 if sheet else bottom_room
    slot_width = panel_left_room + max(panel_width, widest(panel_titles, panel_title_style))
    slot_height = panel_title_room + panel_height + panel_bottom_room
    grid_width = max(edge_room + columns * (slot_width + column_gap) - column_gap, 1.0)
    panels_height = rows * (slot_height + row_gap) - row_gap - panel_title_room - panel_bottom_room
    bar_height = min(max(panels_height, _MIN_BAR), growth * _MAX_BAR)
    below_bar = max(bar_height - panels_height - growth * _AXIS_ROOM, 0.0)

    grid_left = margin + growth * _AXIS_ROOM
    panels_bottom = margin + growth * _AXIS_ROOM + max(bottom_room, below_bar)
    bar_left = grid_left + grid_width + growth * _BAR_GAP
    figure_width = max(
        bar_left + growth * (_BAR_WIDTH + _BAR_LABEL_ROOM) + margin, growth * _MIN_TITLE_WIDTH
    )
    title_lines = wrapped(shown_title, figure_width - 2 * margin, title_style)
    figure_width = max(figure_width, widest(title_lines or [""], title_style) + 2 * margin)
    title_room = growth * (_TITLE_GAP + _TITLE_LINE * len(title_lines)) if title_lines else 0.0
    panels_top = panels_bottom + panels_height
    figure_height = panels_top + panel_title_room + title_room + margin

    figure = Figure(figsize=(figure_width, figure_height), dpi=100)
    figure.set_layout_engine("none")  # whatever the user's matplotlib settings say
    FigureCanvasAgg(figure)

    def add_axes(left: float, top: float, width: float, height: float) -> Axes:
        x, y = left / figure_width, (top - height) / figure_height
        return figure.add_axes((x, y, width / figure_width, height / figure_height))

    def add_text(x: float, y: float, text: str, **style: Any) -> None:
        figure.text(x / figure_width, y / figure_height, text, **style)

    for number, head in enumerate(heads):
        row, column = divmod(number, columns)
        left = grid_left + edge_room + column * (slot_width + column_gap) + panel_left_room
        top = panels_top - row * (slot_height + row_gap)
        axes = add_axes(left, top, panel_width, panel_height)
        image = _draw_panel(
            axes,
            head,
            [] if sheet and column > 0 else queries,
            [] if sheet and row < rows - 1 else keys,
            label_style,
            cell,
        )
        if numbers:
            _write_numbers(axes, head, text_style(families, _NUMBER_POINTS))
        axes.set_title(panel_titles[number], pad=6 * growth, loc="left", **panel_title_style)

    grid_middle = grid_left + (left_room + grid_width) / 2
    add_text(grid_middle, margin, "Keys", ha="center", va="bottom", **axis_style)
    panels_middle = panels_bottom + panels_height / 2
    add_text(margin, panels_middle, "Queries", ha="left", va="center", rotation=90, **axis_style)
    for number, line in enumerate(title_lines):
        y = figure_height - margin - number * growth * _TITLE_LINE
        add_text(margin, y, line, ha="left", va="top", **title_style)

    bar_axes = add_axes(bar_left, panels_top, growth * _BAR_WIDTH, bar_height)
    bar = figure.colorbar(image, cax=bar_axes)
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    bar_style = text_style(families, growth * _BAR_POINTS)
    bar_axes.set_yticks(ticks, labels=[f"{tick:.2f}" for tick in ticks], **bar_style)
    bar_axes.tick_params(length=3 * growth)
    bar.set_label("Attention weight", **axis_style)
    bar.outline.set_visible(False)
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, by the suffix of `path`, at 150 dots per inch.

    The file is written under a temporary name in the same folder and then renamed: `path` is
    never half written, and an older file survives if drawing fails. The folder is made if
    missing. A figure of more than 100 million pixels gets fewer dots per inch.

    Args:
        figure: The figure to write.
        path: Where to write it; ends in `.png`, `.svg` or `.pdf`, in either case.

    Raises:
        OSError: If it cannot be written.
        ValueError: If `path` has another suffix.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FILE_SUFFIXES:
        raise ValueError(
            f"`path` must end in one of {', '.join(FILE_SUFFIXES)}. Received: path={str(path)!r}"
        )
    width, height = figure.get_size_inches()
    dpi = min(float(_DPI), math.sqrt(_MAX_PIXELS / (width * height)))
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial:
        figure.savefig(partial, format=suffix[1:], dpi=dpi)


def _checked_scores(
    scores: npt.ArrayLike,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    head_titles: Sequence[str] | None,
) -> npt.NDArray[np.float64]:
    """Return the scores as an array of four axes, or say what is wrong with them or the labels."""
    heads = np.asarray(scores, dtype=np.float64)
    if heads.ndim not in (3, 4) or 0 in heads.shape:
        raise ValueError(
            "`scores` must have shape (num_heads, query_len, key_len), or num_layers before that, "
            f"none of them 0. Received: scores.shape={heads.shape}"
        )
    for name, labels, axis, size in (
        ("query_labels", query_labels, "query_len", heads.shape[-2]),
        ("key_labels", key_labels, "key_len", heads.shape[-1]),
        ("head_titles", head_titles, "num_heads", heads.shape[-3]),
    ):
        if labels is None:
            continue
        # A string would pass as a sequence of one-character labels.
        if isinstance(labels, str) or len(labels) != size:
            received = f"{labels!r}" if isinstance(labels, str) else f"{len(labels)} labels"
            raise ValueError(
                f"`{name}` must hold {size} strings, one for each of {axis} in "
                f"scores.shape={heads.shape}. Received: {received}"
            )
    low, high = heads.min(), heads.max()
    if not (low >= -0.01 and high <= 1.01):  # half precision may round past 1; NaN fails as well
        raise ValueError(
            "`scores` must lie between 0 and 1, as they do after the softmax. "
            f"Received: values from {low} to {high}"
        )
    return heads if heads.ndim == 4 else heads[None]


def _draw_panel(
    axes: Axes,
    scores: npt.NDArray[np.float64],
    queries: Sequence[str],
    keys: Sequence[str],
    label_style: dict[str, Any],
    cell: float,
) -> Any:
    """Draw one head into `axes` and return the image, from which the colour bar is made.

    Without labels for an axis it stays bare.
    """
    query_len, key_len = scores.shape
    image = axes.imshow(
        scores,
        cmap="viridis",
        vmin=0.0,
        vmax=1.0,
        aspect="auto",  # the axes are cut to square cells already
        interpolation="nearest",
        origin="upper",
    )
    axes.set_yticks(range(len(queries)), labels=queries, **label_style)
    axes.set_xticks(range(len(keys)), labels=keys, rotation=90, **label_style)
    axes.tick_params(length=0, pad=_LABEL_GAP * 72 / 2)
    # Hairlines between the cells, so that a row can be followed to its label.
    axes.grid(False)
    axes.set_xticks(np.arange(0.5, key_len - 1), minor=True)
    axes.set_yticks(np.arange(0.5, query_len - 1), minor=True)
    axes.grid(which="minor", color="white", linewidth=min(0.8, 2 * cell), alpha=0.35)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
    return image


def _write_numbers(
    axes: Axes, scores: npt.NDArray[np.float64], number_style: dict[str, Any]
) -> None:
    """Write the weights into their cells, dark on light and light on dark."""
    for query, key in zip(*np.nonzero(scores >= 0.005), strict=True):
        weight = scores[query, key]
        axes.text(
            key,
            query,
            "1" if weight >= 0.995 else f"{weight:.2f}"[1:],
            ha="center",
            va="center_baseline",
            color="black" if weight > 0.43 else "white",
            **number_style,
        )
