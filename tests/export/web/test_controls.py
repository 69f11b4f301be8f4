"""What the page's controls do, and leave alone."""

import math
import re

import pytest

from tests.export.web.conftest import DECODER_LAYERS, open_part, ready, type_text

pytestmark = pytest.mark.slow

FIRST = "My father bought a new car last week."  # the first example of the page


def translation(page):
    return page.text_content("#translation")


@pytest.mark.parametrize(("width", "most"), [(1440, 110), (1024, 120), (390, 190), (320, 190)])
def test_the_page_says_what_it_is_above_the_sentence(browser, shipped_site, width, most):
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(shipped_site)
    ready(page)
    tagline = page.locator(".tagline")
    assert "watch a small neural network translate it" in tagline.inner_text()
    assert tagline.bounding_box()["y"] < page.locator("#source").bounding_box()["y"] < most
    tops = page.locator(".tools > *:visible").evaluate_all(
        "all => all.map((e) => { const { top, bottom } = e.getBoundingClientRect();"
        " return (top + bottom) / 2; })"
    )
    assert tops == pytest.approx([tops[0]] * len(tops), abs=1.5)  # one row
    page.select_option("#language", label="Deutsch")
    assert tagline.inner_text().startswith("Tippe einen Satz")
    page.close()


def test_silencing_a_head_moves_nothing(fresh_page):
    page = fresh_page
    page.locator("#silence-layer").evaluate("e => e.scrollIntoView({ block: 'end' })")
    before = page.locator("#silence-layer").bounding_box()
    page.click("#silence-head")
    page.wait_for_selector("#notice:not([hidden])")
    ready(page)
    assert page.locator("#silence-layer").bounding_box() == pytest.approx(before, abs=0.1)  # pixels
    x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    page.mouse.click(x, y)  # what was there is what is clicked
    page.wait_for_selector("#heads .silenced >> nth=7")


def test_the_notice_covers_neither_the_used_control_nor_the_top_of_the_page(fresh_page):
    page, notice = fresh_page, fresh_page.locator("#notice")
    page.locator("#silence-head").evaluate("e => e.scrollIntoView({ block: 'end' })")
    page.click("#silence-head")
    page.wait_for_selector("#notice.above")
    assert notice.bounding_box()["y"] == 0
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_selector("#notice:not(.above)")
    assert notice.bounding_box()["y"] > 500
    page.click("#link")


@pytest.mark.parametrize("width", [1440, 390])
def test_what_follows_the_losses_stays_when_a_head_is_silenced(browser, shipped_site, width):
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(shipped_site)
    ready(page)
    page.wait_for_selector("#loss:not(:empty)")
    before = page.locator("#masks").evaluate("e => e.offsetTop")
    page.click("#silence-head")
    page.wait_for_selector("#notice:not([hidden])")
    ready(page)
    assert page.locator("#masks").evaluate("e => e.offsetTop") == pytest.approx(before, abs=1)
    page.close()


def test_a_chosen_word_leaves_the_view_and_is_the_one_of_the_next_view(fresh_page):
    page = fresh_page
    page.click("#way-decoder")
    page.click("#target-tokens .chip >> nth=2")
    assert page.is_visible("#map")
    assert page.locator("#map th.lit .said").text_content() == "hat"
    page.click("#way-odds")
    page.wait_for_selector("#next-title:text-is('Piece 3, after “… Mein Vater”')")


def test_restore_undoes_every_change(fresh_page):
    page, said = fresh_page, translation(fresh_page)
    page.click("#way-odds")
    page.click("#next-tokens button >> nth=3")
    page.wait_for_function(
        "said => document.querySelector('#translation').textContent !== said", arg=said
    )
    open_part(page, "cross", "masks")
    page.check("#future")
    page.locator("#padding").fill("3")
    page.wait_for_selector("#notice-text:has-text('3 empty places added')")
    told = page.text_content("#notice-text")
    assert "chosen by hand" in told and "no causal mask" in told
    page.click("#restore")
    ready(page)
    assert translation(page) == said
    assert not page.is_checked("#future") and page.input_value("#padding") == "0"
    assert page.is_hidden("#notice")
    assert page.locator("#target-tokens .forced").count() == 0


def test_shuffled_words_can_be_put_back(fresh_page):
    page = fresh_page
    page.click("#way-positions")
    assert page.is_disabled("#unshuffle")
    for _ in range(2):
        page.click("#shuffle")
        ready(page)
    page.click("#unshuffle")
    ready(page)
    assert page.input_value("#source") == FIRST
    assert page.is_disabled("#unshuffle")


def test_undo_brings_the_text_back_that_an_example_replaced(fresh_page):
    page = fresh_page
    type_text(page, "Good morning!")
    page.select_option("#examples", label="Tom has never been to Boston.")
    ready(page)
    assert page.input_value("#source") == "Tom has never been to Boston."
    page.focus("#source")
    page.keyboard.press("Control+z")
    ready(page)
    assert page.input_value("#source") == "Good morning!"


def test_without_text_there_is_nothing_to_copy(fresh_page):
    page = fresh_page
    assert page.is_enabled("#copy") and page.is_enabled("#link")
    type_text(page, "  ")
    assert page.is_disabled("#copy") and page.is_disabled("#link")


def test_the_theme_stays(fresh_page):
    page = fresh_page
    page.click("#theme")
    page.reload()
    ready(page)
    assert page.get_attribute("html", "data-theme") == "dark"
    page.click("#theme")
    page.evaluate("localStorage.clear()")


def test_a_finished_translation_is_announced_once(fresh_page):
    page = fresh_page
    page.wait_for_function("() => document.querySelector('#announcement').textContent")
    page.evaluate("""() => {
        window.announced = [];
        const place = document.querySelector('#announcement');
        new MutationObserver(() => announced.push(place.textContent))
            .observe(place, { childList: true });
    }""")
    page.fill("#source", "")
    page.type("#source", "Good morning!")
    page.wait_for_function("() => window.announced.length")
    page.wait_for_timeout(1200)
    assert page.evaluate("announced") == [translation(page)]
    assert page.get_attribute("#translation", "aria-live") == "off"


def test_an_error_of_a_view_leaves_the_translation(fresh_page):
    page, said = fresh_page, translation(fresh_page)
    page.evaluate("() => { Worker.prototype.postMessage = () => { throw new Error('broken'); }; }")
    page.click("#way-beam")
    page.wait_for_selector("#problem:has-text('broken')")
    assert translation(page) == said and page.is_visible("#arc-source")
    page.click("#way-positions")
    assert page.is_hidden("#problem")


def test_nothing_is_live_before_the_model_is_there(browser, shipped_site):
    page = browser.new_page()
    page.add_init_script("window.Worker = class { postMessage() {} };")
    page.goto(shipped_site)
    assert page.is_visible("#loading")
    assert page.input_value("#source") == FIRST
    for name in ("source", "examples", "copy", "link", "model"):
        assert page.is_disabled(f"#{name}"), name
    assert page.locator("main button:visible:enabled").count() == 0
    page.close()


def test_forced_colors_keep_the_map(browser, shipped_site):
    page = browser.new_context(forced_colors="active").new_page()
    page.goto(shipped_site)
    ready(page)
    colors = (
        page.locator("#map tbody tr >> nth=1")
        .locator("td")
        .evaluate_all(
            "all => all.map((e) => [Number(e.ariaLabel), getComputedStyle(e).backgroundColor])"
        )
    )
    assert max(colors)[1] != min(colors)[1]
    page.context.close()


def test_scrolled_boxes_are_reached_by_the_keyboard(fresh_page):
    page = fresh_page
    page.click("#way-beam")
    boxes = [page.locator("#beam .scroll")]
    open_part(page, "decoder", "layers")
    boxes.append(page.locator("#layers .scroll"))
    for view, box in zip(("beam", "decoder"), boxes, strict=True):
        page.click(f"#way-{view}")
        box.focus()
        assert box.evaluate("e => e === document.activeElement")


def test_the_columns_of_the_masks_are_level(fresh_page):
    page = fresh_page
    open_part(page, "cross", "masks")
    page.wait_for_selector("#mask-effect .bar-row")
    tops = page.locator("#mask-effect .bar-row").evaluate_all("all => all.map((e) => e.offsetTop)")
    half = (len(tops) + 1) // 2
    assert tops[half:] == tops[: len(tops) - half]


def test_pruned_candidates_have_lines_that_can_be_seen(fresh_page):
    page = fresh_page
    page.click("#way-beam")
    contrast = page.locator("#tree path.pruned").first.evaluate("""(path) => {
        const channels = (color) => color.match(/[\\d.]+/g).slice(0, 3).map(Number);
        const style = getComputedStyle(path);
        const ground = channels(getComputedStyle(document.body).backgroundColor);
        const share = Number(style.strokeOpacity);
        const seen = channels(style.stroke).map((c, i) => share * c + (1 - share) * ground[i]);
        const light = (color) => color.map((c) => c / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        return (light(ground) + 0.05) / (light(seen) + 0.05);
    }""")
    assert contrast >= 3


def test_the_player_hides_what_is_not_said_and_lets_candidates_rise(fresh_page):
    page = fresh_page
    page.click("#first")
    words = page.locator("#arc-target .chip")
    assert words.locator("visible=true").count() == 0
    for _ in range(9):
        page.click("#forward")
    assert words.last.inner_text() == "gekauft"  # its full stop comes next
    rising = page.locator("#rising .bar-row")
    assert rising.count() == 3 and rising.first.get_attribute("class") == "bar-row chosen"
    assert rising.first.locator(".bar-label").text_content() == "."
    new = page.locator("#arc-lines .new").evaluate_all("all => all.map((e) => e.dataset.target)")
    assert set(new) == {"8"}
    page.click("#last")
    assert words.last.inner_text() == "gekauft." and rising.count() == 0


def test_small_maps_show_what_silencing_them_costs(fresh_page, start_engine, shipped_packs):
    page = fresh_page
    page.wait_for_selector("#losses:has-text('Frames: ')")
    engine = start_engine(shipped_packs["en-de"])
    found = engine("translate", {"text": FIRST, "search": "beam"})
    request = {"text": FIRST, "prefix": found["ids"]}
    last = DECODER_LAYERS - 1
    usual = engine("probabilities", request)
    silent = engine("probabilities", {**request, "silenced": [f"cross.{last}.7"]})
    loss = sum(math.log(a / b) for a, b in zip(usual, silent, strict=True)) / 9
    page.click(f"[data-layer='{last}'][data-head='7']")
    told = page.text_content("#loss")
    assert f"less likely: the loss rises by {loss:.3f} nats a word. Probability of " in told
    changes = [abs(b - a) for a, b in zip(usual, silent, strict=True)]
    shown = re.findall(r"(\d\.\d\d)\s→\s(\d\.\d\d)", told)
    assert len(shown) == 3
    differences = [abs(float(b) - float(a)) for a, b in shown]
    assert differences == pytest.approx(sorted(changes, reverse=True)[:3], abs=0.011)
    page.check("#click-silences")
    page.click(f"[data-layer='{last}'][data-head='6']")
    page.wait_for_selector(f"[data-layer='{last}'][data-head='6'].silenced")


def test_a_head_that_does_harm_is_said_to_do_so(fresh_page, start_engine, shipped_packs):
    page = fresh_page
    page.click("#way-decoder")
    page.wait_for_selector("#losses:has-text('Frames: ')")
    engine = start_engine(shipped_packs["en-de"])
    found = engine("translate", {"text": FIRST, "search": "beam"})
    request = {"text": FIRST, "prefix": found["ids"]}
    usual = engine("probabilities", request)
    for head in range(8):
        silent = engine("losses", {**request, "silenced": [], "kind": "decoder", "layer": 0})[head]
        loss = sum(math.log(a / b) for a, b in zip(usual, silent, strict=True)) / 9
        page.click(f"[data-layer='0'][data-head='{head}']")
        told = "less likely: the loss rises" if loss > 0 else "more likely: the loss falls"
        expected = (
            f"{told} by {abs(loss):.3f} nats" if abs(loss) >= 0.0005 else "as likely as before"
        )
        assert expected in page.text_content("#loss")


def test_heads_are_silenced_until_the_translation_breaks(fresh_page):
    page, said = fresh_page, translation(fresh_page)
    page.click("#until-broken")
    page.wait_for_selector("#notice-text mark", timeout=60_000)
    ready(page)
    assert translation(page) != said
    assert f"Without the changes: “{said}”" in page.text_content("#notice-text")
    assert 1 <= page.locator("#heads .silenced").count() < 8 * DECODER_LAYERS


def test_a_text_is_cleared_an_example_chosen_and_the_text_brought_back(fresh_page):
    page = fresh_page
    type_text(page, "Good morning!")
    page.click("#clear")
    page.wait_for_selector("#empty:visible")
    ready(page)
    assert page.input_value("#source") == "" and page.is_hidden("#arcs")
    page.click("#example-chips button >> nth=5")
    page.wait_for_selector("#arcs:visible")
    ready(page)
    assert page.input_value("#source") == "Tom has never been to Boston."
    for _ in range(2):
        page.click("#undo")
    ready(page)
    assert page.input_value("#source") == "Good morning!"


def test_another_language_is_noticed(fresh_page):
    page, note = fresh_page, fresh_page.locator("#other-language")
    for text, said in {
        "Der Mann ist nicht zu Hause.": "This looks like German",
        "zzyx qwrk blorft mniv trarp": "This does not look like English",
    }.items():
        type_text(page, text)
        assert note.text_content().startswith(said)
    type_text(page, FIRST)
    assert note.is_hidden()


def test_a_text_in_the_target_language_can_be_translated_back(fresh_page):
    page, text = fresh_page, "Der Hund ist nicht hier und das ist gut."
    offer = page.locator("#swap-instead")
    type_text(page, "zzyx qwrk blorft mniv trarp")
    assert page.is_visible("#other-language") and offer.is_hidden()
    type_text(page, text)
    offer.click()
    page.wait_for_function("() => document.querySelector('#source').lang === 'de'")
    ready(page)
    assert page.input_value("#source") == text
    assert "dog" in translation(page) and page.is_hidden("#other-language")


def test_the_first_screen_has_the_sentence_once_to_type_and_once_in_the_arcs(fresh_page):
    page = fresh_page
    assert page.input_value("#source") == FIRST
    words = page.locator("#arc-target .chip").all_inner_texts()
    assert " ".join(words) == translation(page)
    for place in ("#translation", "#source-tokens", "#target-tokens"):
        assert page.is_hidden(place), place
    type_text(page, "Tom has a dog.\nHe has no cat.")
    assert page.is_visible("#translation")  # the arcs show one of its lines


def test_the_tour_has_six_steps_and_ends_at_the_text(fresh_page):
    page = fresh_page
    page.emulate_media(reduced_motion="reduce")
    page.click("#start-tour")
    seen = []
    for number in range(1, 7):
        assert page.text_content("#tour-title").startswith(f"{number} of 6: ")
        ready(page)
        view = page.locator("#way [aria-pressed=true]").get_attribute("id")
        seen.append((view, page.input_value("#source"), page.locator(".toured:visible").count()))
        page.click("#tour-next")
    assert len(set(seen)) == 6 and all(count == 1 for _, _, count in seen)
    assert page.is_hidden("#tour")
    assert page.evaluate("document.activeElement.id") == "source"
    page.click("#start-tour")
    page.click("#tour-next")
    page.click("#tour-back")
    page.keyboard.press("Escape")
    assert page.is_hidden("#tour") and page.locator(".toured").count() == 0
    page.emulate_media(reduced_motion="no-preference")


def test_a_piece_is_chosen_at_the_place_that_its_list_shows(fresh_page):
    page = fresh_page
    page.click("#way-odds")
    page.click("#first")
    page.click("#forward")
    page.click("#forward")
    page.wait_for_selector("#next-tokens button")
    page.locator("#arc-target .chip").first.click()
    page.wait_for_selector("#alternative-words button")
    page.keyboard.press("Escape")
    page.locator("#next-tokens button").nth(1).click()
    page.wait_for_selector("#notice-text:has-text('chosen by hand')")
    ready(page)
    assert page.text_content("#notice-text").startswith("Piece 3 chosen by hand.")


def test_a_choice_stops_the_player(fresh_page):
    page = fresh_page
    page.click("#play")
    page.wait_for_selector("#step:has-text('1 of')")
    page.locator("#arc-target .chip").first.click()
    page.locator("#alternative-words button").nth(1).click()
    page.wait_for_selector("#notice-text:has-text('chosen by hand')")
    ready(page)
    page.wait_for_timeout(1500)
    assert page.text_content("#play") == "Play" and not page.text_content("#step")


def test_a_link_has_the_part_of_the_text(fresh_page):
    page = fresh_page
    type_text(page, "Tom has a dog. He has no cat.")  # the caret is in the second part
    page.click("#link")
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    assert other.locator("#arc-source .chip").first.inner_text() == "He"
    assert other.input_value("#source") == "Tom has a dog. He has no cat."
    other.close()


def test_a_text_that_is_not_yet_translated_is_kept_by_the_swap(fresh_page):
    page, text = fresh_page, " ".join(f"Tom has {number} dogs." for number in range(20, 50))
    page.fill("#source", text)
    page.click("#swap")
    page.wait_for_function("document.getElementById('translation').textContent")
    ready(page)
    assert "…" not in page.input_value("#source")
    assert page.input_value("#source").startswith("Tom has 20 dogs. Tom has 21 dogs.")
