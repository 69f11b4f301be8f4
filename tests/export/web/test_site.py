"""The page with its model, in a real browser; every assertion is on what the engine computed."""

import re

import pytest

from tests.export.web.conftest import DECODER_LAYERS, SHIPPED, number, open_part, ready, type_text

pytestmark = pytest.mark.slow

SENTENCE = "He admired her as a great director."
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>&amp;"


@pytest.fixture(scope="module")
def engine(start_engine, shipped_packs):
    return start_engine(shipped_packs["en-de"])


@pytest.fixture
def page(fresh_page):
    """The page with a sentence."""
    type_text(fresh_page, SENTENCE)
    return fresh_page


def translation(page):
    return page.text_content("#translation")


def wait_for_text(page, selector, text):
    place = page.locator(selector).filter(has_text=text).first
    place.wait_for(state="attached", timeout=20_000)


def numbers(page, selector):
    return [float(text) for text in page.locator(selector).all_text_contents()]


def labels(tokens):
    return [token.replace("▁", "") for token in tokens]


def test_typing(page, engine):
    for text in ("Good morning!", "Where is the station?"):
        type_text(page, text)
        found = engine("translate", {"text": text, "search": "beam"})
        assert translation(page) == found["text"]
        chips = page.locator("#source-tokens .chip").all_text_contents()
        assert chips == labels(found["maps"]["cross"]["keys"])
    type_text(page, "   ")
    assert translation(page) == ""
    assert not page.is_visible("#map")


def test_it_opens_on_a_head_that_aligns(page, engine):
    found = engine("translate", {"text": SENTENCE, "search": "beam"})["maps"]["cross"]
    layer, head = map(int, re.findall(r"\d+", page.text_content("#chosen")))
    alignment = SHIPPED.decoding.alignment
    assert (layer, head in alignment.heads) == (alignment.layer, True)
    rows, columns = len(found["queries"]), len(found["keys"])
    begin = ((layer - 1) * found["heads"] + head - 1) * rows * columns
    cells = page.locator("#map tbody td").evaluate_all("all => all.map((e) => e.ariaLabel)")
    expected = [f"{score:.2f}" for score in found["scores"][begin : begin + rows * columns]]
    assert [float(cell) for cell in cells] == pytest.approx(list(map(float, expected)), abs=0.011)


def test_another_token(page, engine):
    found = engine("translate", {"text": SENTENCE, "search": "beam"})
    page.click("#way-odds")
    page.click("#target-tokens .chip >> nth=4")
    wait_for_text(page, "#next-title", "Piece 5")
    expected = [token["probability"] for token in found["next"][4]]
    wait_for_text(page, "#next-tokens .bar-number", f"{expected[0]:.3f}")  # the bars have grown
    assert numbers(page, "#next-tokens .bar-number") == pytest.approx(expected, abs=6e-4)
    page.click("#next-tokens button >> nth=1")
    prefix = [*found["ids"][:4], found["next"][4][1]["id"]]
    expected = engine("translate", {"text": SENTENCE, "search": "beam", "prefix": prefix})["text"]
    ready(page)
    wait_for_text(page, "#translation", expected)
    assert expected != found["text"]
    page.click("#unforce")
    wait_for_text(page, "#translation", found["text"])
    assert page.evaluate("document.activeElement.closest('#next-tokens') !== null")


def test_step_by_step(page):
    size = page.locator("#target-tokens .chip").count()
    page.click("#first")
    assert page.locator("#map tbody tr").count() == 0
    for rows in (1, 2):
        page.click("#forward")
        assert page.locator("#map tbody tr").count() == rows
        assert page.text_content("#step").startswith(f"{rows} of {size}: ")
    assert page.locator("#target-tokens .later").count() == size - 2
    page.click("#way-odds")
    wait_for_text(page, "#next-title", "Piece 3")  # the next one
    page.click("#way-cross")
    page.click("#back")
    assert page.locator("#map tbody tr").count() == 1
    page.click("#play")
    page.wait_for_selector("#last:disabled", timeout=30_000)
    assert page.locator("#map tbody tr").count() == size


def test_silenced_heads(page, engine):
    before = translation(page)
    layer = int(re.findall(r"\d+", page.text_content("#chosen"))[0]) - 1
    page.click("#silence-layer")
    silenced = [f"cross.{layer}.{i}" for i in range(8)]
    request = {"text": SENTENCE, "search": "beam", "silenced": silenced}
    wait_for_text(page, "#notice-text", "8 heads silenced")
    ready(page)
    assert translation(page) == engine("translate", request)["text"]
    assert page.locator("#heads .silenced").count() == 8
    page.click("#silence-head")
    wait_for_text(page, "#notice-text", "7 heads silenced")
    page.click("#restore")
    ready(page)
    assert translation(page) == before


def test_the_numbers_of_a_cell(page, engine):
    found = engine("translate", {"text": SENTENCE, "search": "beam"})
    layer, head = (int(number) - 1 for number in re.findall(r"\d+", page.text_content("#chosen")))
    page.click("#map tbody tr:nth-child(3) td[data-column='3']")
    page.wait_for_selector("#cell-formula")
    cell = engine(
        "cell",
        {
            **{"text": SENTENCE, "prefix": found["ids"], "kind": "cross"},
            **{"layer": layer, "head": head, "row": 2, "column": 3},
        },
    )
    product = sum(q * k for q, k in zip(cell["query"], cell["key"], strict=True))
    assert cell["product"] == pytest.approx(product, rel=1e-5)
    assert cell["scaled"][3] == pytest.approx(product / 32**0.5, rel=1e-5)
    maps = found["maps"]["cross"]
    rows, columns = len(maps["queries"]), len(maps["keys"])
    place = ((layer * 8 + head) * rows + 2) * columns + 3
    assert cell["weights"][3] == pytest.approx(maps["scores"][place], abs=1e-5)
    assert page.text_content("#cell-formula").replace("−", "-") == (
        f"Sum {product:.2f} ÷ √32 = {cell['scaled'][3]:.2f}, softmax over {columns} keys: "
        f"{cell['weights'][3]:.4f}"
    )
    page.keyboard.press("Escape")
    assert page.is_visible("#heads")


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_cells_of_self_attention_are_the_maps(engine, kind):
    found = engine("translate", {"text": SENTENCE})
    maps = found["maps"][kind]
    rows, columns = len(maps["queries"]), len(maps["keys"])
    cell = engine(
        "cell",
        {
            **{"text": SENTENCE, "prefix": found["ids"], "kind": kind},
            **{"layer": 1, "head": 6, "row": 5, "column": 4},
        },
    )
    place = ((8 + 6) * rows + 5) * columns + 4
    assert cell["weights"][4] == pytest.approx(maps["scores"][place], abs=1e-5)


def test_masks(page, engine):
    before = translation(page)
    open_part(page, "cross", "masks")
    page.locator("#padding").fill("16")
    wait_for_text(page, "#mask-summary", "Nothing changes")
    ready(page)
    assert translation(page) == before
    plain = engine("translate", {"text": SENTENCE, "search": "beam"})
    padded = engine("translate", {"text": SENTENCE, "search": "beam", "padding": 16})
    assert padded["logProb"] == pytest.approx(plain["logProb"], abs=1e-6)
    page.locator("#padding").fill("0")
    page.check("#future")
    wait_for_text(page, "#mask-summary", "A thin line")
    request = {"text": SENTENCE, "prefix": plain["ids"]}
    usual, seeing = (engine("probabilities", {**request, "future": f}) for f in (False, True))
    assert usual[0] == pytest.approx(plain["next"][0][0]["probability"], abs=1e-5)
    assert max(abs(a - b) for a, b in zip(usual, seeing, strict=True)) > 0.1
    shown = numbers(page, "#mask-effect .bar-number")
    assert shown == pytest.approx(seeing, abs=6e-4)
    page.uncheck("#future")
    page.click("#hide .chip >> nth=1")
    wait_for_text(page, "#notice-text", "one piece hidden")
    ready(page)
    hidden = engine("translate", {"text": SENTENCE, "search": "beam", "hidden": [1]})
    assert translation(page) == hidden["text"]
    cross = hidden["maps"]["cross"]
    assert not any(cross["scores"][1 :: len(cross["keys"])])


def test_positions(page):
    page.click("#way-positions")
    page.check("#without-positions")
    wait_for_text(page, "#positions-summary", "Without positions")
    ready(page)

    def log_prob():
        return number(re.search(r"probability (\S+)$", page.text_content("#positions-summary"))[1])

    before, said = log_prob(), translation(page)
    page.click("#shuffle")
    ready(page)
    shuffled = page.input_value("#source")
    assert shuffled.endswith(".")  # a full stop in the middle would make two sentences of it
    assert sorted(shuffled[:-1].split()) == sorted(SENTENCE[:-1].split())
    assert translation(page) == said
    assert log_prob() == pytest.approx(before, abs=2e-3)


def test_the_beam(page, engine):
    page.click("#way-beam")
    page.wait_for_selector("#hypotheses li")
    tree = engine("tree", {"text": SENTENCE})
    scores = [hypothesis["score"] for hypothesis in tree["hypotheses"]]
    assert scores == sorted(scores, reverse=True)
    best = page.locator("#hypotheses li").first.text_content()
    assert best.startswith(translation(page)) and f"score −{-scores[0]:.3f}" in best
    candidates = tree["candidates"]
    assert page.locator("#tree path").count() == len(candidates)
    first = [candidate["fate"] for candidate in candidates if candidate["position"] == 0]
    assert first == ["live"] * 4 + ["pruned"] * 4
    for candidate in candidates:
        parent = candidate["parent"]
        before = candidates[parent]["total"] if parent >= 0 else 0
        assert candidate["total"] == pytest.approx(before + candidate["logProb"], abs=1e-4)


def said_by(tree, chosen):
    """The pieces of each path that ends at a candidate with a property."""
    candidates = tree["candidates"]
    paths = []
    for candidate in filter(chosen, candidates):
        path = [candidate]
        while path[0]["parent"] >= 0:
            path.insert(0, candidates[path[0]["parent"]])
        paths.append([each["token"] for each in path])
    return paths


@pytest.mark.parametrize(
    ("text", "parts"), [("I don't agree with you.", True), ("Good morning!", False)]
)
def test_the_beam_says_where_it_leaves_the_greedy_search(page, engine, text, parts):
    tree = engine("tree", {"text": text})
    (best,) = said_by(tree, lambda each: each["best"] and each["listed"])
    (greedy,) = said_by(tree, lambda each: each["greedy"] and each["listed"])
    assert len(said_by(tree, lambda each: each["listed"])) == len(tree["hypotheses"])
    place = next(
        (i for i, pair in enumerate(zip(best, greedy, strict=False)) if len({*pair}) > 1), None
    )
    assert (place is not None) == parts
    type_text(page, text)
    page.click("#way-beam")
    told = (
        f"Here the lines part at piece {place + 1}: “{greedy[place].strip('▁')}” is likelier"
        if parts
        else "Here both searches choose the same pieces."
    )
    wait_for_text(page, "#parting", told)
    texts = [hypothesis["text"] for hypothesis in tree["hypotheses"]]
    last = page.locator("#hypotheses li").last.text_content()
    assert last == f"Greedy search finds translation {texts.index(tree['greedy']['text']) + 1}."


@pytest.mark.parametrize("width", [1366, 390, 320])
def test_the_lines_of_the_tree_are_as_wide_as_the_screen(browser, shipped_site, engine, width):
    text = "My father bought a new car last week."
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(f"{shipped_site}#s={text.replace(' ', '%20')}&view=beam")
    ready(page)
    page.wait_for_selector("#tree text")
    assert page.locator("#beam .scroll").evaluate("e => e.scrollWidth <= e.clientWidth")
    shown = page.locator("#tree text").evaluate_all(
        "all => all.map((e) => [e.childNodes[0].data, e.classList.contains('best')])"
    )
    candidates = engine("tree", {"text": text})["candidates"]
    assert len(shown) - 1 == len(candidates) or width < 1366
    names = {name for name, _ in shown}
    live = [each for each in candidates if each["fate"] == "live" and each["position"] < 4]
    assert {each["token"].strip("▁") for each in live} <= names
    repeated = page.locator("#tree text:not(:has(title))")  # beside the start
    lines = {1366: 1, 390: 4, 320: 6}[width]
    assert repeated.locator("xpath=self::*[contains(@class, 'best')]").count() == lines - 1
    page.close()


def test_sampling(page, engine):
    open_part(page, "odds", "draws")
    page.wait_for_selector("#drawn li >> nth=5")
    drawn = [text.rsplit(" log-", 1)[0] for text in page.locator("#drawn li").all_text_contents()]
    settings = {"temperature": 1, "top_k": 0, "top_p": 1}
    request = {"text": SENTENCE, "seeds": list(range(6)), "settings": settings}
    assert drawn == [draw["text"] for draw in engine("draws", request)]
    assert len(set(drawn)) > 1
    page.locator("#top-k").fill("1")
    greedy = engine("translate", {"text": SENTENCE})
    for draw in range(6):
        wait_for_text(page, f"#drawn li >> nth={draw}", greedy["text"])


def test_layers(page, engine):
    open_part(page, "decoder", "layers")
    page.wait_for_selector("#layer-table td")
    found = engine("translate", {"text": SENTENCE, "search": "beam"})
    layers = engine("layers", {"text": SENTENCE, "prefix": found["ids"]})
    assert len(layers) == DECODER_LAYERS
    last = [(said["token"], said["probability"]) for said in layers[-1]]
    for (token, probability), choices in zip(last, found["next"], strict=True):
        assert token == choices[0]["token"]
        assert probability == pytest.approx(choices[0]["probability"], abs=1e-5)
    cells = page.locator("#layer-table tbody tr").last.locator("td").all_text_contents()
    assert cells == labels(token for token, _ in last)


def test_sub_words(page, engine):
    page.click("#way-pieces")
    page.wait_for_selector("#merges details")
    words = engine("merges", {"text": SENTENCE})
    assert [word["steps"][0] for word in words][0] == ["▁", "H", "e"]
    ids = [i for word in words for i in word["ids"]]
    assert ids == engine("encode", [SENTENCE])[0]
    assert page.locator("#merges details").count() == len(words)
    steps = page.locator("#merges details").first.locator("li").count()
    assert steps == len(words[0]["steps"])


def test_hostile_text_is_text(page):
    type_text(page, HOSTILE)
    assert page.title() == "Inside a translator"
    assert page.locator("img").count() == 0
    for view in ("odds", "cross", "beam", "decoder", "pieces"):
        page.click(f"#way-{view}")
        page.wait_for_timeout(300)
    assert page.locator("img").count() == 0


def test_keys_alone(page):
    page.focus("#way-odds")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#beam")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.focus("#map")
    page.keyboard.press("ArrowDown")
    assert page.locator("#map td.cursor").get_attribute("data-row") == "0"
    page.keyboard.press("Enter")
    page.wait_for_selector("#cell-formula")
    page.keyboard.press("Escape")
    page.click("#help")
    assert page.is_visible("#keys")
    page.keyboard.press("Escape")
    assert not page.is_visible("#keys")


def test_a_phone_needs_no_scrolling_sideways(browser, shipped_site):
    page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(shipped_site)
    ready(page)
    for view in ("pieces", "positions", "encoder", "cross", "decoder", "odds", "beam"):
        page.tap(f"#way-{view}")
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
    page.close()
