"""The arcs between the words, the first thing on the page."""

import io
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from tests.export.web.conftest import SHIPPED, ready, type_text
from transformer_tf.attention_maps.alignments import attention_of_words

pytestmark = pytest.mark.slow

ALIGNMENT = SHIPPED.decoding.alignment
FIRST = "My father bought a new car last week."  # the first example of the page


@pytest.fixture(scope="module")
def expected(start_engine, shipped_packs):
    """The mean of the alignment heads between the words, as the package computes it."""
    engine = start_engine(shipped_packs["en-de"])
    cross = engine("translate", {"text": FIRST, "search": "beam"})["maps"]["cross"]
    shape = (cross["layers"], cross["heads"], len(cross["queries"]), len(cross["keys"]))
    scores = np.reshape(cross["scores"], shape)[ALIGNMENT.layer - 1, np.array(ALIGNMENT.heads) - 1]
    query = ALIGNMENT.query
    return attention_of_words(scores, cross["keys"], cross["queries"], query).mean(axis=0)


def word(page, side, index):
    return page.locator(f"#arc-{side} .chip").nth(index)


def test_arcs_are_as_thick_as_the_mean_of_the_alignment_heads(fresh_page, expected):
    page = fresh_page
    assert page.text_content("#arcs-told") == (
        "Every German word looks back at the English. Point at one."
    )
    heads = ", ".join(map(str, sorted(ALIGNMENT.heads)))
    assert page.locator("#arcs figcaption #arcs-source").text_content() == (
        f"The lines are the mean of heads {heads} of layer {ALIGNMENT.layer}, which align words."
    )
    found = page.locator("#arc-lines g").evaluate_all(
        "all => all.map((e) => [e.dataset.target, e.dataset.source,"
        " e.querySelector('path').getAttribute('stroke-width'), e.textContent.slice(0, 4)])"
    )
    weights = {(int(t), int(s)): (float(width), float(share)) for t, s, width, share in found}
    assert set(weights) == {tuple(place) for place in np.argwhere(expected >= 0.05)}
    for place, (width, share) in weights.items():
        assert width == pytest.approx(9 * expected[place], abs=0.01)
        assert share == pytest.approx(expected[place], abs=0.006)


def test_pointing_at_a_word_shows_its_shares(fresh_page, expected):
    page = fresh_page
    word(page, "target", 2).hover()
    lit = page.locator("#arc-lines g.lit")
    assert lit.evaluate_all("all => all.map((e) => e.dataset.target)") == ["2"] * lit.count()
    told = page.text_content("#arcs-told")
    assert re.match(r"To choose “hat”, the model looks at: bought (0\.9|1\.00)", told)
    assert lit.locator("text:visible").count() == lit.count()
    assert float(re.search(r"elsewhere (\S+)$", told)[1]) == pytest.approx(
        1 - sum(sorted(expected[2])[-3:]), abs=0.006
    )
    word(page, "source", 2).focus()
    page.keyboard.press("ArrowRight")
    assert page.text_content("#arcs-told").startswith("The model looks at “a” to say: ein ")
    page.locator("#way-cross").focus()
    assert page.locator("#arc-lines g.lit").count() == 0


def test_words_that_are_not_said_yet_have_no_arcs(fresh_page):
    page = fresh_page
    page.click("#first")
    assert page.locator("#arc-lines g").count() == 0
    page.click("#forward")
    targets = page.locator("#arc-lines g").evaluate_all("all => all.map((e) => e.dataset.target)")
    assert set(targets) == {"0"}


def test_german_to_english_draws_the_words_that_were_read(fresh_page):
    page = fresh_page
    page.select_option("#model", label="German → English")
    page.wait_for_function("() => document.querySelector('#source').lang === 'de'")
    ready(page)
    word(page, "target", 1).hover()
    assert re.match(
        r"After reading “father”, the model looks at: Vater 0\.\d", page.text_content("#arcs-told")
    )


def test_the_arcs_are_saved_as_pictures(fresh_page, expected):
    page = fresh_page
    saved = {}
    for name in ("svg", "png"):
        with page.expect_download() as download:
            page.click(f"#save-{name}")
        saved[name] = Path(download.value.path()).read_bytes()
    picture = ElementTree.fromstring(saved["svg"])
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert " ".join(texts) == f"{FIRST} {page.text_content('#translation')}"
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}path"))) == (expected >= 0.05).sum()
    with Image.open(io.BytesIO(saved["png"])) as image:
        assert image.width == 2 * int(picture.get("width"))
        assert len(image.getcolors(1 << 20)) > 10


# The words that the line of an arc runs through, and the shares that are not in sight.
CROSSED = """() => {
    const boxOf = (each) => each.getBoundingClientRect();
    const words = Array.from(document.querySelectorAll("#arcs .words .chip"));
    return Array.from(document.querySelectorAll("#arc-lines path"), boxOf).flatMap((line) =>
        words.filter((word) => {
            const { left, right, top, bottom } = boxOf(word);
            return line.left < right - 1 && line.right > left + 1
                && line.top < bottom - 1 && line.bottom > top + 1;
        }).map((word) => word.textContent));
}"""
CUT_SHARES = """() => {
    const box = document.querySelector("#arcs").getBoundingClientRect();
    const seen = Array.from(document.querySelectorAll("#arc-lines g.lit text")).filter((text) =>
        getComputedStyle(text).visibility === "visible").map((e) => e.getBoundingClientRect());
    return seen.filter(({ left, right }) => left < box.left || right > box.right).length;
}"""


@pytest.mark.parametrize("width", [390, 320])
def test_on_a_phone_the_sentences_are_columns_and_no_line_crosses_a_word(
    browser, shipped_site, width
):
    page = browser.new_page(viewport={"width": width, "height": 844}, has_touch=True)
    page.goto(shipped_site)
    ready(page)
    boxes = [each.bounding_box() for each in page.locator("#arcs .words .chip").all()]
    sources, targets = boxes[:8], boxes[8:]
    rights = [box["x"] + box["width"] for box in sources]
    assert rights == pytest.approx([rights[0]] * 8, abs=0.1)
    assert [box["x"] for box in targets] == pytest.approx([targets[0]["x"]] * 9, abs=0.1)
    assert targets[0]["x"] - rights[0] > 80
    assert page.evaluate(CROSSED) == []
    page.tap("#arc-target .chip >> nth=3")
    page.wait_for_selector("#alternatives:popover-open")
    assert page.locator("#arc-lines g.lit").count() >= 2
    assert page.evaluate(CUT_SHARES) == 0
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        page.tap("#save-svg")
    picture = ElementTree.fromstring(Path(download.value.path()).read_text())
    places = [
        (float(text.get("x")), float(text.get("y")))
        for text in picture.iter("{http://www.w3.org/2000/svg}text")
    ]
    assert max(x for x, _ in places[:8]) < min(x for x, _ in places[8:])
    assert places[:8] == sorted(places[:8], key=lambda place: place[1])
    page.tap("#first")
    page.tap("#forward")
    targets = page.locator("#arc-lines g").evaluate_all("all => all.map((e) => e.dataset.target)")
    assert set(targets) == {"0"}
    page.close()


def test_sentences_are_columns_only_where_they_do_not_fit_on_a_line(fresh_page):
    page = fresh_page
    columns, lines = "#arcs.upright", "#arcs:not(.upright)"
    page.wait_for_selector(lines)
    page.set_viewport_size({"width": 390, "height": 768})
    page.wait_for_selector(columns)
    type_text(page, "Good morning!")
    page.wait_for_selector(lines)
    type_text(page, FIRST)
    page.wait_for_selector(columns)
    page.set_viewport_size({"width": 1366, "height": 768})
    page.wait_for_selector(lines)
