"""The style of figures, missing glyphs, and files."""

import os

import matplotlib
import pytest

from transformer_tf.plots import style
from transformer_tf.plots.style import (
    drawable,
    figure_style,
    new_figure,
    save_figure,
)


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
