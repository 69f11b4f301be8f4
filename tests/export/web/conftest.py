import base64
from pathlib import Path

import pytest

from tests.browser import chromium
from transformer_tf.config import load_saved_config
from transformer_tf.export.web.pack import pack_checkpoint
from transformer_tf.export.web.site import FILES, listed_model, render_site
from transformer_tf.utils.bundle import bundle_script

CHECKPOINTS = Path(__file__).parents[3] / "checkpoints"
SHIPPED = load_saved_config(CHECKPOINTS / "en-de" / "config.yaml")
ENCODER_LAYERS = SHIPPED.model.num_layers
DECODER_LAYERS = SHIPPED.model.num_decoder_layers or ENCODER_LAYERS

START = """([script, pack, kernel, plain]) => {
  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const worker = new Worker(URL.createObjectURL(new Blob([script])));
  const plainOf = (value) => ArrayBuffer.isView(value) ? Array.from(value)
    : Array.isArray(value) ? value.map(plainOf)
    : value && typeof value === "object"
      ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainOf(each)]))
      : value;
  let number = 0;
  window.ask = (method, argument) => new Promise((resolve, reject) => {
    worker.onmessage = ({ data: { result, error } }) =>
      error ? reject(new Error(error)) : resolve(plainOf(result));
    worker.postMessage({ number: number++, method, argument });
  });
  return ask("load", { pack: bytes(pack).buffer, code: bytes(kernel), plain });
}"""


@pytest.fixture(scope="package")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def start_engine(browser):
    """Starts the worker of the page with a pack; returns what asks it."""
    kernel = (FILES / "engine" / "kernel.wasm").read_bytes()
    script = bundle_script(FILES / "engine" / "worker.js")

    def start(pack, plain=False):
        page = browser.new_page()
        arguments = [script, *(base64.b64encode(data).decode() for data in (pack, kernel)), plain]
        loaded = page.evaluate(START, arguments)
        assert loaded["engine"] == ("plain" if plain else "wasm")

        def ask(method, argument):
            return page.evaluate(
                "([method, argument]) => ask(method, argument)", [method, argument]
            )

        return ask

    return start


@pytest.fixture(scope="package")
def shipped_packs():
    """The packs of the shipped models that translate in opposite directions."""
    return {name: pack_checkpoint(CHECKPOINTS / name) for name in ("en-de", "de-en")}


@pytest.fixture(scope="package")
def shipped_site(shipped_packs, tmp_path_factory):
    """The address of one file with both models."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    models = [listed_model(CHECKPOINTS / name) for name in shipped_packs]
    path.write_text(render_site(models, list(shipped_packs.values())), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def shipped_page(browser, shipped_site):
    """The page, for `fresh_page`; at the end nothing was logged."""
    noise = []
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    context.set_default_timeout(15_000)
    page = context.new_page()
    page.on("console", lambda message: noise.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.goto(shipped_site)
    yield page
    context.close()
    assert noise == []


@pytest.fixture
def fresh_page(shipped_page):
    """The page as it opens, with the first example."""
    shipped_page.evaluate("location.hash = ''")  # what a test before wrote into the address
    shipped_page.reload()
    ready(shipped_page)
    return shipped_page


def ready(page):
    """Waits until the page has translated."""
    page.wait_for_selector("body[data-state=ready]", timeout=60_000)


def number(text):
    """A number as the page writes it, with a minus sign instead of a hyphen."""
    assert "-" not in text
    return float(text.replace("−", "-"))


def type_text(page, text):
    """Translates a text."""
    page.fill("#source", text)
    ready(page)


def open_part(page, view, part):
    """Opens a view, and a part of it."""
    page.click(f"#way-{view}")
    if page.get_attribute(f"#{part}", "open") is None:
        page.click(f"#{part} > summary")
