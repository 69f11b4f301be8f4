"""Texts of several sentences and lines, and sentences that are wider than the screen."""

import re

import pytest

from tests.export.web.conftest import ready, type_text

pytestmark = pytest.mark.slow

LONG = (
    "When the old man who lives next door came home from work yesterday evening, he saw that his "
    "two dogs had eaten the whole cake that his daughter had baked for her mother on Saturday."
)
TEXT = f"Good morning!\n\n{LONG} {LONG}\nWHERE IS THE STATION?"


@pytest.fixture(scope="module")
def engine(start_engine, shipped_packs):
    return start_engine(shipped_packs["en-de"])


@pytest.fixture
def long_page(fresh_page):
    type_text(fresh_page, TEXT)
    return fresh_page


def test_every_part_is_translated_and_lines_stay(long_page, engine):
    page = long_page
    parts = engine("segments", TEXT)
    assert [part["line"] for part in parts] == [0, 2, 2, 3]
    first, *long, last = (
        engine("translate", {"text": part["text"], "allCaps": part["allCaps"], "search": "beam"})
        for part in parts
    )
    expected = f"{first['text']}\n\n{long[0]['text']} {long[1]['text']}\n{last['text']}"
    assert page.text_content("#translation") == expected
    assert last["text"] == "WO IST DER BAHNHOF?"
    assert page.is_hidden("#unread")


def test_a_part_is_chosen_by_the_caret_the_buttons_and_its_translation(long_page):
    page = long_page
    chips = page.locator("#source-tokens .chip")
    assert page.text_content("#sentence-number") == "Part 4 of 4"  # where the caret is
    page.focus("#source")
    page.keyboard.press("Control+Home")
    page.wait_for_selector("#sentence-number:has-text('Part 1 of 4')")
    ready(page)
    assert "".join(chips.all_text_contents()) == "<start>Goodmorning!<end>"
    assert page.text_content("#marks mark") == "Good morning!"
    page.click("#following")
    page.wait_for_selector("#sentence-number:has-text('Part 2 of 4')")
    ready(page)
    assert page.text_content("#marks mark") == LONG
    page.locator("#translation span >> nth=3").click()
    page.wait_for_selector("#sentence-number:has-text('Part 4 of 4')")
    ready(page)
    assert page.text_content("#translation .current") == "WO IST DER BAHNHOF?"
    page.click("#way-pieces")  # the model reads it in lower case
    page.wait_for_selector("#merges summary:has-text('Where')")


def test_only_what_changes_is_translated_again(long_page):
    page = long_page
    page.evaluate("""() => {
        window.asked = [];
        const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (message, ...rest) {
            if (message.method === "translate") asked.push(message.argument.text);
            return post.call(this, message, ...rest);
        };
    }""")
    page.locator("#source").press("End")
    page.keyboard.type("!")
    page.wait_for_function("() => window.asked.length >= 2")
    ready(page)
    assert set(page.evaluate("asked")) == {"Where is the station?!"}


def test_it_is_marked_where_reading_stopped(fresh_page):
    page = fresh_page
    type_text(page, "Tom is here. " * 800)
    assert page.text_content("#marks s") == ("Tom is here. " * 800)[10_000:]
    assert "first 10,000 characters" in page.text_content("#unread")
    type_text(page, "Tom is here.")
    assert page.is_hidden("#unread") and page.text_content("#marks s") == ""


def test_a_wide_map_fits_and_its_headers_stay(fresh_page):
    page = fresh_page
    type_text(page, LONG)
    box = page.locator(".map-scroll")
    assert box.evaluate("e => e.scrollWidth <= e.clientWidth")
    page.set_viewport_size({"width": 390, "height": 844})
    box.evaluate("e => e.scrollTo(300, 300)")
    inside = (
        "e => { const [a, b] = [e, e.closest('.scroll')].map((x) => x.getBoundingClientRect());"
    )
    assert page.locator("#map thead").evaluate(f"{inside} return a.top >= b.top - 1; }}")
    header = page.locator("#map th[data-row='12']")
    assert header.evaluate(f"{inside} return a.left >= b.left - 1; }}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1366, "height": 768})


def test_a_long_beam_is_as_wide_as_the_page(fresh_page, engine):
    page = fresh_page
    type_text(page, LONG)
    page.click("#way-beam")
    page.wait_for_selector("#hypotheses li")
    assert page.locator("#beam .scroll").evaluate("e => e.scrollWidth <= e.clientWidth")
    tree = engine("tree", {"text": LONG})
    assert page.locator("#tree path").count() == len(tree["candidates"])


def test_a_map_of_many_cells_is_a_picture_and_a_small_one_has_numbers(fresh_page, engine):
    page = fresh_page
    shown = page.locator("#map tbody tr >> nth=2").locator("td >> nth=3")
    content = shown.evaluate("e => getComputedStyle(e, '::after').content")
    assert content == f'"{shown.get_attribute("aria-label")}"'
    type_text(page, LONG)
    assert page.locator("#map td").count() < 10  # one of them is the picture
    found = engine("translate", {"text": LONG, "search": "beam"})["maps"]["cross"]
    rows, columns = len(found["queries"]), len(found["keys"])
    layer, head = (int(number) - 1 for number in re.findall(r"\d+", page.text_content("#chosen")))
    begin = (layer * found["heads"] + head) * rows * columns
    page.focus("#map")
    for key in ("Control+Home", "End", "ArrowDown"):
        page.keyboard.press(key)
    weight = found["scores"][begin + columns + columns - 1]
    assert page.text_content("#status").endswith(f"the model looks at “<end>”: {weight:.2f}")
    box = page.locator("#map canvas").bounding_box()
    page.mouse.move(box["x"] + 2.5 * box["width"] / columns, box["y"] + 1.5 * box["height"] / rows)
    column = page.locator("#map th.lit[data-column]")
    assert column.get_attribute("data-column") == "2"
    assert page.locator("#map th.lit[data-row]").get_attribute("data-row") == "1"
