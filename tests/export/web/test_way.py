"""The way through the model, the vectors on it, and the words that might have been."""

import math

import numpy as np
import pytest

from tests.export.web.conftest import DECODER_LAYERS, ENCODER_LAYERS, number, open_part, ready

pytestmark = pytest.mark.slow

FIRST = "My father bought a new car last week."  # the first example of the page


@pytest.fixture(scope="module")
def engine(start_engine, shipped_packs):
    return start_engine(shipped_packs["en-de"])


@pytest.fixture(scope="module")
def found(engine):
    return engine("translate", {"text": FIRST, "search": "beam"})


def test_every_box_opens_its_view_and_is_a_picture_of_the_sentence(fresh_page):
    page = fresh_page
    shown = {
        **{"pieces": "#merges", "positions": "#waves", "encoder": "#map", "cross": "#map"},
        **{"decoder": "#map", "odds": "#next-tokens", "beam": "#tree"},
    }
    for view, picture in shown.items():
        page.click(f"#way-{view}")
        page.locator(picture).wait_for()
        assert page.locator("#way [aria-pressed=true]").get_attribute("id") == f"way-{view}"
    sizes = page.locator("#way-cross canvas").evaluate_all(
        "all => all.map((e) => [e.width, e.height])"
    )
    assert sizes == [[11, 11]] * DECODER_LAYERS
    assert page.locator("#way-pieces i").count() == 9
    page.click("#first")
    page.click("#forward")
    assert page.text_content("#way-beam em") == "Vater"  # what is chosen next
    page.click("#way-encoder")
    page.evaluate("scrollTo(0, 600)")
    assert page.locator("#way").bounding_box()["y"] == 0  # still in sight


def test_the_open_box_is_in_sight_on_a_phone(browser, shipped_site):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    for fragment, view in {"": "cross", "#s=Hello!&view=odds": "odds"}.items():
        page.goto("about:blank")
        page.goto(shipped_site + fragment)
        ready(page)
        page.wait_for_selector(f"#way-{view}[aria-pressed=true]")
        page.wait_for_timeout(100)
        box = page.locator(f"#way-{view}").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    page.close()


def test_the_chosen_piece_is_marked_wherever_it_is(fresh_page):
    page = fresh_page

    def marked(place):
        return page.locator(f"{place} [aria-current=true]").all_text_contents()

    page.click("#way-encoder")
    page.click("#source-tokens .chip >> nth=3")
    assert marked("#arcs") == marked("#map") == ["bought"]
    page.click("[data-layer='0'][data-head='1']")
    assert marked("#map") == ["bought"]
    page.click("#way-positions")
    assert marked("#wave-labels") == ["3 bought"]
    page.click("#way-decoder")
    page.click("#target-tokens .chip >> nth=2")
    assert marked("#arcs") == ["hat"] and marked("#map") == ["Vater ▸ hat"]
    page.click("#way-cross")
    assert marked("#arcs") == marked("#map") == []


def test_the_picture_of_the_positions_has_their_sines_and_cosines(fresh_page):
    page = fresh_page
    page.click("#way-positions")
    page.wait_for_selector("#wave-labels li >> nth=10")
    size, shares = page.locator("#waves").evaluate("""(canvas) => {
        const { width, height } = canvas;
        const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
        return [[width, height], Array.from({ length: width * height }, (_, i) => data[4 * i + 3])];
    }""")
    assert size == [256, 11]
    angles = np.arange(11)[:, None] / 10000 ** (2 * np.arange(128) / 256)
    expected = np.abs(np.concatenate([np.sin(angles), np.cos(angles)], axis=1))
    assert np.reshape(shares, (11, 256)) / 255 == pytest.approx(expected, abs=0.003)


def test_the_vectors_are_the_engines_and_every_number_is_shown(fresh_page, engine, found):
    request = {"text": FIRST, "prefix": found["ids"]}
    source = engine("vectors", {**request, "side": "source", "position": 3})
    embedding, position, together = (np.array(each["numbers"]) for each in source[:3])
    angles = [3 / 10000 ** (2 * (i // 2) / 256) for i in range(256)]
    expected = [(math.cos if i % 2 else math.sin)(angle) for i, angle in enumerate(angles)]
    assert position == pytest.approx(expected, abs=1e-6)
    assert together == pytest.approx(embedding + position, abs=1e-5)
    names = [(each["layer"], each["name"]) for each in source[3:-1]]
    assert names == [
        (i, name) for i in range(ENCODER_LAYERS) for name in ("self-attention", "feed-forward")
    ]
    target = engine("vectors", {**request, "side": "target", "position": 2})
    assert len(target) == 3 + DECODER_LAYERS * 3 + 1

    page = fresh_page
    open_part(page, "decoder", "vectors")
    page.click("#target-tokens .chip >> nth=2")
    page.wait_for_selector("#vectors-of:has-text('“hat”')")
    strips = page.locator("#vector-strips details")
    assert strips.count() == len(target)
    strips.last.locator("summary").click()
    numbers = strips.last.locator(".numbers span")
    numbers.last.wait_for()
    shown = [number(text) for text in numbers.all_text_contents()]
    assert shown == pytest.approx(target[-1]["numbers"], abs=6e-4)


def test_a_temperature_bends_the_probabilities(fresh_page, engine, found):
    request = {"text": FIRST, "prefix": found["ids"], "position": 3}
    usual, cold = (engine("odds", {**request, "temperature": t})["tokens"] for t in (1, 0.5))
    likeliest = [token["probability"] for token in found["next"][3]]
    assert [token["probability"] for token in usual] == pytest.approx(likeliest, abs=1e-5)
    ratios = [
        [each["probability"] / all_[0]["probability"] for each in all_] for all_ in (usual, cold)
    ]
    assert ratios[1] == pytest.approx([ratio**2 for ratio in ratios[0]], rel=1e-4)
    page = fresh_page
    page.click("#way-odds")
    page.click("#target-tokens .chip >> nth=3")
    page.locator("#temperature").fill("0.5")
    page.wait_for_selector("#temperature-value:has-text('0.5')")
    last = page.locator("#arithmetic tbody td:last-child").all_text_contents()
    assert list(map(float, last)) == pytest.approx([t["probability"] for t in cold], abs=6e-5)


@pytest.mark.parametrize("width", [390, 320])
def test_the_softmax_can_be_checked_by_hand_on_a_phone(browser, shipped_site, width):
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(f"{shipped_site}#view=odds")
    ready(page)
    page.click("#way-odds")
    page.wait_for_selector("#arithmetic tbody td")
    assert page.locator("#odds .scroll").evaluate("e => e.scrollWidth <= e.clientWidth")
    rows = page.locator("#arithmetic tbody tr").evaluate_all(
        "all => all.map((row) => Array.from(row.querySelectorAll('td'), (e) => e.textContent))"
    )
    table = np.array([[number(text) for text in row] for row in rows])
    scores, differences, powers, shares = table.T
    total = number(page.locator("#arithmetic tfoot td").nth(2).text_content())
    assert scores - scores[0] == pytest.approx(differences, abs=1.1e-4)
    assert np.exp(differences) == pytest.approx(powers, abs=1.1e-4)
    assert powers / total == pytest.approx(shares, abs=1.1e-4)
    page.close()


def test_the_page_says_why_the_likeliest_piece_is_not_said(fresh_page, found):
    page = fresh_page
    page.click("#way-odds")
    for position, id in enumerate(found["ids"]):
        page.click(f"#target-tokens .chip >> nth={position}")
        page.wait_for_selector(f"#next-title:has-text('Piece {position + 1}')")
        is_likeliest = found["next"][position][0]["id"] == id
        assert (page.text_content("#next-reason") == "") == is_likeliest
        if not is_likeliest:
            assert "Beam search compared whole beginnings" in page.text_content("#next-reason")
    page.click("#target-tokens .chip >> nth=2")
    page.click("#next-tokens button >> nth=1")
    page.wait_for_selector("#next-reason:has-text('You chose “')")


def test_an_answer_that_comes_late_is_not_shown_at_another_position(fresh_page):
    page = fresh_page
    page.click("#way-odds")
    page.wait_for_selector("#next-tokens button")
    shown = page.evaluate(
        """async () => {
          const shown = [];
          const title = document.querySelector("#next-title");
          const likeliest = () => document.querySelector("#next-tokens .bar-label").textContent;
          const observer = new MutationObserver(
            () => shown.push([title.textContent, likeliest()]));
          observer.observe(title, { childList: true });
          const chips = document.querySelectorAll("#target-tokens .chip");
          chips[5].click();
          for (let i = 0; i < 9; i++) await null;  // the page asks, and no answer can come yet
          chips[0].click();
          await new Promise((resolve) => setTimeout(resolve, 1000));
          observer.disconnect();
          return shown;
        }"""
    )
    assert {tuple(each) for each in shown} == {("Piece 1, at the beginning", "Mein")}


def test_another_word_is_chosen_where_it_stands(fresh_page, engine, found):
    page = fresh_page
    page.click("#arc-target .chip >> nth=3")
    page.wait_for_selector("#alternatives:popover-open")
    assert page.text_content("#alternatives-title") == "Instead of “letzte”"
    request = {"text": FIRST, "prefix": found["ids"], "position": 3, "temperature": 1}
    odds = engine("odds", request)
    words = page.locator("#alternatives .bar-label").all_text_contents()
    expected = ["".join([token["token"], *token["rest"]]).strip("▁") for token in odds["tokens"]]
    assert words == expected
    others = f"the other {odds['count'] - 8:,} share "
    assert page.text_content("#alternatives .bars > p").startswith(others)
    page.click("#alternatives button >> nth=2")
    page.wait_for_selector("#notice:not([hidden])")
    ready(page)
    prefix = [*found["ids"][:3], odds["tokens"][2]["id"]]
    other = engine("translate", {"text": FIRST, "search": "beam", "prefix": prefix})
    assert page.text_content("#translation") == other["text"] != found["text"]
    assert page.is_hidden("#alternatives") and page.is_visible("#map")
