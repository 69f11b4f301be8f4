import base64

import pytest

from tests.browser import chromium
from transformer_tf.attention_maps.bundle import bundle_script
from transformer_tf.export.web.site import FILES

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
