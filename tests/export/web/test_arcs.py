"""The arcs between the words, the first thing on the page."""

import io
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from tests.export.web.conftest import SHIPPED, ready
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
    assert f" of layer {ALIGNMENT.layer}" in page.text_content("#arcs-source")
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
    assert told.startswith("To choose “hat”, the model looks at: bought 0.9")
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
