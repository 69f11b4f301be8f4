"""Heat maps: what is drawn where, that it can be read, and how it is written to disk."""

import itertools
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
import pytest
from fontTools.fontBuilder import FontBuilder  # type: ignore[import-untyped, unused-ignore]
from fontTools.pens.ttGlyphPen import TTGlyphPen  # type: ignore[import-untyped, unused-ignore]
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.text import Text

from transformer_tf.attention_maps import plot_attention, save_figure

QUERIES = ["▁Der", "▁Zug", "fährt", "▁über", "Brücken", ".", "</s>"]
KEYS = ["<s>", "▁The", "▁train", "▁cross", "es", "▁bridges", "▁$x_1$", "^_{\\", "$", ".", "</s>"]


def make_scores(num_heads: int, query_len: int, key_len: int) -> npt.NDArray[np.float64]:
    logits = np.random.default_rng(0).normal(size=(num_heads, query_len, key_len), scale=2)
    exponentials = np.exp(logits)
    scores: npt.NDArray[np.float64] = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return scores


def plot(num_heads: int = 3, **options: Any) -> Figure:
    return plot_attention(make_scores(num_heads, 7, 11), QUERIES, KEYS, **options)


def panels(figure: Figure) -> list[Axes]:
    return figure.axes[:-1]


def image_of(axes: Axes) -> AxesImage:
    (image,) = axes.get_images()
    return image


def tick_texts(figure: Figure) -> list[list[str]]:
    """Return the labels of both axes of the first panel as they are when it is drawn."""
    figure.canvas.draw()
    axes = panels(figure)[0]
    return [
        [label.get_text() for label in axis.get_ticklabels()] for axis in (axes.yaxis, axes.xaxis)
    ]


@pytest.mark.parametrize(
    ("num_heads", "rows", "columns"), [(1, 1, 1), (4, 1, 4), (5, 2, 3), (8, 2, 4), (16, 4, 4)]
)
def test_one_panel_per_head_in_a_grid(num_heads: int, rows: int, columns: int) -> None:
    axes = panels(plot(num_heads))

    assert len(axes) == num_heads
    assert len({round(panel.get_position().y0, 6) for panel in axes}) == rows
    assert len({round(panel.get_position().x0, 6) for panel in axes}) == columns
    assert [panel.get_title(loc="left") for panel in axes] == [
        f"Head {number}" for number in range(1, num_heads + 1)
    ]


def test_each_panel_shows_its_head_with_the_first_query_on_top() -> None:
    scores = make_scores(3, 7, 11)
    figure = plot_attention(scores, QUERIES, KEYS)

    for head, axes in enumerate(panels(figure)):
        np.testing.assert_array_equal(image_of(axes).get_array(), scores[head])
        first_cell = axes.transData.transform((0, 0))
        assert first_cell[1] > axes.transData.transform((0, 6))[1]
        assert first_cell[0] < axes.transData.transform((10, 0))[0]
    assert tick_texts(figure) == [QUERIES, KEYS]


def test_cells_are_square_and_alike_in_every_panel() -> None:
    figure = plot(5)
    size = figure.get_size_inches()
    for axes in panels(figure):
        width, height = axes.get_position().size * size
        assert width / 11 == pytest.approx(height / 7)
        assert width == pytest.approx(panels(figure)[0].get_position().width * size[0])


def test_colours_mean_the_same_in_every_figure() -> None:
    figure = plot_attention(make_scores(3, 7, 11) / 10, QUERIES, KEYS)

    assert [image_of(axes).get_clim() for axes in panels(figure)] == [(0.0, 1.0)] * 3
    assert {image_of(axes).get_cmap().name for axes in panels(figure)} == {"viridis"}
    colour_bar = figure.axes[-1]
    assert colour_bar.get_ylabel() == "Attention weight"
    assert colour_bar.get_ylim() == (0.0, 1.0)
    assert not colour_bar.get_images()


def test_titles() -> None:
    figure = plot(2, title="$Layer_1$ über", head_titles=["self_1", "$cross$"])

    assert [axes.get_title(loc="left") for axes in panels(figure)] == ["self_1", "$cross$"]
    assert "$Layer_1$ über" in [text.get_text() for text in figure.texts]


@pytest.mark.parametrize("text", ["$x_1$", "$\\frac{$", "a_b^c"])
def test_labels_are_no_formulas(text: str) -> None:
    figure = plot_attention(make_scores(1, 1, 1), [text], [text], title=text, head_titles=[text])
    figure.canvas.draw()  # an unfinished formula would raise

    texts = [drawn for drawn in figure.findobj(Text) if drawn.get_text() == text]
    assert len(texts) >= 4  # both labels and both titles
    assert not any(drawn.get_parse_math() or drawn.get_usetex() for drawn in texts)


def test_control_characters_and_long_labels_stay_on_one_line() -> None:
    figure = plot_attention(make_scores(1, 2, 1), ["a\nb\t\0", "ü" * 41], ["\N{NO-BREAK SPACE}"])

    assert tick_texts(figure) == [["a\\nb\\t\\x00", "ü" * 39 + "…"], ["\\xa0"]]


def test_label_of_forty_characters_is_whole() -> None:
    figure = plot_attention(make_scores(1, 1, 1), ["ü" * 40], [""])

    assert tick_texts(figure) == [["ü" * 40], [""]]


@pytest.mark.parametrize(
    ("num_heads", "query_len", "key_len"),
    [(1, 1, 1), (8, 5, 7), (3, 5, 41), (2, 43, 3), (5, 60, 61)],
)
def test_nothing_overlaps_or_is_cut_off(num_heads: int, query_len: int, key_len: int) -> None:
    figure = plot_attention(
        make_scores(num_heads, query_len, key_len),
        [f"query{number}" for number in range(query_len)],
        [f"key_number_{number}" for number in range(key_len)],
        title="Cross-attention in layer 3",
        head_titles=[f"Layer 3, head {number}" for number in range(num_heads)],
    )
    assert_nothing_overlaps_or_is_cut_off(figure)


def test_one_cell_under_a_long_title() -> None:
    title = "A title that is a good deal wider than the only panel below it"
    figure = plot_attention(make_scores(1, 1, 1), ["a"], ["b"], title=title)
    assert_nothing_overlaps_or_is_cut_off(figure)


def assert_nothing_overlaps_or_is_cut_off(figure: Figure) -> None:
    figure.canvas.draw()

    boxes = [axes.get_tightbbox() for axes in figure.axes]
    boxes += [text.get_window_extent() for text in figure.texts]
    for box in boxes:
        assert box is not None
        assert box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
    for one, other in itertools.combinations(boxes, 2):
        assert one is not None and other is not None
        assert not one.overlaps(other)
    numbers = [label.get_window_extent() for label in figure.axes[-1].get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(numbers))


@pytest.mark.parametrize("length", [5, 20, 60, 113])
def test_labels_are_legible_and_apart(length: int) -> None:
    labels = [f"Äg{number}" for number in range(length)]
    figure = plot_attention(make_scores(2, length, length), labels, labels)
    figure.canvas.draw()

    for axes in panels(figure):
        cell = axes.get_position().height * figure.get_size_inches()[1] / length
        assert cell >= 0.14
        for ticks in (axes.get_yticklabels(), axes.get_xticklabels()):
            assert min(float(label.get_fontsize()) for label in ticks) >= 6
            extents = [label.get_window_extent() for label in ticks]
            assert not any(one.overlaps(other) for one, other in itertools.pairwise(extents))


def test_figure_grows_with_the_tokens() -> None:
    sizes = [
        plot_attention(make_scores(8, n, n), ["a"] * n, ["b"] * n).get_size_inches()
        for n in (5, 30, 60)
    ]
    assert all((small < large).all() for small, large in itertools.pairwise(sizes))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (make_scores(1, 7, 11)[0], r"\(7, 11\)"),
        (make_scores(3, 7, 11)[None, None], r"\(1, 1, 3, 7, 11\)"),
        (np.zeros((0, 7, 11)), r"\(0, 7, 11\)"),
    ],
)
def test_scores_of_wrong_shape(scores: npt.NDArray[np.float64], message: str) -> None:
    with pytest.raises(
        ValueError, match=rf"\(num_heads, query_len, key_len\).*Received.*{message}"
    ):
        plot_attention(scores, QUERIES, KEYS)


@pytest.mark.parametrize("value", [-0.5, 1.5, np.nan, -np.inf])
def test_scores_that_are_no_weights(value: float) -> None:
    scores = make_scores(3, 7, 11)
    scores[1, 2, 3] = value
    with pytest.raises(ValueError, match="between 0 and 1.*Received: values from"):
        plot_attention(scores, QUERIES, KEYS)


def test_half_precision_may_round_past_one() -> None:
    plot_attention(np.full((1, 1, 1), 1.001, dtype=np.float16), ["a"], ["b"])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("query_labels", {"query_labels": KEYS}),
        ("key_labels", {"key_labels": QUERIES}),
        ("query_labels", {"query_labels": "seven 7"}),
        ("head_titles", {"head_titles": ["one", "two"]}),
    ],
)
def test_labels_that_do_not_match(name: str, options: dict[str, Any]) -> None:
    arguments = {"query_labels": QUERIES, "key_labels": KEYS, **options}
    with pytest.raises(ValueError, match=rf"`{name}` must hold .*Received: "):
        plot_attention(make_scores(3, 7, 11), **arguments)


@pytest.fixture
def only_dejavu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide every installed font but the one that matplotlib brings along."""
    dejavu = [entry for entry in font_manager.fontManager.ttflist if entry.name == "DejaVu Sans"]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", dejavu)


def make_font(path: Path, family: str, characters: str) -> None:
    """Write a font in which every one of `characters` is a square."""
    pen = TTGlyphPen(None)
    for move, point in zip(
        (pen.moveTo, pen.lineTo, pen.lineTo, pen.lineTo),
        ((0, 0), (0, 900), (900, 900), (900, 0)),
        strict=True,
    ):
        move(point)
    pen.closePath()
    square = pen.glyph()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "square"])
    builder.setupCharacterMap({ord(character): "square" for character in characters})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "square": square})
    builder.setupHorizontalMetrics({".notdef": (1000, 0), "square": (1000, 0)})
    builder.setupHorizontalHeader(ascent=900, descent=-100)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2(usWeightClass=400)
    builder.setupPost()
    builder.save(path)


@pytest.mark.usefixtures("only_dejavu")
def test_missing_glyphs_give_one_warning_that_helps(tmp_path: Path) -> None:
    with pytest.warns(UserWarning) as caught:
        figure = plot_attention(make_scores(2, 2, 2), ["猫", "Tür"], ["狗", "猫a"], title="猫")
        for suffix in (".png", ".svg", ".pdf"):
            save_figure(figure, tmp_path / f"map{suffix}")

    assert len(caught) == 1
    assert "characters 狗 猫;" in str(caught[0].message)
    assert "Noto Sans CJK" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert tick_texts(figure) == [["\ufffd", "Tür"], ["\ufffd", "\ufffda"]]


@pytest.mark.usefixtures("only_dejavu")
def test_installed_font_fills_in(tmp_path: Path) -> None:
    make_font(tmp_path / "cats.ttf", "Noto Sans CJK Test", "猫")
    font_manager.fontManager.addfont(tmp_path / "cats.ttf")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plot_attention(make_scores(1, 2, 1), ["猫", "Tür"], ["cat"])
        save_figure(figure, tmp_path / "map.png")

    assert tick_texts(figure)[0] == ["猫", "Tür"]
    families = panels(figure)[0].get_yticklabels()[0].get_fontfamily()
    assert families == ["DejaVu Sans", "Noto Sans CJK Test"]


def test_umlauts_and_word_boundaries_need_no_other_font(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plot_attention(make_scores(1, 7, 1), list("äöüÄÖÜß"), ["▁„Straße“ – …"])
        save_figure(figure, tmp_path / "map.png")

    assert tick_texts(figure) == [list("äöüÄÖÜß"), ["▁„Straße“ – …"]]


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n"),
        ("b.svg", b"<?xml"),
        ("c.pdf", b"%PDF-"),
        ("D.PNG", b"\x89PNG"),
    ],
)
def test_formats_by_suffix(tmp_path: Path, name: str, start: bytes) -> None:
    path = tmp_path / "new folder" / name
    save_figure(plot(1), path)

    content = path.read_bytes()
    assert content.startswith(start)
    assert len(content) > 5000
    if start == b"<?xml":
        assert b"<svg" in content[:1000]
    assert os.listdir(path.parent) == [name]


def test_png_has_150_dots_per_inch(tmp_path: Path) -> None:
    figure = plot(1)
    save_figure(figure, tmp_path / "map.png")

    header = (tmp_path / "map.png").read_bytes()[16:24]
    pixels = np.array([int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")])
    np.testing.assert_allclose(pixels, figure.get_size_inches() * 150, atol=1)


@pytest.mark.parametrize("name", ["map.jpg", "map", "png", "map.png.txt"])
def test_other_suffixes(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"\.png, \.svg, \.pdf\. Received: .*" + name):
        save_figure(plot(1), tmp_path / name)

    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("old_content", [None, b"an older figure"])
def test_failed_save_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old_content: bytes | None
) -> None:
    path = tmp_path / "map.png"
    if old_content is not None:
        path.write_bytes(old_content)
    figure = plot(1)

    def write_half(name: Path, **options: Any) -> None:
        Path(name).write_bytes(b"\x89PNG half")
        raise OSError("No space left on device")

    monkeypatch.setattr(figure, "savefig", write_half)
    with pytest.raises(OSError, match="No space left") as caught:
        save_figure(figure, path)
    assert caught.value.filename == str(path)

    if old_content is None:
        assert os.listdir(tmp_path) == []
    else:
        assert os.listdir(tmp_path) == ["map.png"]
        assert path.read_bytes() == old_content


def test_user_settings_change_neither_labels_nor_layout() -> None:
    with matplotlib.rc_context():
        matplotlib.rcParams["text.usetex"] = True
        matplotlib.rcParams["figure.autolayout"] = True
        figure = plot(1, title="$100")
        position = panels(figure)[0].get_position().bounds
        figure.canvas.draw()

        assert not any(text.get_usetex() for text in figure.findobj(Text) if text.get_text())
        assert panels(figure)[0].get_position().bounds == position


def test_needs_neither_pyplot_nor_a_model() -> None:
    code = (
        "import sys, transformer_tf.attention_maps.figure; "
        "print({'matplotlib.pyplot', 'keras', 'tensorflow'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert result.stdout.strip() == "set()"


def test_a_sheet_has_a_row_for_each_layer() -> None:
    scores = np.stack([make_scores(3, 7, 11), make_scores(3, 7, 11)[:, ::-1]])
    figure = plot_attention(scores, QUERIES, KEYS, title="t")
    panels = figure.axes[:-1]
    assert [axes.get_title("left") for axes in panels] == [
        f"Layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2, 3)
    ]
    for axes, head in zip(panels, scores.reshape(-1, 7, 11), strict=True):
        np.testing.assert_allclose(axes.images[0].get_array(), head)
    tops = [axes.get_position().y1 for axes in panels]
    assert len(set(np.round(tops[:3], 6))) == 1 and tops[3] < tops[0]
    # Labels stand at the left and lower edge alone.
    queries = [[label.get_text() for label in axes.get_yticklabels()] for axes in panels]
    keys = [[label.get_text() for label in axes.get_xticklabels()] for axes in panels]
    assert queries == [list(QUERIES), [], []] * 2
    assert keys == [[]] * 3 + [list(KEYS)] * 3


def test_numbers_in_the_cells() -> None:
    scores = np.array([[[0.004, 0.996], [0.4, 0.44]]])
    axes = plot_attention(scores, ["a", "b"], ["c", "d"], numbers=True).axes[0]
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written == {(1, 0): "1", (0, 1): ".40", (1, 1): ".44"}
    colors = {text.get_position(): text.get_color() for text in axes.texts}
    # Whichever has more contrast on the colour of the weight.
    assert [colors[place] for place in ((1, 0), (0, 1), (1, 1))] == ["black", "white", "black"]


def test_cells_grow_for_their_numbers() -> None:
    labels = ["a"] * 40
    scores = make_scores(1, 40, 40)

    def cell(numbers: bool) -> float:
        figure = plot_attention(scores, labels, labels, numbers=numbers)
        return figure.axes[0].get_position().width * figure.get_figwidth() / 40

    assert cell(numbers=False) == pytest.approx(0.15)
    assert cell(numbers=True) == pytest.approx(0.3)  # inches: three digits of 7 points
