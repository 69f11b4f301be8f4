"""The texts of the page in the languages that its readers choose from."""

import json
import re
from html.parser import HTMLParser

import pytest

from tests.export.web.conftest import ready
from transformer_tf.attention_maps.page import BROWSER_FILES
from transformer_tf.export.web.site import FILES

DICTIONARIES = sorted((FILES / "texts").glob("*.json"))
ATTRIBUTES = ("aria-label", "title", "placeholder")
OPTIONAL = {"{source}", "{target}"}  # names of languages, which need an adjective in some


class Texts(HTMLParser):
    """Collects what a page shows or tells."""

    def __init__(self):
        super().__init__()
        self.found = set()
        self.open = []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.found.update(values[name] for name in ATTRIBUTES if values.get(name))
        if tag not in ("meta", "link", "input", "br"):
            silent = tag in ("script", "style", "noscript") or values.get("translate") == "no"
            self.open.append((tag, silent))

    def handle_endtag(self, tag):
        while self.open.pop()[0] != tag:
            pass

    def handle_data(self, text):
        words = " ".join(text.split())
        is_said = re.search(r"[^\W\d_]", words) and not words.startswith("$")
        if is_said and not any(silent for _, silent in self.open):
            self.found.add(words)


def used():
    """The English texts of the page's HTML and of all calls of `localize`."""
    parser = Texts()
    for path in (
        FILES / "page" / "site.html",
        FILES / "page" / "side.html",
        BROWSER_FILES / "attention.html",
    ):
        parser.feed(path.read_text(encoding="utf-8"))
    found = parser.found
    for path in [*BROWSER_FILES.glob("*.js"), *(FILES / "page").glob("*.js")]:
        script = path.read_text(encoding="utf-8")
        calls = re.findall(r"(?<!function )\blocalize\(", script)
        literals = re.findall(r'\blocalize\(\s*("(?:[^"\\]|\\.)*")', script)
        assert len(literals) == len(calls), f"{path.name}: each text is written out at its call"
        found.update(map(json.loads, literals))
    return found


def once(pairs):
    assert len(dict(pairs)) == len(pairs), "a text is there twice"
    return dict(pairs)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=once)


def test_every_dictionary_has_all_texts_of_the_page_and_no_others():
    assert [path.stem for path in DICTIONARIES] == ["de", "es"]
    for path in DICTIONARIES:
        assert set(read(path)) == used(), path.name


@pytest.mark.parametrize("path", DICTIONARIES, ids=lambda path: path.stem)
def test_a_text_keeps_its_values_in_every_language(path):
    for english, text in read(path).items():
        asked, given = (set(re.findall(r"\{\w+\}", each)) for each in (english, text))
        assert text.strip() == text != "" and given <= asked, english
        assert asked - given <= OPTIONAL, english


def shown(page):
    """What is seen, and what is told to screen readers."""
    return page.evaluate("""() => {
        const names = ["aria-label", "title", "placeholder"];
        const texts = [document.title, document.body.innerText];
        for (const name of names) {
            for (const each of document.querySelectorAll(`body [${name}]`)) {
                texts.push(each.getAttribute(name));
            }
        }
        return texts.join("\\n");
    }""")


# English words that no German or Spanish text has, nor any of the example sentences.
ENGLISH = re.compile(r"\b(words?|pieces?|looks|silence|layers?|heads?|row|step|sentence)\b", re.I)


# The boxes of the way whose texts do not fit.
CUT = """() => Array.from(document.querySelectorAll("#way span")).filter((each) =>
    each.scrollWidth > each.clientWidth).map((each) => each.textContent)"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("locale", "code", "said"), [("de-AT", "de", "Zeig auf eins."), ("es-MX", "es", "Señala una.")]
)
def test_the_page_speaks_the_language_of_the_browser(browser, shipped_site, locale, code, said):
    context = browser.new_context(locale=locale, viewport={"width": 390, "height": 844})
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(shipped_site)
    ready(page)
    assert page.get_attribute("html", "lang") == code
    assert page.text_content("#arcs-told").endswith(said)
    page.fill("#source", "Tom bought a car. Tom has a dog.")
    ready(page)
    for details in page.locator("main > details").all():
        details.evaluate("e => { e.open = true; }")
    for view in ("pieces", "positions", "encoder", "cross", "decoder", "odds", "beam"):
        page.click(f"#way-{view}")
        page.wait_for_timeout(300)
        assert ENGLISH.findall(shown(page)) == [], view
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
    assert page.evaluate(CUT) == []
    page.click("#way-odds")
    page.wait_for_selector("#next-tokens .bar-number")
    assert re.fullmatch(r"0,\d{3}", page.text_content("#next-tokens .bar-number"))
    assert errors == []
    context.close()


@pytest.mark.slow
def test_a_chosen_language_stays_and_changes_what_is_shown(fresh_page):
    page = fresh_page
    said = page.text_content("#translation")
    page.click("#way-beam")
    page.select_option("#language", label="Deutsch")
    ready(page)
    title = "So entsteht die Übersetzung: sieben Schritte. Öffne einen."
    assert page.text_content("#way-title") == title
    assert page.locator("#model option").first.text_content() == "Englisch → Deutsch"
    assert page.text_content("#play") == "Abspielen"
    page.wait_for_selector("#hypotheses li:has-text('Log-Wahrscheinlichkeit −')")
    assert page.text_content("#translation") == said
    page.reload()
    ready(page)
    assert page.title() == "Blick in einen Übersetzer"
    page.select_option("#language", label="English")
    ready(page)
    assert page.title() == "Inside a translator"
    page.evaluate("localStorage.clear()")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("locale", "finger", "mouse"),
    [
        ("en-US", "Tap", "Point at|[Cc]lick"),
        ("de-DE", "Tipp", "Zeig |[Kk]lick"),
        ("es-ES", "Toca", "Señala|[Cc]lic"),
    ],
)
def test_a_phone_is_tapped(browser, shipped_site, locale, finger, mouse):
    context = browser.new_context(
        locale=locale, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(shipped_site)
    ready(page)
    for details in page.locator("main > details").all():
        details.evaluate("e => { e.open = true; }")
    for view in ("pieces", "positions", "encoder", "cross", "decoder", "odds", "beam"):
        page.click(f"#way-{view}")
        page.wait_for_timeout(300)
        assert re.findall(mouse, shown(page)) == [], view
        assert f"{finger} " in page.text_content("#arcs-told")
    context.close()
