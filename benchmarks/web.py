"""Measures the exported web page in Chromium: sizes, start, speed, memory, frames, parity."""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from tqdm import tqdm

from tools.browser import open_chromium
from transformer_tf.errors import TransformerTFError
from transformer_tf.text.corpora.corpus import load_held_out

if TYPE_CHECKING:
    from playwright.sync_api import Page

SENTENCE = "He admired her as a great director."
TYPED = "I went to the shop to buy something to drink."
KEY_MILLISECONDS = 100  # from key to key: somebody who types fast
CALLS = 10  # translations of a round, after one to warm up
TIMEOUT = 300_000  # milliseconds

# Notes when the page first shows a translation, and when the beam's answer is there.
WATCH = """
window.shown = {};
new MutationObserver(() => {
  const said = document.querySelector("#translation")?.textContent;
  if (said) window.shown.greedy ??= performance.now();
  if (document.body?.dataset.state === "ready") window.shown.beam ??= performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
"""

# A second engine in the page, to be asked directly.
START = """async (plain) => {
  const data = JSON.parse(document.querySelector("#data").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const worker = new Worker(URL.createObjectURL(new Blob([data.worker])));
  const ask = (method, argument) => new Promise((resolve, reject) => {
    worker.onmessage = ({ data: answer }) =>
      answer.error ? reject(new Error(answer.error)) : resolve(answer);
    worker.postMessage({ method, argument });
  });
  await ask("load", { pack: bytes(data.packs[0]).buffer, code: bytes(data.kernel), plain });
  window.translate = async (texts, search) => {
    const answers = [];
    for (const text of texts) answers.push(await ask("translate", { text, search }));
    return answers.map(({ result, milliseconds }) => ({ text: result.text, milliseconds }));
  };
}"""

COUNT_FRAMES = """() => {
  window.frames = [];
  const count = (now) => { window.frames.push(now); requestAnimationFrame(count); };
  requestAnimationFrame(count);
}"""


def measure_web(folder: Path, rounds: int, sentences: int) -> Iterator[dict[str, Any]]:
    """Measures the page of a checkpoint as one file, with weights in 8 and in 16 bits.

    Args:
        folder: A checkpoint with held-out test sentences.
        rounds: Number of times that the page is opened and its speed measured; the median counts.
        sentences: Number of test sentences to compare with the NumPy engine.

    Yields:
        For each measurement a value for each quantization.

    Raises:
        TransformerTFError: If something is missing.
    """
    if rounds < 1:
        raise TransformerTFError(f"--rounds must be at least 1, not {rounds}")
    from transformer_tf.export.web.pack import Quantization
    from transformer_tf.translator import Translator

    texts = [source for source, _ in load_held_out(folder, "test")]
    random.Random(0).shuffle(texts)
    translator = Translator.load(folder, engine="numpy")
    expected = {
        "greedy": translator.translate(texts[:sentences], beam_size=1),
        "beam": translator.translate(texts[:sentences]),
    }
    quantizations = get_args(Quantization)
    measured = {
        quantization: _measure(folder, quantization, rounds, texts[:sentences], expected)
        for quantization in tqdm(quantizations, unit="page", leave=False)
    }
    for name in measured[quantizations[0]]:
        yield {"measurement": name, **{form: measured[form][name] for form in quantizations}}


def _measure(
    folder: Path,
    quantization: Any,
    rounds: int,
    texts: Sequence[str],
    expected: dict[str, list[str]],
) -> dict[str, float | str]:
    from transformer_tf.export.web.pack import pack_checkpoint
    from transformer_tf.export.web.site import listed_model, render_site

    pack = pack_checkpoint(folder, quantization)
    content = render_site([listed_model(folder)], [pack]).encode()
    found: dict[str, float | str] = {
        "model, compressed, MB": len(pack) / 1e6,
        "single file, MB": len(content) / 1e6,
    }
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "page.html"
        path.write_bytes(content)
        opened = [_measure_start(path) for _ in range(rounds)]
        for key in opened[0]:
            found[key] = statistics.median(page[key] for page in opened)
        with open_chromium() as browser:
            page = browser.new_page()
            _open(page, path)
            found.update(_measure_frames(page))
            for plain, suffix in (False, ""), (True, " without WebAssembly"):
                page.evaluate(START, plain)
                for search in expected:
                    found[f"{search}{suffix}, ms"] = _milliseconds(page, search, rounds)
            page.evaluate(START, False)
            for search, translations in expected.items():
                own = [answer["text"] for answer in _translate(page, texts, search)]
                same = sum(one == other for one, other in zip(own, translations, strict=True))
                found[f"{search} as the NumPy engine"] = f"{same} of {len(texts)}"
    return found


def _open(page: Page, path: Path) -> None:
    page.set_default_timeout(TIMEOUT)
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-state=ready]")


def _measure_start(path: Path) -> dict[str, float]:
    """Opens the page in a new browser."""
    with open_chromium() as browser:
        page = browser.new_page()
        page.add_init_script(WATCH)
        _open(page, path)
        shown = page.evaluate("window.shown")
        processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
        pages = [info["id"] for info in processes["processInfo"] if info["type"] == "renderer"]
        return {
            "opening to the first translation, s": shown["greedy"] / 1000,
            "opening to the beam's answer, s": shown["beam"] / 1000,
            # A browser keeps an empty process beside that of the page.
            "memory of the page's process, MB": max(map(_memory_mb, pages)),
        }


def _memory_mb(process: int) -> float:
    """Returns the memory of a process in 10^6 bytes, with its share of what several use."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    (kilobytes,) = (line.split()[1] for line in text.splitlines() if line.startswith("Pss:"))
    return int(kilobytes) * 1024 / 1e6


def _measure_frames(page: Page) -> dict[str, float]:
    """Types a sentence, each key of which is translated and drawn."""
    page.fill("#source", "")
    page.focus("#source")
    page.evaluate(COUNT_FRAMES)
    page.keyboard.type(TYPED, delay=KEY_MILLISECONDS)
    frames = page.evaluate("window.frames")
    page.wait_for_selector("body[data-state=ready]")
    gaps = [after - before for before, after in zip(frames, frames[1:], strict=False)]
    return {
        "frames a second while typing": 1000 * len(gaps) / sum(gaps),
        "longest frame while typing, ms": max(gaps),
    }


def _milliseconds(page: Page, search: str, rounds: int) -> float:
    _translate(page, [SENTENCE], search)
    answers = _translate(page, [SENTENCE] * CALLS * rounds, search)
    return statistics.median(answer["milliseconds"] for answer in answers)


def _translate(page: Page, texts: Sequence[str], search: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(
        "([texts, search]) => window.translate(texts, search)", [list(texts), search]
    )
    return found
