"""The style of figures, missing glyphs, and files."""

import os
import re

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from transformer_tf.attention_maps.page import BROWSER_FILES
from transformer_tf.plots import style
from transformer_tf.plots.style import (
    drawable,
    figure_style,
    new_figure,
    save_figure,
)


def oklab(color):
    """A color in Björn Ottosson's OKLab, in which the pages mix theirs."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.array(to_lab) @ np.cbrt(np.array(to_cones) @ linear)


def test_pictures_and_pages_have_one_palette():
    css = (BROWSER_FILES / "page.css").read_text()
    colors = dict(re.findall(r"--(\w+): (#\w{6});", css[: css.index("}")]))  # the light theme
    assert tuple(colors[name] for name in ("text", "muted", "line")) == (
        style.INK,
        style.MUTED,
        style.HAIRLINE,
    )
    paper, ink = (oklab(colors[name]) for name in ("paper", "ink"))
    for weight in np.linspace(0, 1, 17):
        mixed = (1 - weight) * paper + weight * ink
        np.testing.assert_allclose(oklab(style.WEIGHT_COLORS(weight)[:3]), mixed, atol=0.004)


@pytest.fixture
def figure():
    with figure_style():
        figure = new_figure(3, 2)
        figure.suptitle("Straße")
    return figure


def test_the_style_does_not_depend_on_user_settings():
    with matplotlib.rc_context({"text.usetex": True, "font.family": ["serif"]}):
        with figure_style():
            title = new_figure(3, 2).suptitle("$100")
        assert matplotlib.rcParams["text.usetex"]
    assert not title.get_usetex()
    assert not title.get_parse_math()
    assert title.get_fontfamily()[0] == "DejaVu Sans"


def test_one_warning_names_the_missing_characters(monkeypatch):
    monkeypatch.setattr(style, "FONT_FAMILIES", ("DejaVu Sans", "no such family"))
    with pytest.warns(UserWarning, match="characters 狗 猫;") as caught:
        drawn = drawable(["猫", "Tür"], ["猫a狗\t\n"])
    assert len(caught) == 1
    assert drawn == [["U+732B", "Tür"], ["U+732BaU+72D7U+0009\n"]]


@pytest.mark.parametrize(
    ("name", "start"),
    [("b.svg", b"<?xml"), ("c.pdf", b"%PDF-"), ("D.PNG", b"\x89PNG")],
)
def test_formats_by_suffix(figure, tmp_path, name, start):
    save_figure(figure, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["map.jpg", "map"])
def test_other_suffixes(figure, tmp_path, name):
    with pytest.raises(ValueError, match=name):
        save_figure(figure, tmp_path / name)
    assert os.listdir(tmp_path) == []
