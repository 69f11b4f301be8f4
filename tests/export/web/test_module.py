"""The exported module, with the examples of its page in the docs."""

import functools
import http.server
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from tests.export.web.conftest import CHECKPOINTS
from transformer_tf.export.web.site import export_web

DOCS = (Path(__file__).parents[3] / "docs" / "module.md").read_text(encoding="utf-8")
PAGE, PROGRAM = (re.search(rf"```{kind}\n(.*?)```", DOCS, re.DOTALL)[1] for kind in ("html", "js"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("module") / "site"
    export_web([CHECKPOINTS / "en-de"], folder)
    return folder


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
def test_in_node(folder):
    program = PROGRAM + 'console.log(translator.translate("Hello.\\n\\nHELP ME!").text);\n'
    command = ["node", "--input-type=module"]
    program = program.replace("./translator.js", (folder / "translator.js").as_uri())
    found = subprocess.run(command, input=program, capture_output=True, text=True, cwd=folder)
    assert found.stderr == ""
    said = re.search(r"// (.*)", PROGRAM)[1]
    lines = found.stdout.splitlines()
    assert lines[0] == said
    assert lines[-3:] == ["Hallo.", "", "HILF MIR!"]


def test_in_a_page(folder, browser):
    (folder / "mine.html").write_text(PAGE, encoding="utf-8")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/mine.html")
        page.wait_for_function(
            "document.getElementById('target').textContent === 'Wo ist der Bahnhof?'"
        )
        page.fill("#source", "I lost my keys.")
        expected = "Ich habe meine Schlüssel verloren."
        assert page.text_content("#target") == expected
        missing = page.evaluate(
            "import('./translator.js').then(({ Translator }) => Translator.load('no.gz'))"
            ".catch((error) => String(error))"
        )
        assert "404" in missing
        server.shutdown()
