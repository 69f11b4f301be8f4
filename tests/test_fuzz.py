"""Damaged and crafted files: each reader answers, or raises one of our errors in one line.

`FUZZ_FILES=2000 python -m pytest tests/test_fuzz.py` tries more than the quick tests do.
"""

import gzip
import io
import json
import os
import shutil
import subprocess
import zipfile
from collections import Counter

import numpy as np
import pytest

from transformer_tf.checkpoint import load_numpy_model, open_checkpoint
from transformer_tf.config import load_config
from transformer_tf.errors import CheckpointError, TransformerTFError
from transformer_tf.export.web.pack import pack_checkpoint
from transformer_tf.export.web.site import module
from transformer_tf.runs.state import load_state, save_state
from transformer_tf.text.corpora.pair_files import read_pairs
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.training.progress import Progress

FILES = int(os.environ.get("FUZZ_FILES", "60"))


def damaged(content, random):
    """Flips, cuts, repeats or inserts bytes."""
    content = bytearray(content)
    for _ in range(random.integers(1, 4)):
        start, size = random.integers(0, max(len(content), 1)), int(2 ** random.uniform(0, 8))
        kind = random.integers(4)
        if kind == 0 and content:
            content[start] = random.integers(256)
        elif kind == 1:
            del content[start : start + size]
        elif kind == 2:
            content[start:start] = content[start : start + size] * int(random.integers(1, 9))
        else:
            content[start:start] = random.bytes(size)
    return bytes(content)


def load_model(path):
    load_numpy_model(*open_checkpoint(path.parent))


READERS = {
    "last.weights.h5": load_model,
    "config.yaml": load_config,
    "tokenizers/source.model": Tokenizer.load,
    "tokenizers/source.json": lambda path: Tokenizer.load(path.with_suffix(".model")),
    "tokenizers/source.words.txt": lambda path: Tokenizer.load(path.with_name("source.model")),
    "hashes.txt": load_model,
    "state.npz": lambda path: load_state(path.parent),
    "pairs.tsv": lambda path: list(read_pairs([path], ("en", "de"), Counter())),
}


@pytest.fixture(scope="module")
def folder(checkpoint, tmp_path_factory):
    folder = shutil.copytree(checkpoint, tmp_path_factory.mktemp("fuzz") / "run")
    save_state(folder, Progress(fingerprint="x"), [np.ones((3, 5)), np.arange(7)])
    (folder / "pairs.tsv").write_text("A tree.\tEin Baum.\nTwo cars.\tZwei Autos.\n" * 20)
    (folder / "tokenizers" / "source.words.txt").write_text("tree\ncars\n")
    return folder


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(folder, name):
    random, path = np.random.default_rng(len(name)), folder / name
    if name != "hashes.txt":
        (folder / "hashes.txt").unlink(missing_ok=True)
    else:
        path.write_text("0" * 64 + "  config.yaml\n")
    content = path.read_bytes()
    try:
        for _ in range(FILES):
            path.write_bytes(damaged(content, random))
            try:
                READERS[name](path)
            except TransformerTFError as error:
                assert "\n" not in str(error), error
    finally:
        path.write_bytes(content)
        (folder / "hashes.txt").unlink(missing_ok=True)


@pytest.mark.parametrize(
    "text",
    [
        "model: &a\n  d_model: *a\n",
        "[" * 1_000_000,
        "- " * 50_000,
        "model: {d_model: " + "1" * 5000 + "}",
        "model: {? {a: b} : c}",
        "model: {? [a] : c}",
        "training: {start_from: 2024-99-99}",
        "model:\n  num_layers: 1000000000\n",
        "decoding: {beam_size: 10000000}",
        "5: {6: 7}",
    ],
)
def test_crafted_configurations(tmp_path, text):
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(TransformerTFError) as error:
        load_config(tmp_path / "config.yaml")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[1]", "7", '{"lowercase": 0, "sha256": 1, "tags": 5}']
)
def test_crafted_settings_of_a_tokenizer(folder, tmp_path, text):
    shutil.copy(folder / "tokenizers" / "source.model", tmp_path)
    (tmp_path / "source.json").write_text(text)
    with pytest.raises(TransformerTFError):
        Tokenizer.load(tmp_path / "source.model")


@pytest.mark.parametrize("kind", ["one array of 256 GB", "4 GB of zeros in 4 MB"])
def test_states_of_enormous_arrays(tmp_path, kind):
    resource = pytest.importorskip("resource")
    header, progress = io.BytesIO(), io.BytesIO()
    count = 64_000_000_000 if kind.startswith("one") else 1_000_000_000
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (count,)}
    )
    np.save(progress, np.array(json.dumps({"fingerprint": "x"})))
    with zipfile.ZipFile(tmp_path / "state.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("progress.npy", progress.getvalue())
        with file.open("arr_0.npy", "w", force_zip64=True) as array:
            array.write(header.getvalue())
            if kind.startswith("4 GB"):
                for _ in range(40):  # the beginning of the 4 GB is enough
                    array.write(bytes(1_000_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CheckpointError, match="state.npz is damaged") as error:
        load_state(tmp_path)
    assert "\n" not in str(error.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 20_000  # kilobytes


ANSWER = """
import { readdirSync, readFileSync } from "node:fs";
import { Translator } from "./translator.js";
const found = { answered: 0, refused: 0 };
for (const name of readdirSync("packs").sort()) {
  const { buffer } = new Uint8Array(readFileSync(`packs/${name}`));
  console.error(name);
  try {
    const translator = new Translator(buffer, null);
    const [part] = translator.segments("I see 7 red cars at 5 p.m., Tom.");
    translator.answer({ text: part.text, allCaps: part.allCaps, search: "beam" });
    found.answered++;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    found.refused++;
  }
}
console.log(JSON.stringify(found));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
def test_damaged_packs_are_answered_or_refused_by_the_page(checkpoint, tmp_path):
    """The page's engine neither runs for ever nor ends the process."""
    random = np.random.default_rng(0)
    content = gzip.decompress(pack_checkpoint(checkpoint))
    size = 4 + int.from_bytes(content[:4], "little")
    (tmp_path / "packs").mkdir()
    for number in range(FILES):
        damage = damaged(content[:size], random) + content[size:]
        if number % 4 == 0:
            damage = damaged(content, random)
        elif number % 2:  # the header keeps its length, and so the tensors their places
            header = damaged(content[4:size], random)[: size - 4]
            damage = content[:4] + header.ljust(size - 4) + content[size:]
        (tmp_path / "packs" / f"{number:05}").write_bytes(damage)
    (tmp_path / "translator.js").write_text(module())
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "answer.js").write_text(ANSWER)
    command = ["node", "--max-old-space-size=1000", "answer.js"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-500:]
    found = json.loads(done.stdout)
    assert sum(found.values()) == FILES and found["refused"]
