"""The server as its clients see it: over real HTTP."""

import contextlib
import http.client
import json
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.browser import chromium
from tests.conftest import ENGLISH
from transformer_tf.serve.server import TranslationServer
from transformer_tf.translator import Translator

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 1000  # characters
PAIR = {"source": "en", "target": "de"}


@pytest.fixture(scope="module")
def translator(checkpoint):
    return Translator.load(checkpoint, "decoding.beam_size=3")


@pytest.fixture(scope="module")
def server(translator, checkpoint):
    with serving({("en", "de"): translator, ("de", "en"): translator}, checkpoint) as server:
        yield server


@contextlib.contextmanager
def serving(translators, folder):
    server = TranslationServer(("127.0.0.1", 0), translators, [folder], LIMIT)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def ask(server, path, body=None, kind="application/json", method=None):
    """Sends a request; returns the status and the answer, JSON if it is."""
    connection = http.client.HTTPConnection(*server.server_address, timeout=60)
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
    connection.request(method or ("POST" if body else "GET"), path, body, {"Content-Type": kind})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    is_json = response.headers["Content-Type"] == "application/json"
    return response.status, json.loads(content) if is_json else content


def translate(server, **fields):
    status, answer = ask(server, "/translate", {**PAIR, **fields})
    assert status == 200, answer
    return answer


@pytest.mark.slow
def test_a_thousand_requests_of_sixteen_clients():
    """With a real translator: its translations differ, and take different times."""
    folder = ROOT / "checkpoints" / "en-de"
    lines = (folder / "test.tsv").read_text(encoding="utf-8").splitlines()
    texts = [line.split("\t")[0] for line in lines[:1000]]
    translator = Translator.load(folder, "decoding.beam_size=1")

    def client(number):
        """Sends its share over one connection."""
        connection = http.client.HTTPConnection(*server.server_address, timeout=60)
        answers = []
        for text in texts[number::16]:
            connection.request("POST", "/translate", json.dumps({**PAIR, "q": text}))
            answers.append(json.loads(connection.getresponse().read())["translatedText"])
        connection.close()
        return answers

    with serving({("en", "de"): translator}, folder) as server, ThreadPoolExecutor(16) as pool:
        found = list(pool.map(client, range(16)))
    expected = translator.translate(texts)
    assert found == [expected[number::16] for number in range(16)]


def test_hostile_clients_cost_nobody_else_an_answer(server, translator, capfd):
    expected = translator.translate(ENGLISH)
    begun, address = time.monotonic(), server.server_address
    head = b"POST /translate HTTP/1.1\r\nContent-Length: 90\r\n\r\n"
    body = json.dumps({**PAIR, "q": "I see 3 cars."}).encode()
    with ThreadPoolExecutor(4) as pool:
        silent = [socket.create_connection(address) for _ in range(200)]
        for slow in silent[:20]:
            slow.sendall(head + b'{"q": "I ')
        answers = pool.map(lambda text: translate(server, q=text)["translatedText"], ENGLISH)
        for _ in range(20):  # clients that are killed while they wait
            killed = socket.create_connection(address)
            killed.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            killed.sendall(head.replace(b"90", str(len(body)).encode()) + body)
            killed.close()
        assert ask(server, "/translate", bytes(50_000_000))[0] == 413
        assert list(answers) == expected
    assert time.monotonic() - begun < 30
    for connection in silent:
        connection.close()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b"not JSON"),
        (400, b"\xff\xfe"),
        (400, b"[" * 10_000),
        (400, b'"a text"'),
        (400, {**PAIR}),
        *((400, {**PAIR, "q": q}) for q in (
            7, None, {"a": 1}, ["a", 7], "a" * (LIMIT + 1), "\ud800")),
        *((400, {**PAIR, "q": "A tree.", **wrong}) for wrong in (
            {"target": "fr"}, {"target": 3}, {"source": ""}, {"source": "\ud800"},
            {"alternatives": "many"}, {"alternatives": "9" * 5000},
            {"alternatives": True}, {"hypotheses": 1}, {"format": "html"})),
        (413, b" " * 1_000_000),
    ],
)  # fmt: skip
def test_wrong_requests_get_an_error_as_json(server, status, body):
    found, answer = ask(server, "/translate", body)
    assert (found, list(answer)) == (status, ["error"])


def test_other_errors(server, checkpoint, monkeypatch):
    assert ask(server, "/nothing")[0] == 404
    assert ask(server, "/nothing", {"q": "A tree."})[0] == 404
    assert ask(server, "/tiny.gz/../../config.yaml")[0] == 404
    assert ask(server, "/translate", method="PUT", body={"q": "A tree."})[0] == 501
    monkeypatch.setattr("transformer_tf.text.segments.MAX_CHARACTERS", 20)
    status, answer = ask(server, "/translate", {**PAIR, "q": "A tree.\n" + "a" * 21})
    assert (status, answer["error"][:24]) == (400, "A text has 21 characters")
    busy = TranslationServer(("127.0.0.1", 0), {}, [checkpoint], max_requests=0)
    with busy:
        threading.Thread(target=busy.handle_request).start()
        status, answer = ask(busy, "/translate", {"q": "A tree."})
    assert (status, list(answer)) == (503, ["error"])


def test_the_shapes_of_answers(server, translator):
    text, other = "I see 3 red cars.", "A tree."
    best, *others = dict.fromkeys(translator.translate(text, n_best=3))  # each once
    two = [*dict.fromkeys(translator.translate(text, n_best=2))]
    assert translate(server, q=text) == {"translatedText": best}
    assert translate(server, q=[text, other]) == {
        "translatedText": translator.translate([text, other])
    }
    lines = translate(server, q=f"{text}\n\n{other}")["translatedText"]
    assert lines == f"{best}\n\n{translator.translate(other)}"
    assert translate(server, q=text, alternatives=99)["alternatives"] == others
    assert len(translate(server, q=[text, other], alternatives=1)["alternatives"]) == 2
    detected = translate(server, q=text, source="auto", target="DE-at")["detectedLanguage"]
    assert detected == {"language": "en", "confidence": 100}
    (found,) = translate(server, q=text, hypotheses=True)["hypotheses"]
    ((wanted,),) = translator.search([text], alignment=True)
    assert found["score"] == pytest.approx(wanted.score, abs=1e-5)
    assert [tuple(link) for link in found["alignment"]] == wanted.alignment
    form = urlencode({**PAIR, "q": text, "alternatives": "1"})
    answer = ask(server, "/translate", form, "application/x-www-form-urlencoded")[1]
    assert answer == {"translatedText": best, "alternatives": two[1:]}
    assert ask(server, "/health") == (200, {"status": "ok"})
    assert ask(server, "/languages")[1] == [
        {"code": "en", "name": "English", "targets": ["de"]},
        {"code": "de", "name": "German", "targets": ["en"]},
    ]
    assert ask(server, "/frontend/settings")[1]["charLimit"] == LIMIT


@pytest.mark.slow
def test_the_page(server):
    """In a real browser: it loads its model from the server."""
    host, port = server.server_address
    with chromium() as browser:
        page = browser.new_page()
        page.goto(f"http://{host}:{port}/")
        page.fill("#source", "I see 3 red cars.")
        page.wait_for_selector("body[data-state=ready]", timeout=30_000)
        page.locator("#arcs").wait_for(timeout=30_000)


def test_the_command_ends_at_an_interrupt(checkpoint):
    command = [sys.executable, ROOT / "scripts" / "serve.py", "--checkpoint", checkpoint]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = subprocess.run([*command, "--port", port], capture_output=True, text=True)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1), refused.stderr
    process = subprocess.Popen(
        [*command, "--port", port],
        stderr=subprocess.PIPE,
        text=True,
        # A program that runs in the background of a shell, as these tests may, ignores interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        assert f":{port} " in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        try:
            assert "Traceback" not in process.communicate(timeout=30)[1]
        finally:
            process.kill()
    assert process.returncode == 0
