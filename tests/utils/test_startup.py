import os
import subprocess
import sys
from pathlib import Path

import pytest

from transformer_tf.errors import DataError
from transformer_tf.utils.startup import command_line, run_command


def raising(error):
    def main():
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (DataError("no\nsuch corpus"), 1, "error: no such corpus\n"),
        (OSError(28, "No space", "a/file"), 1, "error: a/file: No space\n"),
        (KeyboardInterrupt(), 130, "\nstopped\n"),
    ],
)
def test_errors_become_one_line(error, status, message, capsys):
    assert run_command(raising(error)) == status
    assert capsys.readouterr().err == message


def test_other_ends_of_a_command():
    assert run_command(lambda: None) == 0
    with pytest.raises(ZeroDivisionError):
        run_command(raising(ZeroDivisionError()))


@pytest.mark.parametrize(
    ("called", "named"),
    [
        ("../scripts/translate.py", "python ../scripts/train.py"),
        ("/usr/bin/transformer-tf-translate", "transformer-tf-train"),
        ("", "transformer-tf-train"),
    ],
)
def test_how_another_command_is_called(monkeypatch, called, named):
    monkeypatch.chdir(Path(__file__).parents[1])
    monkeypatch.setattr(sys, "argv", [called])
    assert command_line("train") == named


def run_python(code):
    # A terminal of Windows.
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", env=environment
    )


@pytest.mark.slow
def test_starting_keras_prints_nothing_and_output_is_utf_8():
    result = run_python(
        "from transformer_tf.utils import startup\n"
        "startup.import_keras_quietly()\n"
        "startup.run_command(lambda: print('→ ß 中'))"
    )
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "→ ß 中", "")


def test_a_failed_import_shows_the_captured_output():
    result = run_python(
        "import os, sys, types, transformer_tf.utils.startup as startup\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'keras':\n"
        "            os.write(2, b'output of C++\\n')\n"
        "            raise ImportError('a library is missing')\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.exit(startup.run_command(startup.import_keras_quietly))"
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("output of C++\nerror: ")
    assert result.stderr.endswith("a library is missing\n")


def test_what_the_fast_commands_do_not_import():
    result = run_python(
        "import sys, transformer_tf.config\n"
        "assert 'numpy' not in sys.modules\n"
        "import transformer_tf.text.batching.batches, transformer_tf.text.corpora.corpus\n"
        "import transformer_tf.text.tokenization.tokenizer, transformer_tf.attention_maps\n"
        "slow = {'keras', 'tensorflow', 'jax', 'bpemb', 'gensim', 'pooch', 'requests'}\n"
        "assert not slow & set(sys.modules), sorted(slow & set(sys.modules))"
    )
    assert result.returncode == 0, result.stderr
