"""Measures servers of this package and of CTranslate2 under 16 clients.

Each server is a process of its own. The processes take turns: while one answers, the others wait.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.process import WorkerProcess
from transformer_tf.errors import TransformerTFError
from transformer_tf.text.corpora.corpus import load_held_out
from transformer_tf.translator import Translator

CLIENTS, REQUESTS = 16, 1000
SOURCE, TARGET = "en", "de"
SYSTEMS = {  # engine and batches, see `benchmarks.serve_worker`
    "this package": ("numpy", "shared"),
    "CTranslate2 in the same server": ("ctranslate2", "shared"),
    "CTranslate2, each request by itself": ("ctranslate2", "own"),
}


def measure_serving(
    folder: Path, rounds: int, requests: int = REQUESTS
) -> Iterator[dict[str, Any]]:
    """Sends test sentences to each server, one a request.

    Args:
        folder: The checkpoint.
        rounds: Number of times that each server gets all requests.
        requests: Number of requests.

    Yields:
        For each system the medians over the rounds: answers a second, milliseconds of an answer
        (median and 99th percentile), and the server's processor time; and how many answers of the
        last round are missing or differ from those of `Translator.translate`.

    Raises:
        TransformerTFError: If CTranslate2 is not installed or a server does not start.
    """
    if rounds < 1:
        raise TransformerTFError(f"--rounds must be at least 1, not {rounds}")
    from transformer_tf.export.ctranslate2 import export_ctranslate2

    texts = [source for source, _ in load_held_out(folder, "test")][:requests]
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        exported = Path(name) / "exported"
        export_ctranslate2(folder, exported)
        workers, expected = {}, {}
        for system, (engine, batches) in SYSTEMS.items():
            place = folder if engine == "numpy" else exported
            command = ["benchmarks.serve_worker", engine, place, batches]
            workers[system] = stack.enter_context(WorkerProcess(system, command))
            translator = Translator.load(
                place, engine="numpy" if place == folder else "ctranslate2"
            )
            expected[system] = translator.translate(texts)
        results: dict[str, list[list[float]]] = {system: [] for system in SYSTEMS}
        answers = {}
        for _ in range(rounds):
            for system, worker in workers.items():
                begun = worker.ask(None)
                answers[system], times = _load(begun["port"], texts)
                used = worker.ask(None)["seconds"] - begun["seconds"]
                results[system].append([*times, 1000 * used / len(texts)])
        for system, rows in results.items():
            rate, median, last, used = map(statistics.median, zip(*rows, strict=True))
            pairs = zip(answers[system], expected[system], strict=True)
            yield {
                "system": system,
                "answers/s": rate,
                "median ms": median,
                "99th percentile ms": last,
                "processor ms": used,
                "missing": answers[system].count(None),
                "different": sum(found not in (None, own) for found, own in pairs),
            }


def _load(port: int, texts: list[str]) -> tuple[list[str | None], list[float]]:
    """Returns the answers; and answers a second, median and 99th percentile in milliseconds."""
    answers: list[str | None] = [None] * len(texts)
    milliseconds = []

    def client(first: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        for index in range(first, len(texts), CLIENTS):
            fields = {"q": texts[index], "source": SOURCE, "target": TARGET}
            begun = time.perf_counter()
            connection.request("POST", "/translate", json.dumps(fields))
            answer = json.loads(connection.getresponse().read())
            milliseconds.append(1000 * (time.perf_counter() - begun))
            answers[index] = answer.get("translatedText")
        connection.close()

    begun = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(client, range(CLIENTS)))
    rate = len(texts) / (time.perf_counter() - begun)
    slow = sorted(milliseconds)[int(0.99 * len(milliseconds))]
    return answers, [rate, statistics.median(milliseconds), slow]
