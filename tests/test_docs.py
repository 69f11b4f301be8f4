"""The snippets of the documentation run as they are written."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import keras
import pytest

from transformer_tf.translator import Translator

ROOT = Path(__file__).resolve().parents[1]
PYTHON, EXPORT = ROOT / "docs" / "python.md", ROOT / "docs" / "export.md"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="exports need TensorFlow"),
]


def section(page, heading):
    """The text from a heading to the next one of its level or a higher one."""
    text = page.read_text(encoding="utf-8")
    level = heading.split()[0]
    begin = text.index(f"\n{heading}\n") + len(heading) + 1
    end = re.search(rf"^#{{1,{len(level)}}} ", text[begin:], re.MULTILINE)
    return text[begin : begin + end.start()] if end else text[begin:]


def code(text):
    """The Python of a text; a value in a comment becomes an assertion."""
    lines = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)).splitlines()
    assert lines
    for index, line in enumerate(lines):
        expression, _, comment = line.partition("  # ")
        try:
            lines[index] = f"assert ({expression}) == {ast.literal_eval(comment)!r}"
        except (SyntaxError, ValueError):
            continue
    assert any(line.startswith("assert") for line in lines)
    return "\n".join(lines)


def run_commands(text, folder):
    """Runs the commands of this package in a text."""
    for name, arguments in re.findall(r"^\$ transformer-tf-(\w+) (.*)$", text, re.MULTILINE):
        script = ROOT / "scripts" / f"{name}.py"
        subprocess.run([sys.executable, script, *arguments.split()], cwd=folder, check=True)


def run(program, folder, **options):
    """Runs Python in a process of its own, and returns what it prints."""
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, **options
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


def test_use_it_from_python(tmp_path):
    page = PYTHON.read_text(encoding="utf-8").partition("## Without this package")[0]
    requests = (
        "import threading, urllib.request\n"
        "threading.Thread(target=server.serve_forever, daemon=True).start()\n"
        "address = f'http://127.0.0.1:{server.server_port}'\n"
        "answer = urllib.request.urlopen(address, b'Good morning.').read()\n"
        "assert answer.decode() == translator.translate('Good morning.')\n"
        "assert same.get_weights()[3].tolist() == model.get_weights()[3].tolist()\n"
    )
    run(f"{code(page).replace('8000', '0')}\n{requests}", tmp_path)
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {
        *("cross.png", "attention.html", "tuned.keras", "classifier.keras", "cars.tsv", "cars")
    }


@pytest.mark.parametrize(
    ("page", "heading", "module", "expression"),
    [
        (PYTHON, "### CTranslate2", "ctranslate2", "translate(texts)"),
        (EXPORT, "## ONNX", "onnxruntime", "translate(texts)"),
        (
            *(EXPORT, "## SavedModel", "tensorflow_text"),
            "[each.decode() for each in signatures['serving_default'](text=tf.constant(texts))"
            "['text'].numpy()]",
        ),
    ],
    ids=["CTranslate2", "ONNX", "SavedModel"],
)
def test_other_engines_alone_translate_the_same(page, heading, module, expression, tmp_path):
    """The first 1 000 test sentences, as the pages say, without this package."""
    pytest.importorskip(module)
    text = section(page, heading)
    run_commands(text, tmp_path)
    folder = ROOT / "checkpoints" / "en-de"
    lines = (folder / "test.tsv").read_text(encoding="utf-8").splitlines()[:1000]
    texts = [line.split("\t")[0] for line in lines]
    batches = [texts[begin : begin + 50] for begin in range(0, len(texts), 50)]
    program = (
        f"{code(text)}\nimport json, sys\nfound = []\n"
        f"for texts in json.load(sys.stdin):\n    found += {expression}\nprint(json.dumps(found))\n"
        "assert not [name for name in sys.modules if name.startswith('transformer_tf')]\n"
    )
    found = json.loads(run(program, tmp_path, input=json.dumps(batches)).splitlines()[-1])
    translator = Translator.load(folder, "decoding.beam_size=1")
    translator.placeholders = None  # these exports have none
    expected = translator.translate(texts)
    same = sum(ours == theirs for ours, theirs in zip(expected, found, strict=True))
    # Another engine rounds otherwise: where two words are almost as likely, either may be said.
    assert same >= 999, [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]]
