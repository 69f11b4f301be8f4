"""The page: what it holds, and how it behaves in a real browser."""

import base64
import json
import re

import numpy as np
import pytest

from tests.browser import chromium
from transformer_tf.attention_maps.attention_scores import Attention
from transformer_tf.attention_maps.page import render_page, save_page
from transformer_tf.attention_maps.words import group_words, write_word

LAYERS, HEADS = 2, 3
STEP = 0.5 / 255 + 0.005  # weights are stored in 255ths and shown in hundredths
SOURCE = ["<start>", "▁Gar", "dens", "▁grow", ".", "<end>"]
TARGET = ["▁Gär", "ten", "▁wachsen", ".", "<end>"]
READ = ["<start>", *TARGET[:-1]]
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>&amp;"


def softmax(shape, seed=0):
    exponents = np.exp(2 * np.random.default_rng(seed).normal(size=shape))
    return exponents / exponents.sum(axis=-1, keepdims=True)


def make_sentence(source="Gardens grow.", translation="Gärten wachsen.", seed=0, **more):
    cross = softmax((LAYERS, HEADS, len(TARGET), len(SOURCE)), seed)
    encoder = softmax((LAYERS, HEADS, len(SOURCE), len(SOURCE)), seed + 1)
    scores = {"encoder": encoder, "cross": cross}
    return Attention(source, translation, SOURCE, READ, TARGET, scores, "English", "German", **more)


def make_attention(kind, scores, queries=TARGET, keys=SOURCE):
    """One kind of scores."""
    read, source = (keys, SOURCE) if kind == "decoder" else (READ, keys)
    return Attention("a", "b", source, read, queries, {kind: scores}, "English", "German")


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))


def test_scores_come_back_to_a_255th():
    sentence = make_sentence()
    stored = data_of(render_page([sentence]))["sentences"][0]["maps"]["cross"]
    values = np.frombuffer(base64.b64decode(stored["scores"]), np.uint8) / 255
    expected = sentence.scores["cross"]
    np.testing.assert_allclose(values.reshape(expected.shape), expected, atol=0.5 / 255 + 1e-9)


def test_a_hostile_sentence_ends_no_element():
    page = render_page([make_sentence(source=HOSTILE)])
    assert page.count("<script") == page.count("</script>") == 2
    assert data_of(page)["sentences"][0]["source"] == HOSTILE


def test_a_failed_page_leaves_nothing(tmp_path):
    path = tmp_path / "a.html"
    save_page([make_sentence(source="\ud800")], path)  # half a character
    before = path.read_bytes()
    with pytest.raises(ValueError):
        save_page([], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# In a browser


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


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


def told(page):
    """The first weight of the status line."""
    return float(re.search(r"\d\.\d\d", status(page))[0])


def lit(page):
    """The labels of the rows and columns that are chosen."""
    return page.locator("#map th.lit").all_text_contents()


def cell(page, row, column):
    return page.locator(f"#map td[data-row='{row}'][data-column='{column}']")


def opened(page):
    """The layer and head that are shown, from 0."""
    return tuple(int(number) - 1 for number in re.findall(r"\d+", page.text_content("#chosen")))


def test_it_opens_on_the_clearest_head_of_the_cross_attention(open_page):
    sentence = make_sentence()
    page = open_page([sentence])
    assert page.title() == "Attention: Gardens grow."
    assert page.text_content("#source") == "Gardens grow."
    assert page.text_content("#translation") == "Gärten wachsen."
    assert page.get_attribute("[data-kind='cross']", "aria-pressed") == "true"
    scores = sentence.scores["cross"]
    clarity = scores[..., 1:-1].max(axis=-1).sum(axis=-1)
    assert opened(page) == np.unravel_index(clarity.argmax(), clarity.shape)
    assert not page.is_visible("#sentence")
    assert page.locator("#map tbody td").count() == len(TARGET) * len(SOURCE)
    assert page.locator("#heads button").count() == LAYERS * HEADS


def test_pointing_at_a_word_lights_its_row_and_its_tokens(open_page):
    sentence = make_sentence()
    page = open_page([sentence])
    row = sentence.scores["cross"][opened(page)][2]
    best = int(row.argmax())
    label = [token.removeprefix("▁") for token in SOURCE][best]
    for place in ("#map th[data-row='2']", "#target-tokens .chip >> nth=2"):
        page.hover(place)
        assert lit(page) == ["ten ▸ wachsen"]
        assert status(page).startswith(
            "After “ten”, choosing the next word (it will be “wachsen”), "
            f"the model looks at: {label} "
        )
        assert told(page) == pytest.approx(row[best], abs=STEP)
        weights = page.locator("#source-tokens .chip").evaluate_all(
            "all => all.map((e) => Number(e.style.getPropertyValue('--weight')))"
        )
        np.testing.assert_allclose(weights, row, atol=3e-3)
    page.hover("#map th[data-column='3']")
    assert lit(page) == ["grow"]
    assert status(page).startswith("“grow” is looked at by: ")
    page.mouse.move(1, 1)
    assert lit(page) == []


def test_it_opens_on_the_clearest_of_the_heads_that_align(open_page):
    sentence = make_sentence()
    clarity = sentence.scores["cross"][..., 1:-1].max(axis=-1).sum(axis=-1)
    order = [np.unravel_index(place, clarity.shape) for place in clarity.argsort(axis=None)]
    others = [(int(layer), int(head)) for layer, head in order[1:3]]  # not the clearest of all
    page = open_page([make_sentence(alignment_heads=others)])
    assert opened(page) == others[1]


def test_tokens_light_up_by_what_the_decoder_has_read(open_page):
    scores = np.tril(softmax((1, 1, len(TARGET), len(TARGET))))
    page = open_page([make_attention("decoder", scores, TARGET, READ)])
    chips = page.locator("#target-tokens .chip")
    chips.nth(3).hover()
    assert status(page).startswith("After “wachsen”, choosing the next piece (it will be “.”), ")
    weights = chips.evaluate_all(
        "all => all.map((e) => Number(e.style.getPropertyValue('--weight')))"
    )
    # The first key is the start, so the second one is the first token that is said.
    np.testing.assert_allclose(weights[:-1], scores[0, 0, 3, 1:], atol=3e-3)
    assert weights[-1] == 0


def test_layers_heads_and_kinds_are_chosen(open_page):
    sentence = make_sentence()
    page = open_page([sentence])
    page.click("[data-layer='0'][data-head='1']")
    assert page.text_content("#chosen") == "Layer 1, head 2"
    cell(page, 1, 2).hover()
    weight = sentence.scores["cross"][0, 1, 1, 2]
    assert told(page) == pytest.approx(weight, abs=STEP)
    page.click("[data-kind='encoder']")
    assert page.text_content("#what").startswith("The sentence is read: each of its words (row)")
    assert page.locator("#map tbody td").count() == len(SOURCE) ** 2


def test_whole_words_without_start_and_end(open_page):
    sentence = make_sentence()
    page = open_page([sentence])
    page.check("#words")
    page.uncheck("#special")
    texts = page.locator("#map th[data-row], #map th[data-column]").all_text_contents()
    assert texts == [*("Gardens", "grow.", "<start> ▸ Gärten", "Gärten ▸ wachsen.")]
    cell(page, 0, 0).hover()
    weight = sentence.scores["cross"][opened(page)][0:2, 1:3].sum(axis=1).mean()
    assert "(it will be “Gärten”), the model looks at “Gardens”: " in status(page)
    assert told(page) == pytest.approx(weight, abs=2 * STEP)


def test_words_are_those_of_the_pictures(open_page):
    tokens = ["<start>", "ng", "▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "!"]
    words = ["<start>", "ng", "😀!"]
    scores = softmax((1, 1, len(tokens), len(tokens)))
    page = open_page([make_attention("cross", scores, tokens, tokens)])
    page.check("#words")
    labels = page.locator("#map th[data-row] .said").all_text_contents()
    assert labels == words
    assert words == [write_word([tokens[i] for i in group]) for group in group_words(tokens)]


def test_the_keyboard_alone_is_enough(open_page):
    page = open_page([make_sentence()])
    page.focus("[data-layer='1'][data-head='0']")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.text_content("#chosen") == "Layer 1, head 2"
    assert page.evaluate("document.activeElement.ariaLabel") == "Layer 1, head 2"
    page.focus("#map")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    assert lit(page) == ["<start>", "<start> ▸ Gär"]
    page.keyboard.press("ArrowLeft")  # beyond the first column: the whole row
    page.keyboard.press("ArrowUp")  # not beyond both
    assert lit(page) == ["<start> ▸ Gär"]
    assert status(page).startswith("At the start, choosing the next piece ")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert lit(page) == ["<start>"]
    assert status(page).startswith("“<start>” is looked at by: ")
    page.keyboard.press("Escape")
    assert lit(page) == []
    page.focus("#source-tokens .chip")
    page.keyboard.press("ArrowRight")
    assert lit(page) == ["Gar"]
    page.keyboard.press("Tab")  # to the next row of tokens
    page.keyboard.press("ArrowRight")
    assert lit(page) == ["Gär ▸ ten"]


def test_several_sentences(open_page):
    page = open_page([make_sentence(), make_sentence(HOSTILE, "Äpfel & <b>Birnen</b>", seed=5)])
    page.select_option("#sentence", "1")
    assert page.text_content("#source") == HOSTILE
    assert page.text_content("#translation") == "Äpfel & <b>Birnen</b>"
    assert page.locator("b, img").count() == 0
    assert page.title() == "Attention: Gardens grow."


def test_a_tap_and_the_theme_on_a_phone(open_page):
    page = open_page([make_sentence()], viewport={"width": 360, "height": 740}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.tap("#map th[data-row='0']")
    assert lit(page) == ["<start> ▸ Gär"]
    background = "getComputedStyle(document.body).background"
    before = page.evaluate(background)
    page.tap("#theme")
    assert page.evaluate(background) != before


def test_text_from_right_to_left(open_page):
    page = open_page([make_sentence(source="שלום עולם.")])
    for name in ("source", "translation"):
        direction = page.locator(f"#{name}").evaluate("e => getComputedStyle(e).direction")
        assert direction == {"source": "rtl", "translation": "ltr"}[name]
