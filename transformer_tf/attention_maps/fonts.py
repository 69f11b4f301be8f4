"""Text in pictures: which fonts can draw it, how wide it is, where it breaks."""

import functools
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

_MAX_LABEL_LENGTH = 40

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
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


def visible(label: str, max_length: int | None = _MAX_LABEL_LENGTH) -> str:
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


def text_style(families: Sequence[str], points: float) -> dict[str, Any]:
    """Return what matplotlib is to be told of a text: its fonts, its size, no markup."""
    return {"family": families, "fontsize": points, "parse_math": False, "usetex": False}


def widest(texts: Iterable[str], style: dict[str, Any]) -> float:
    """Return the width of the widest text, in inches."""
    figure = Figure(dpi=100)
    FigureCanvasAgg(figure)
    return max(
        Text(0, 0, text, figure=figure, **style).get_window_extent().width / figure.dpi
        for text in set(texts)
    )


def wrapped(text: str, width: float, style: dict[str, Any]) -> list[str]:
    """Break the lines of a text at spaces so that each fits `width` inches, if words allow it."""
    lines: list[str] = []
    for line in text.split("\n") if text else ():
        words = line.split(" ")
        current = words[0]
        for word in words[1:]:
            if widest([f"{current} {word}"], style) <= width:
                current += f" {word}"
            else:
                lines.append(current)
                current = word
        lines.append(current)
    return lines


def choose_fonts(characters: set[str]) -> tuple[list[str], list[str]]:
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


def missing_glyphs_message(missing: Sequence[str]) -> str:
    """Say which characters cannot be drawn and which font would help."""
    names = " ".join(
        character if unicodedata.category(character)[0] in "LNPS" else f"U+{ord(character):04X}"
        for character in missing[:20]
    )
    more = f" and {len(missing) - 20} more" if len(missing) > 20 else ""
    return (
        f"No installed font has the characters {names}{more}; they are drawn as {REPLACEMENT}. "
        "Install a font that has them, such as Noto Sans CJK for Chinese, Japanese and Korean or "
        "the Noto Sans of the script (https://fonts.google.com/noto); if they are still missing, "
        "delete matplotlib's font cache (matplotlib.get_cachedir())."
    )
