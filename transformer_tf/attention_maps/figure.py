"""Attention scores as heat maps: one panel per head, query tokens down, key tokens across.

Works on NumPy arrays and labels alone, and on matplotlib's objects rather than `pyplot`: it needs
no display and leaves no global state behind.
"""

import functools
import math
import os
import secrets
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

FILE_SUFFIXES = (".png", ".svg", ".pdf")

# Lengths in inches, font sizes in points (1/72 inch).
_MAX_COLUMNS = 4
_PANEL_SIDE = 2.7  # what a panel of medium size measures; small ones are smaller, long ones longer
_MIN_CELL, _MAX_CELL = 0.15, 0.36
_MIN_LABEL_POINTS, _MAX_LABEL_POINTS = 7.0, 10.0
_LABEL_GAP = 0.06
# These grow with the panels, so that a large figure can be read from further off.
_PANEL_TITLE_POINTS, _TITLE_POINTS, _AXIS_POINTS, _BAR_POINTS = 11.0, 14.0, 11.0, 9.0
_PANEL_TITLE_ROOM, _TITLE_GAP, _TITLE_LINE, _AXIS_ROOM = 0.28, 0.15, 0.27, 0.32
_MIN_TITLE_WIDTH = 6.0
_COLUMN_GAP, _ROW_GAP, _MARGIN = 0.3, 0.3, 0.15
_BAR_GAP, _BAR_WIDTH, _BAR_LABEL_ROOM = 0.3, 0.15, 0.65
_MIN_BAR, _MAX_BAR = 1.5, 4.0
_MAX_GROWTH = 2.5

_MAX_LABEL_LENGTH = 40
_DPI = 150
_MAX_PIXELS = 100_000_000  # 400 MB while drawing

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# Families to look at first for a missing glyph, by the start of their names.
_PREFERRED_FAMILIES = (
    "DejaVu Sans",
    "Noto Sans CJK",
    "Noto Sans",
    "Source Han Sans",
    "Arial Unicode",
    "Hiragino Sans",
    "PingFang",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Segoe UI",
    "Apple SD Gothic",
    "Arial",
)
# Families whose glyphs are placeholders, bitmaps in colour, or under code points of their own.
_UNSUITABLE_FAMILIES = (
    *("last resort", "lastresort", "blank", "color emoji"),
    *("stix", "cmb10", "cmex", "cmmi", "cmr10", "cmss", "cmsy", "cmtt"),
    *("symbol", "webdings", "wingdings"),
)
_REGULAR_WEIGHTS = (400, "400", "normal", "regular")


def plot_attention(
    scores: npt.ArrayLike,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    *,
    title: str | None = None,
    head_titles: Sequence[str] | None = None,
) -> Figure:
    """Draw the attention scores of every head as a heat map.

    All panels share one colour scale from 0 to 1 and one colour bar, so colours compare between
    heads and between figures. The figure grows with the number of tokens, so that labels stay
    legible. Labels are drawn as they are: `$` and `_` mean nothing special. A control character
    is shown by its escape, and labels of more than 40 characters are cut.

    Args:
        scores: Array of shape `(num_heads, query_len, key_len)` with values from 0 to 1.
        query_labels: The `query_len` tokens that attend, drawn down the y axis, first on top.
        key_labels: The `key_len` tokens attended to, drawn along the x axis.
        title: Text above the panels, or `None` for none; long lines are wrapped.
        head_titles: `num_heads` panel titles; by default "Head 1", "Head 2", ...

    Returns:
        The figure, with an Agg canvas; its first `num_heads` axes are the panels in the order of
        the heads, the last one is the colour bar.

    Raises:
        ValueError: If a shape, a number of labels, or a value of `scores` is not as said above.

    Warns:
        UserWarning: Once, if no installed font has some character of the text; that character
            is then drawn as U+FFFD.
    """
    heads = _checked_scores(scores, query_labels, key_labels, head_titles)
    num_heads, query_len, key_len = heads.shape
    if head_titles is None:
        head_titles = [f"Head {number}" for number in range(1, num_heads + 1)]
    queries, keys, panel_titles = (
        [_visible(label) for label in labels] for labels in (query_labels, key_labels, head_titles)
    )
    shown_title = "\n".join(
        _visible(line, max_length=None) for line in ("" if title is None else title).split("\n")
    )

    families, missing = _choose_fonts(
        {*"".join([*queries, *keys, *panel_titles, *shown_title.split("\n")])}
    )
    if missing:
        warnings.warn(_missing_glyphs_message(missing), UserWarning, stacklevel=2)
        table = str.maketrans(dict.fromkeys(missing, _REPLACEMENT))
        queries, keys, panel_titles = (
            [label.translate(table) for label in labels] for labels in (queries, keys, panel_titles)
        )
        shown_title = shown_title.translate(table)

    # Everything is measured in inches first; the figure's size follows from it.
    cell = min(max(_PANEL_SIDE / max(query_len, key_len), _MIN_CELL), _MAX_CELL)
    panel_width, panel_height = cell * key_len, cell * query_len
    growth = min(max(min(panel_width, panel_height) / _PANEL_SIDE, 1.0), _MAX_GROWTH)
    label_points = min(max(0.66 * cell * 72, _MIN_LABEL_POINTS), _MAX_LABEL_POINTS)
    label_style = _text_style(families, label_points)
    panel_title_style = _text_style(families, growth * _PANEL_TITLE_POINTS)
    title_style = _text_style(families, growth * _TITLE_POINTS)
    axis_style = {**_text_style(families, growth * _AXIS_POINTS), "color": "0.35"}
    left_room = _widest(queries, label_style) + _LABEL_GAP
    bottom_room = _widest(keys, label_style) + _LABEL_GAP
    panel_title_room = growth * _PANEL_TITLE_ROOM
    column_gap, row_gap, margin = growth * _COLUMN_GAP, growth * _ROW_GAP, growth * _MARGIN

    rows = math.ceil(num_heads / _MAX_COLUMNS)
    columns = math.ceil(num_heads / rows)
    slot_width = left_room + max(panel_width, _widest(panel_titles, panel_title_style))
    slot_height = panel_title_room + panel_height + bottom_room
    grid_width = max(columns * (slot_width + column_gap) - column_gap, 1.0)
    panels_height = rows * (slot_height + row_gap) - row_gap - panel_title_room - bottom_room
    bar_height = min(max(panels_height, _MIN_BAR), growth * _MAX_BAR)
    below_bar = max(bar_height - panels_height - growth * _AXIS_ROOM, 0.0)

    grid_left = margin + growth * _AXIS_ROOM
    panels_bottom = margin + growth * _AXIS_ROOM + max(bottom_room, below_bar)
    bar_left = grid_left + grid_width + growth * _BAR_GAP
    figure_width = max(
        bar_left + growth * (_BAR_WIDTH + _BAR_LABEL_ROOM) + margin, growth * _MIN_TITLE_WIDTH
    )
    title_lines = _wrapped(shown_title, figure_width - 2 * margin, title_style)
    figure_width = max(figure_width, _widest(title_lines or [""], title_style) + 2 * margin)
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

    for head in range(num_heads):
        row, column = divmod(head, columns)
        left = grid_left + column * (slot_width + column_gap) + left_room
        top = panels_top - row * (slot_height + row_gap)
        axes = add_axes(left, top, panel_width, panel_height)
        image = _draw_panel(axes, heads[head], queries, keys, label_style, cell)
        axes.set_title(panel_titles[head], pad=6 * growth, loc="left", **panel_title_style)

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
    bar_style = _text_style(families, growth * _BAR_POINTS)
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
    partial = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        figure.savefig(partial, format=suffix[1:], dpi=dpi)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _checked_scores(
    scores: npt.ArrayLike,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    head_titles: Sequence[str] | None,
) -> npt.NDArray[np.float64]:
    """Return the scores as an array, or say what is wrong with them or with the labels."""
    heads = np.asarray(scores, dtype=np.float64)
    if heads.ndim != 3 or 0 in heads.shape:
        raise ValueError(
            "`scores` must have shape (num_heads, query_len, key_len), none of them 0. "
            f"Received: scores.shape={heads.shape}"
        )
    for name, labels, axis, size in (
        ("query_labels", query_labels, "query_len", heads.shape[1]),
        ("key_labels", key_labels, "key_len", heads.shape[2]),
        ("head_titles", head_titles, "num_heads", heads.shape[0]),
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
    return heads


def _draw_panel(
    axes: Axes,
    scores: npt.NDArray[np.float64],
    queries: Sequence[str],
    keys: Sequence[str],
    label_style: dict[str, Any],
    cell: float,
) -> Any:
    """Draw one head into `axes` and return the image, from which the colour bar is made."""
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
    axes.set_yticks(range(query_len), labels=queries, **label_style)
    axes.set_xticks(range(key_len), labels=keys, rotation=90, **label_style)
    axes.tick_params(length=0, pad=_LABEL_GAP * 72 / 2)
    # Hairlines between the cells, so that a row can be followed to its label.
    axes.grid(False)
    axes.set_xticks(np.arange(0.5, key_len - 1), minor=True)
    axes.set_yticks(np.arange(0.5, query_len - 1), minor=True)
    axes.grid(which="minor", color="white", linewidth=min(0.8, 2 * cell), alpha=0.35)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
    return image


def _visible(label: str, max_length: int | None = _MAX_LABEL_LENGTH) -> str:
    """Return a label as it is drawn: on one line, control characters escaped, not too long."""
    joiners = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
    shown = "".join(
        character
        if character.isprintable() or character in joiners
        else character.encode("unicode_escape").decode("ascii")
        for character in label
    )
    if max_length is not None and len(shown) > max_length:
        shown = shown[: max_length - 1] + "…"
    return shown


def _text_style(families: Sequence[str], points: float) -> dict[str, Any]:
    return {"family": families, "fontsize": points, "parse_math": False, "usetex": False}


def _widest(texts: Iterable[str], style: dict[str, Any]) -> float:
    """Return the width of the widest text, in inches."""
    figure = Figure(dpi=100)
    FigureCanvasAgg(figure)
    return max(
        Text(0, 0, text, figure=figure, **style).get_window_extent().width / figure.dpi
        for text in set(texts)
    )


def _wrapped(text: str, width: float, style: dict[str, Any]) -> list[str]:
    """Break the lines of a text at spaces so that each fits `width` inches, if words allow it."""
    lines: list[str] = []
    for line in text.split("\n") if text else ():
        words = line.split(" ")
        current = words[0]
        for word in words[1:]:
            if _widest([f"{current} {word}"], style) <= width:
                current += f" {word}"
            else:
                lines.append(current)
                current = word
        lines.append(current)
    return lines


def _choose_fonts(characters: set[str]) -> tuple[list[str], list[str]]:
    """Choose font families that between them draw `characters`, and name those none can.

    Args:
        characters: Single characters.

    Returns:
        The configured family and, if it lacks glyphs, installed ones that have them, in the
        order in which matplotlib is to try them; and the characters, sorted, that remain.
    """
    default = font_manager.findfont(font_manager.FontProperties())
    families = [font_manager.get_font(default).family_name]
    missing = {character for character in characters if ord(character) not in _code_points(default)}
    for family, path in _fallback_fonts() if missing else ():
        drawn = {character for character in missing if ord(character) in _code_points(path)}
        if drawn:
            families.append(family)
            missing -= drawn
        if not missing:
            break
    return families, sorted(missing)


def _fallback_fonts() -> list[tuple[str, str]]:
    """Return (family, file) of the installed fonts fit for labels, those known as broad first."""

    def preference(font: tuple[str, str]) -> tuple[int, str]:
        for rank, start in enumerate(_PREFERRED_FAMILIES):
            if font[0].startswith(start):
                return rank, font[0]
        return len(_PREFERRED_FAMILIES), font[0]

    fonts = {
        entry.name: entry.fname
        for entry in font_manager.fontManager.ttflist
        if entry.style == "normal"
        and entry.weight in _REGULAR_WEIGHTS
        and not any(word in entry.name.lower() for word in _UNSUITABLE_FAMILIES)
    }
    return sorted(fonts.items(), key=preference)


@functools.lru_cache(maxsize=1024)
def _code_points(path: str) -> frozenset[int]:
    """Return the code points for which a font file has glyphs that can be drawn at any size."""
    try:
        font = font_manager.get_font(path)
        return frozenset(font.get_charmap()) if font.scalable else frozenset()
    except (OSError, RuntimeError, ValueError):  # deleted, or not a font that FreeType can read
        return frozenset()


def _missing_glyphs_message(missing: Sequence[str]) -> str:
    """Say which characters cannot be drawn and which font would help."""
    names = " ".join(
        character if unicodedata.category(character)[0] in "LNPS" else f"U+{ord(character):04X}"
        for character in missing[:20]
    )
    more = f" and {len(missing) - 20} more" if len(missing) > 20 else ""
    return (
        f"No installed font has the characters {names}{more}; they are drawn as {_REPLACEMENT}. "
        "Install a font that has them, such as Noto Sans CJK for Chinese, Japanese and Korean or "
        "the Noto Sans of the script (https://fonts.google.com/noto); if they are still missing, "
        "delete matplotlib's font cache (matplotlib.get_cachedir())."
    )
