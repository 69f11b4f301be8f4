"""What the page says about its numbers is true."""

import re

import pytest

from tests.export.web.conftest import open_part, ready, type_text

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def engine(start_engine, shipped_packs):
    return start_engine(shipped_packs["en-de"])


def status(page):
    return page.text_content("#status")


def cell(page, row, column):
    return page.locator(f"#map td[data-row='{row}'][data-column='{column}']")


def test_rows_say_what_was_read_and_what_is_chosen(fresh_page):
    page = fresh_page
    rows = page.locator("#map th[data-row]").all_text_contents()
    assert rows[:3] == ["<start> ▸ Mein", "Mein ▸ Vater", "Vater ▸ hat"]
    page.hover("#map th[data-row='2']")
    assert status(page).startswith("After “Vater”, choosing the next word (it will be “hat”), ")
    page.hover("#map th[data-row='0']")
    assert status(page).startswith("At the start, choosing the next word (it will be “Mein”), ")


def test_a_decoder_token_looks_at_itself_and_never_ahead(fresh_page, engine):
    page, said = fresh_page, fresh_page.text_content("#translation")
    page.click("#way-decoder")
    cell(page, 2, 2).hover()
    assert status(page).startswith(
        "“Vater” looks at itself, choosing the next word (it will be “hat”)"
    )
    cell(page, 2, 4).click()
    page.wait_for_selector("#cell-formula")
    assert "“Vater” cannot look at “letzte”" in page.text_content("#cell h3")
    assert page.text_content("#cell-formula").endswith("masked: −∞, so its weight is 0")
    assert page.text_content("#translation") == said


def test_a_padded_key_is_masked_and_all_keys_are_listed(fresh_page):
    page = fresh_page
    open_part(page, "cross", "masks")
    page.locator("#padding").fill("2")
    page.wait_for_selector("#notice:not([hidden])")
    ready(page)
    page.click("#way-cross")
    keys = page.locator("#map th[data-column]").count()
    cell(page, 1, keys - 1).click()
    page.wait_for_selector("#cell-formula")
    assert "masked: −∞" in page.text_content("#cell-formula")
    assert "which was just said" in page.text_content("#cell")
    rows = page.locator("#cell tbody tr")
    assert rows.count() == keys
    weights = [float(text) for text in rows.locator("td:last-child").all_text_contents()]
    assert sum(weights) == pytest.approx(1, abs=0.01)
    scores = rows.locator("td:nth-child(2)").all_text_contents()
    assert scores[-2:] == ["masked: −∞"] * 2 and "masked: −∞" not in scores[:-2]


def test_a_row_without_start_and_end_adds_up_with_the_rest(fresh_page):
    page = fresh_page
    page.click("#way-encoder")
    page.uncheck("#special")
    cells = page.locator("#map tbody tr >> nth=3").locator("td")
    weights = [float(text) for text in cells.evaluate_all("all => all.map((e) => e.ariaLabel)")]
    assert sum(weights) == pytest.approx(1, abs=0.06)
    assert page.locator("#map td.rest").count() == page.locator("#map tbody tr").count()
    page.check("#special")
    assert page.locator("#map td.rest").count() == 0


def test_german_to_english_aligns_the_word_that_was_read(fresh_page, start_engine, shipped_packs):
    page = fresh_page
    page.select_option("#model", label="German → English")
    page.wait_for_function("() => document.querySelector('#source').lang === 'de'")
    ready(page)
    assert "mostly looks at the word that was just translated" in page.text_content("#aligns")
    layer, _ = map(int, re.findall(r"\d+", page.text_content("#chosen")))
    assert layer == 1
    page.hover("#map th[data-row]:has(.read:text-is('father'))")
    assert re.search(r"looks at: Vater 0\.\d", status(page))
    page.click("[data-layer='1'][data-head='0']")
    page.hover("#map th[data-row]:has(.said:text-is('father'))")
    assert "(it will be “father”), the model looks at: " in status(page)
    page.click("#way-decoder")
    words = page.locator("#target-tokens .chip").all_text_contents()
    page.hover(f"#target-tokens .chip >> nth={words.index('father')}")
    assert page.locator("#map th.lit .said").text_content() == "father"


def test_the_words_before_a_token_have_spaces(fresh_page):
    page = fresh_page
    page.click("#way-odds")
    page.click("#target-tokens .chip >> nth=3")
    page.wait_for_selector("#next-title:text-is('Piece 4, after “… Mein Vater hat”')")


def test_the_last_word_cannot_be_hidden(fresh_page):
    page = fresh_page
    type_text(page, "Hello!")
    open_part(page, "cross", "masks")
    chips = page.locator("#hide .chip")
    chips.last.wait_for()
    for index in range(chips.count() - 1):
        chips.nth(index).click()
        ready(page)
    assert chips.last.is_disabled()


def test_the_page_says_what_a_placeholder_stands_for(fresh_page):
    page = fresh_page
    assert page.text_content("#copied") == ""
    type_text(page, "The room costs $45.90 at 8 pm.")
    first, second = "<1> = $45.90 → 45,90 Dollar", "<2> = 8 pm → 20 Uhr"
    assert page.text_content("#copied") == (
        f"The model copies these values and sees only a placeholder for each: {first}, {second}"
    )
    for selector in ("#arc-source .chip", "#arc-target .chip", "#map th[scope=col]"):
        label = page.locator(selector, has_text="<1>").first
        label.hover()
        assert label.get_attribute("title") == f"A placeholder for a copied value: {first}"
    other = page.locator("#arc-source .chip", has_text="room")
    other.hover()
    assert other.get_attribute("title") is None
    type_text(page, "I met Giorgos.")  # a name is shown itself
    assert page.text_content("#copied") == ""
