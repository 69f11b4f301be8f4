"""The page: what it holds, and how it behaves in a real browser."""

import base64
import json
import re
import shutil

import numpy as np
import pytest

from transformer_tf.attention_maps import PageMap, PageSentence, render_page, save_page

LAYERS, HEADS = 2, 3
SOURCE = ["<start>", "▁Gar", "dens", "▁grow", ".", "<end>"]
TARGET = ["▁Gär", "ten", "▁wachsen", ".", "<end>"]
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>&amp;"


def softmax(shape, seed=0):
    exponents = np.exp(2 * np.random.default_rng(seed).normal(size=shape))
    return exponents / exponents.sum(axis=-1, keepdims=True)


def make_sentence(source="Gardens grow.", translation="Gärten wachsen.", seed=0):
    cross = softmax((LAYERS, HEADS, len(TARGET), len(SOURCE)), seed)
    encoder = softmax((LAYERS, HEADS, len(SOURCE), len(SOURCE)), seed + 1)
    return PageSentence(
        source,
        translation,
        {
            "encoder": PageMap("Encoder self-attention", encoder, SOURCE, SOURCE),
            "cross": PageMap("Cross-attention", cross, TARGET, SOURCE),
        },
    )


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))


def test_scores_come_back_to_a_255th():
    sentence = make_sentence()
    stored = data_of(render_page([sentence]))["sentences"][0]["maps"]["cross"]
    values = np.frombuffer(base64.b64decode(stored["scores"]), np.uint8) / 255
    expected = sentence.maps["cross"].scores
    np.testing.assert_allclose(values.reshape(expected.shape), expected, atol=0.5 / 255 + 1e-9)


def test_tokens_and_words():
    keys = data_of(render_page([make_sentence()]))["sentences"][0]["maps"]["cross"]["keys"]
    assert keys["tokens"] == ["<start>", "Gar", "dens", "grow", ".", "<end>"]
    assert keys["special"] == [0, 5]
    assert keys["words"] == [
        {"label": "<start>", "positions": [0]},
        {"label": "Gardens", "positions": [1, 2]},
        {"label": "grow.", "positions": [3, 4]},
        {"label": "<end>", "positions": [5]},
    ]


def test_a_hostile_sentence_ends_no_element():
    page = render_page([make_sentence(source=HOSTILE)])
    assert page.count("<script") == page.count("</script>") == 2
    assert data_of(page)["sentences"][0]["source"] == HOSTILE


def test_forty_tokens_stay_under_a_megabyte():
    tokens = [f"▁w{i}" for i in range(40)]
    scores = softmax((4, 8, 40, 40))
    maps = {kind: PageMap(kind, scores, tokens, tokens) for kind in ("encoder", "decoder", "cross")}
    assert len(render_page([PageSentence("a", "b", maps)]).encode()) < 1_000_000


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros((1, 2, 3)), r"Received: scores.shape=\(1, 2, 3\)"),
        (np.zeros((1, 1, 5, 7)), r"must have shape \(num_layers, num_heads, 5, 6\)"),
        (np.full((1, 1, 5, 6), 1.5), "between 0 and 1. Received: values from 1.5"),
        (np.full((1, 1, 5, 6), np.nan), "between 0 and 1"),
    ],
)
def test_scores_that_do_not_fit(scores, message):
    maps = {"cross": PageMap("Cross", scores, TARGET, SOURCE)}
    with pytest.raises(ValueError, match=message):
        render_page([PageSentence("a", "b", maps)])


def test_nothing_to_show():
    with pytest.raises(ValueError, match="at least one sentence"):
        render_page([])


def test_sentences_of_different_kinds():
    one = make_sentence()
    other = PageSentence("a", "b", {"cross": one.maps["cross"]})
    with pytest.raises(ValueError, match="maps of the same kinds"):
        render_page([one, other])
    with pytest.raises(ValueError, match="maps of the same kinds"):
        render_page([PageSentence("a", "b", {})])


def test_a_failed_page_leaves_nothing(tmp_path):
    path = tmp_path / "a.html"
    save_page([make_sentence(source="\ud800")], path)  # half a character
    before = path.read_bytes()
    with pytest.raises(ValueError):
        save_page([], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_that_cannot_be_written_is_named(tmp_path):
    path = tmp_path / "a.html"
    path.mkdir()
    with pytest.raises(OSError) as caught:
        save_page([make_sentence()], path)
    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == [path]


# In a browser


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        pytest.skip(f"no browser: none of {', '.join(names)} is on the PATH")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens a page of sentences; at the end no error was logged and nothing was asked for."""
    contexts, noise, requests = [], [], []

    def open_(sentences, **options):
        path = tmp_path / "page.html"
        save_page(sentences, path)
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: noise.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert noise == []
    assert all(url.endswith("/page.html") for url in requests), requests


def status(page):
    return page.text_content("#status")


def lit(page, selector):
    return page.locator(f"{selector} text.lit").all_text_contents()


def cells(page):
    return page.locator("#map rect[data-row]")


def test_the_last_layers_cross_attention_comes_first(open_page):
    page = open_page([make_sentence()])
    assert page.title() == "Attention: Gardens grow."
    assert page.text_content("#source") == "Gardens grow."
    assert page.text_content("#translation") == "Gärten wachsen."
    assert page.text_content("#chosen") == "Cross-attention, layer 2, mean of heads 1, 2, 3"
    assert not page.is_visible("#sentence")
    assert cells(page).count() == len(TARGET) * len(SOURCE)
    assert page.locator("#overview button").count() == LAYERS * HEADS


def test_pointing_at_a_word_lights_its_row_and_lines(open_page):
    sentence = make_sentence()
    page = open_page([sentence])
    page.hover("#map text[data-row='2']")
    assert lit(page, "#map") == lit(page, "#lines") == ["wachsen"]
    row = sentence.maps["cross"].scores[1].mean(axis=0)[2]
    best = int(row.argmax())
    label = [token.removeprefix("▁") for token in SOURCE][best]
    assert status(page).startswith(f"“wachsen” looks at: {label} {row[best]:.2f}")
    lines = page.locator("#lines line.lit")
    assert lines.count() == int((row >= 0.02).sum())
    assert page.locator(".veil").get_attribute("d") != ""
    page.hover("#lines text[data-column='3']")
    assert lit(page, "#map") == ["grow"]
    assert status(page).startswith("“grow” is looked at by: ")
    page.mouse.move(1, 1)
    assert lit(page, "#map") == [] and status(page) == ""


def test_pointing_at_a_cell_tells_its_weight(open_page):
    sentence = make_sentence()
    page = open_page([sentence])
    page.hover("#map rect[data-row='0'][data-column='1']")
    weight = sentence.maps["cross"].scores[1].mean(axis=0)[0, 1]
    assert status(page) == f"“Gär” looks at “Gar”: {weight:.2f}"


def test_layers_heads_and_kinds_are_chosen(open_page):
    sentence = make_sentence()
    page = open_page([sentence])
    page.click("[data-layer='0'][data-head='1']")
    assert page.text_content("#chosen") == "Cross-attention, layer 1, head 2"
    page.hover("#map rect[data-row='1'][data-column='2']")
    weight = sentence.maps["cross"].scores[0, 1, 1, 2]
    assert status(page).endswith(f": {weight:.2f}")
    page.check("#heads input[value='2']")
    assert page.text_content("#chosen") == "Cross-attention, layer 1, mean of heads 2, 3"
    page.uncheck("#heads input[value='1']")
    assert page.text_content("#chosen") == "Cross-attention, layer 1, head 3"
    page.click("#all-heads")
    assert page.text_content("#chosen").endswith("mean of heads 1, 2, 3")
    page.click("text=Encoder self-attention")
    assert page.text_content("#chosen").startswith("Encoder self-attention, layer 1")
    assert cells(page).count() == len(SOURCE) ** 2


def test_whole_words_without_start_and_end(open_page):
    sentence = make_sentence()
    page = open_page([sentence])
    page.check("#words")
    page.uncheck("#special")
    texts = page.locator("#map text").all_text_contents()
    assert texts == ["Gärten", "wachsen.", "Gardens", "grow."]
    page.hover("#map rect[data-row='0'][data-column='0']")
    mean = sentence.maps["cross"].scores[1].mean(axis=0)
    weight = mean[0:2, 1:3].sum(axis=1).mean()
    assert status(page) == f"“Gärten” looks at “Gardens”: {weight:.2f}"


def test_the_keyboard_alone_is_enough(open_page):
    page = open_page([make_sentence()])
    page.focus("[data-layer='1'][data-head='0']")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.text_content("#chosen") == "Cross-attention, layer 1, head 2"
    assert page.evaluate("document.activeElement.ariaLabel") == "Layer 1, head 2"
    page.focus("#map")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    assert lit(page, "#map") == ["Gär", "<start>"]
    page.keyboard.press("ArrowLeft")  # beyond the first column: the whole row
    page.keyboard.press("ArrowUp")  # not beyond both
    assert lit(page, "#map") == ["Gär"]
    assert status(page).startswith("“Gär” looks at: ")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert lit(page, "#map") == ["<start>"]
    assert status(page).startswith("“<start>” is looked at by: ")
    page.keyboard.press("Escape")
    assert lit(page, "#map") == []


def test_several_sentences(open_page):
    page = open_page([make_sentence(), make_sentence(HOSTILE, "Äpfel & <b>Birnen</b>", seed=5)])
    page.select_option("#sentence", "1")
    assert page.text_content("#source") == HOSTILE
    assert page.text_content("#translation") == "Äpfel & <b>Birnen</b>"
    assert page.locator("b, img").count() == 0
    assert page.title() == "Attention: Gardens grow."


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_scrolling_sideways(open_page, tmp_path, scheme):
    page = open_page(
        [make_sentence()],
        viewport={"width": 360, "height": 740},
        color_scheme=scheme,
        has_touch=True,
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.tap("#map text[data-row='0']")
    assert lit(page, "#map") == ["Gär"]

    def background():
        channels = re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).background"))
        return "light" if int(channels[0]) > 127 else "dark"

    assert background() == scheme
    page.tap("#theme")
    assert background() != scheme
    picture = page.screenshot(path=tmp_path / "phone.png")
    assert picture.startswith(b"\x89PNG")


def test_sixty_tokens_follow_the_pointer(open_page):
    tokens = [f"▁word{i}" for i in range(60)]
    maps = {"cross": PageMap("Cross-attention", softmax((4, 8, 60, 60)), tokens, tokens)}
    page = open_page([PageSentence("a", "b", maps)])
    seconds = page.evaluate(
        """() => {
          const begin = performance.now();
          for (let i = 0; i < 60; i++)
            pointAt(document.querySelector(`#map text[data-row='${i}']`));
          return (performance.now() - begin) / 60 / 1000;
        }"""
    )
    assert lit(page, "#map") == ["word59"]
    assert seconds < 0.1


def test_the_cursor_stays_in_sight_and_shows_on_every_colour(open_page):
    tokens = [f"▁w{i}" for i in range(60)]
    scores = softmax((1, 1, 60, 60))
    page = open_page([PageSentence("a", "b", {"cross": PageMap("Cross", scores, tokens, tokens)})])
    page.focus("#map")
    for _ in range(60):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
    assert status(page).startswith("“w59” looks at “w59”")
    cursors = page.locator("#map .cursor")
    assert cursors.count() == 2
    strokes = [cursors.nth(i).evaluate("e => getComputedStyle(e).stroke") for i in range(2)]
    assert strokes == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    inside = "e => { const r = e.getBoundingClientRect(); return r.top >= 0 && r.left >= 0"
    inside += " && r.bottom <= innerHeight && r.right <= innerWidth; }"
    assert cursors.first.evaluate(inside)
    assert page.locator("#status").evaluate(inside)


def test_text_from_right_to_left(open_page):
    page = open_page([make_sentence(source="שלום עולם.")])
    for name in ("source", "translation"):
        direction = page.locator(f"#{name}").evaluate("e => getComputedStyle(e).direction")
        assert direction == {"source": "rtl", "translation": "ltr"}[name]
