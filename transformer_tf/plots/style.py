"""The style of every figure of the project, and how a figure is written to disk.

Figures are made without `pyplot`: they need no display and leave no global state behind.
"""

import contextlib
import logging
import math
import os
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import matplotlib
from cycler import cycler
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from transformer_tf.utils.files import FILE_SUFFIXES, atomic_write

DPI = 150
MAX_PIXELS = 100_000_000  # 400 MB while drawing

# As in page.css: `--text`, `--muted`, `--line`, and 10 points for 1 rem.
INK, MUTED, HAIRLINE = "#1b1e24", "#5a606b", "#dfdcd3"
TITLE_SIZE, HEADING_SIZE, LABEL_SIZE, AXIS_SIZE = 11.5, 10.0, 9.5, 8.5
# From `--paper`, for 0, to `--ink`: a mixture in OKLab, in equal steps.
WEIGHT_COLORS = LinearSegmentedColormap.from_list(
    "weights",
    [
        *("#f1f3f7", "#d3dae8", "#b5c2d8", "#98aac9", "#7c93ba"),
        *("#617caa", "#47659a", "#2d4f8a", "#12387a"),
    ],
)
# From `--accent`, for -1, over `--paper` to `--ink`.
SIGN_COLORS = LinearSegmentedColormap.from_list("signs", ["#b4530a", "#f1f3f7", "#12387a"])
for _colors in (WEIGHT_COLORS, SIGN_COLORS):
    matplotlib.colormaps.register(_colors, force=True)

# matplotlib draws each character with the first of these families that has it.
FONT_FAMILIES = (
    *("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Arabic"),
    *("Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai", "Symbola", "Noto Emoji"),
    *("Arial Unicode MS", "Hiragino Sans", "PingFang SC", "Apple SD Gothic Neo"),
    *("Segoe UI", "Segoe UI Symbol", "Segoe UI Emoji", "Yu Gothic", "Microsoft YaHei"),
    "Malgun Gothic",
)


def use_figure_style() -> None:
    """Makes matplotlib draw all later figures in the style of the project, as in a notebook.

    The colors "C0", "C1" and so on are then safe for color-blind readers.
    """
    # It warns about each fallback font without a bold weight.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    matplotlib.rcParams.update(_style())


@contextlib.contextmanager
def figure_style() -> Iterator[None]:
    """Makes matplotlib draw in the style of the project, regardless of the user's settings."""
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    try:
        with matplotlib.rc_context():
            use_figure_style()
            yield
    finally:
        logger.setLevel(level)


def _style() -> Any:
    return {
        "font.family": _installed_families(),
        "font.size": LABEL_SIZE,
        "text.color": INK,
        "text.parse_math": False,
        "text.usetex": False,
        "figure.facecolor": "white",
        "figure.constrained_layout.h_pad": 0.06,
        "figure.constrained_layout.w_pad": 0.06,
        "figure.titlesize": TITLE_SIZE,
        "figure.titleweight": "bold",
        "axes.facecolor": "white",
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.labelsize": AXIS_SIZE,
        "axes.titlecolor": INK,
        "axes.titlelocation": "left",
        "axes.titlesize": HEADING_SIZE,
        "axes.titleweight": "bold",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": False,
        "axes.axisbelow": True,
        # Okabe & Ito 2008: distinct for color-blind readers too.
        "axes.prop_cycle": cycler(
            color=["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
        ),
        "grid.color": HAIRLINE,
        "grid.linewidth": 0.8,
        "image.cmap": WEIGHT_COLORS.name,
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "savefig.facecolor": "white",
        "savefig.bbox": None,
    }


def new_figure(
    width: float, height: float, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """Returns an empty figure; width and height are in inches."""
    figure = Figure(figsize=(width, height), dpi=100, layout=layout)
    FigureCanvasAgg(figure)
    return figure


def drawable(*groups: Sequence[str]) -> list[list[str]]:
    """Replaces characters that cannot be drawn with their code points, such as `U+1F355`.

    These are control characters except line breaks, and characters that no family of
    `FONT_FAMILIES` has.

    Args:
        *groups: Lists of texts.

    Returns:
        The lists in the same order.

    Warns:
        UserWarning: Once, naming the characters that no font has.
    """
    covered = {ord("\n")}
    for family in _installed_families():
        covered.update(font_manager.get_font(font_manager.findfont(family)).get_charmap())
    characters = {character for group in groups for text in group for character in text}
    missing = sorted(character for character in characters if ord(character) not in covered)
    printable = [character for character in missing if unicodedata.category(character) != "Cc"]
    if printable:
        warnings.warn(
            f"No installed font has the characters {' '.join(printable)}; their code points are "
            "drawn instead. Install a font that has them, such as Noto Sans CJK for Chinese, "
            "Japanese and Korean or Symbola for emoji, and delete matplotlib's font cache "
            "(matplotlib.get_cachedir()).",
            UserWarning,
            stacklevel=3,
        )
    table = {ord(character): f"U+{ord(character):04X}" for character in missing}
    return [[text.translate(table) for text in group] for group in groups]


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Writes a figure as PNG, SVG or PDF, by the suffix of `path`, at 150 dots per inch.

    An existing file is replaced only when the new one is complete. A figure of more than 100
    million pixels gets fewer dots per inch.

    Args:
        figure: The figure to write.
        path: Where to write it, in an existing folder; ends in `.png`, `.svg` or `.pdf`, in either
            case.

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
    dpi = min(float(DPI), math.sqrt(MAX_PIXELS / (width * height)))
    with atomic_write(path) as partial, figure_style():
        figure.savefig(partial, format=suffix[1:], dpi=dpi)


def _installed_families() -> list[str]:
    installed = set(font_manager.get_font_names())
    return [family for family in FONT_FAMILIES if family in installed]
