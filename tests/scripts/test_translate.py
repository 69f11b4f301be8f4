"""The command as a user meets it: what is on stdout, what on stderr, and the exit status."""

import io
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "translate.py"


class StandardInput(io.TextIOWrapper):
    """A stream that may be told to be a terminal."""


@pytest.fixture
def run(monkeypatch, capfd, tmp_path):
    """Runs the script in this process; faster than a fresh one each time."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=None, terminal=False):
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), *map(str, arguments)])
        stream = StandardInput(io.BytesIO(stdin or b""), encoding="utf-8")
        stream.isatty = lambda: terminal
        monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(SystemExit) as exit_:
            runpy.run_path(str(SCRIPT), run_name="__main__")
        output = capfd.readouterr()
        return exit_.value.code, output.out, output.err

    return run


def test_a_fresh_process_says_the_translation_and_nothing_else(checkpoint):
    result = subprocess.run(
        [sys.executable, SCRIPT, "I see 3 red cars.", "--checkpoint", checkpoint],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.endswith("\n")
    assert len(result.stdout.splitlines()) == 1


def test_help_without_the_back_end():
    result = subprocess.run(
        [sys.executable, "-X", "importtime", SCRIPT, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0
    for option in ("--checkpoint", "--input", "--output", "--attention", "--kind", "--layer"):
        assert option in result.stdout
    assert "tensorflow" not in result.stderr


def test_stdin_keeps_one_line_per_line(run, checkpoint):
    status, out, err = run("--checkpoint", checkpoint, stdin=b"A tree.\n\n  \nI see 3 cars.\n")
    assert (status, err) == (0, "")
    lines = out.split("\n")
    assert [bool(line) for line in lines] == [True, False, False, True, False]


def test_files(run, checkpoint, tmp_path):
    (tmp_path / "in.txt").write_text("A tree.\n\nI see 😀 中文 \x00 cars.")
    status, out, err = run("--checkpoint", checkpoint, "--input", "in.txt", "--output", "out.txt")
    assert (status, out, err) == (0, "", "")
    assert [bool(line) for line in (tmp_path / "out.txt").read_text().split("\n")] == [
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("sentence", ["", "   ", "\u200b"])
def test_nothing_to_say(run, checkpoint, sentence):
    assert run(sentence, "--checkpoint", checkpoint) == (0, "\n", "")


def test_2000_words_are_translated_in_parts_with_a_warning(run, checkpoint):
    status, out, err = run("tree " * 2000, "--checkpoint", checkpoint)
    assert status == 0
    assert len(out.splitlines()) == 1
    assert err.startswith("warning: a text of 2000 words is translated in ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", "--checkpoint", "nowhere"], "nowhere is not a checkpoint: it has no config.yaml"),
        (["--input", "nowhere.txt"], "Cannot read nowhere.txt: No such file or directory"),
        (["--input", "latin.txt"], "latin.txt: line 2 is not UTF-8 (byte 0xfc)"),
        (["--input", "."], "Cannot read .: Is a directory"),
        (["gr\udcfcn"], "the sentence: line 1 is not UTF-8 (byte 0xfc)"),
        (["x", "--output", "no/such/folder"], "Cannot write no/such/folder: there is no such"),
        (["x", "--attention", "a.png", "--layer", "3"], "--layer must be from 1 to 2, not 3"),
        (["", "--attention", "a.png"], "no attention to show for an empty sentence"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(run, checkpoint, tmp_path, arguments, message):
    (tmp_path / "latin.txt").write_bytes(b"fine\ngr\xfcn\n")
    if "--checkpoint" not in arguments:
        arguments = [*arguments, "--checkpoint", checkpoint]
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert err.startswith("error: ")
    assert message in err
    assert len(err.splitlines()) == 1
    assert os.listdir(tmp_path) == ["latin.txt"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["x", "--input", "f"],
        ["--attention", "a.png"],
        ["x", "--layer", "1"],
        ["--inptu", "f"],
        ["x", "--attention", "a.bmp"],
    ],
)
def test_wrong_usage(run, arguments):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "error: " in err


def test_no_translator_yet(run, monkeypatch):
    if (ROOT / "checkpoints" / "en-de").exists() or (ROOT / "runs").exists():
        pytest.skip("there is a translator in this checkout")
    status, _, err = run("x")
    assert status == 1
    assert "train one with python scripts/train.py" in err


# The nonsense of an untrained model may hold characters of any script.
@pytest.mark.filterwarnings("ignore:No installed font")
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_attention(run, checkpoint, tmp_path, kind):
    status, out, err = run(
        "A tree ß.", "--checkpoint", checkpoint, "--attention", "a.png", "--kind", kind
    )
    assert status == 0
    assert len(out.splitlines()) == 1
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert os.listdir(tmp_path) == ["a.png"]


def test_prompt_loop(run, checkpoint):
    status, out, err = run(
        "--checkpoint", checkpoint, stdin=b"A tree.\n\nI s\xe9e 3 cars.\n", terminal=True
    )
    assert status == 0
    assert [bool(line) for line in out.split("\n")] == [True, False, True, False]
    assert err.count("> ") == 4
