import os
import subprocess
import sys

import pytest

from transformer_tf.errors import DataError
from transformer_tf.utils.startup import run_command


def raising(error):
    def main():
        raise error

    return main


def test_a_successful_command_returns_0():
    assert run_command(lambda: None) == 0


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (DataError("no\nsuch corpus"), 1, "error: no such corpus\n"),
        (
            OSError(28, "No space left on device", "a/file"),
            1,
            "error: a/file: No space left on device\n",
        ),
        (KeyboardInterrupt(), 130, "\nstopped\n"),
    ],
)
def test_errors_become_one_line(error, status, message, capsys):
    assert run_command(raising(error)) == status
    assert capsys.readouterr().err == message


def test_an_unexpected_error_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError):
        run_command(raising(ZeroDivisionError()))


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_redirected_output_is_utf_8():
    code = "from transformer_tf.utils.startup import run_command as f; f(lambda: print('→ ß 中'))"
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )
    assert (result.returncode, result.stdout.decode().strip()) == (0, "→ ß 中")


@pytest.mark.slow
def test_starting_keras_prints_nothing():
    code = "from transformer_tf.utils.startup import import_keras_quietly as f; f()"
    result = run_python(code)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


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
    assert result.stderr == (
        "output of C++\nerror: Keras cannot be started: a library is missing\n"
    )


def test_text_and_pictures_import_no_back_end():
    result = run_python(
        "import sys, transformer_tf.config, transformer_tf.text.batching.batches, "
        "transformer_tf.text.corpora.corpus, transformer_tf.text.tokenization.tokenizer, "
        "transformer_tf.attention_maps\n"
        "assert not {'keras', 'tensorflow', 'jax'} & set(sys.modules), sorted(sys.modules)"
    )
    assert result.returncode == 0, result.stderr
