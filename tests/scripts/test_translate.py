"""The command as a user sees it: standard output, standard error and exit status."""

import copy
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from transformer_tf.commands import translate
from transformer_tf.config import load_config
from transformer_tf.translation import Translation
from transformer_tf.translator import Translator

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "translate.py"


class StandardInput(io.TextIOWrapper):
    """A stream whose `isatty` a test can replace."""


@pytest.fixture(scope="module")
def loaded():
    """The module's translators by folder and engine: a reused engine compiles nothing again."""
    return {}


@pytest.fixture
def run(monkeypatch, capfd, tmp_path, loaded):
    """Runs the command in this process, with translators that are loaded once."""

    def load(cls, folder, overrides=(), engine="numpy"):
        if engine == "ctranslate2":
            return original_load(folder, overrides, engine)
        if (folder, engine) not in loaded:
            loaded[folder, engine] = original_load(folder, engine=engine)
        translator = copy.copy(loaded[folder, engine])
        translator.options = load_config(folder / "config.yaml", overrides).decoding
        return translator

    original_load = Translator.load
    monkeypatch.setattr(Translator, "load", classmethod(load))
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=None, terminal=False):
        monkeypatch.setattr(sys, "argv", ["translate.py", *map(str, arguments)])
        stream = StandardInput(io.BytesIO(stdin or b""), encoding="utf-8")
        stream.isatty = lambda: terminal
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
        try:
            status = translate.command()
        except SystemExit as exit_:
            status = exit_.code
        output = capfd.readouterr()
        return status, output.out, output.err

    return run


def filled(text):
    """Whether each line has text."""
    return [bool(line) for line in text.split("\n")]


@pytest.mark.parametrize(
    "options",
    [[], ["--beam-size", "3", "--json"], ["--attention", "map.html"]],
    ids=["sentence", "alignment", "page"],
)
def test_a_new_process_writes_only_the_translation_and_imports_no_framework(
    checkpoint, tmp_path, options
):
    command = [sys.executable, "-X", "importtime", SCRIPT, "I see 3 cars.", *options]
    result = subprocess.run(
        [*command, "--checkpoint", checkpoint],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 1 and result.stdout.endswith("\n")
    imported = {line.split("|")[-1].strip() for line in result.stderr.splitlines()}
    heavy = {"keras", "tensorflow", "bpemb", "gensim", "sacrebleu", "tqdm", "pooch", "matplotlib"}
    assert not heavy & imported
    said = [line for line in result.stderr.splitlines() if not line.startswith("import time:")]
    assert said == (["Wrote map.html"] if "--attention" in options else [])


@pytest.mark.slow
def test_ctranslate2_gives_the_same_translation(run, checkpoint, tmp_path):
    pytest.importorskip("ctranslate2", reason='pip install ".[ctranslate2]"')
    from transformer_tf.export.ctranslate2 import export_ctranslate2

    export_ctranslate2(checkpoint, tmp_path / "model")
    options = ["--engine", "ctranslate2", "--checkpoint"]
    status, out, err = run("I see 3 red cars.", *options, tmp_path / "model")
    assert (status, err) == (0, "")
    assert out == run("I see 3 red cars.", "--checkpoint", checkpoint)[1]
    status, _, err = run("x", *options, checkpoint)
    assert status == 1
    assert "transformer-tf-export" in err


def test_files(run, checkpoint, tmp_path):
    (tmp_path / "in.txt").write_text("A tree.\n\nI see 😀 中文 \x00 cars.")
    arguments = ("--checkpoint", checkpoint, "--input", "in.txt", "--output", "out.txt")
    assert run(*arguments) == (0, "", "")
    lines = (tmp_path / "out.txt").read_text().split("\n")
    assert [bool(line) for line in lines] == [True, False, True, False]
    assert "3/3" in run(*arguments, terminal=True)[2]


def test_an_empty_sentence_has_an_empty_translation(run, checkpoint):
    assert run(" \u200b", "--checkpoint", checkpoint) == (0, "\n", "")


def test_json_has_tokens_scores_and_the_alignment(run, checkpoint):
    text = "A tree.\n\u200b\nI see 3 cars.\n".encode()
    status, out, err = run("--checkpoint", checkpoint, "--json", "--beam-size", 3, stdin=text)
    assert (status, err) == (0, "")
    objects = [json.loads(line) for line in out.splitlines()]
    assert [thing["source"] for thing in objects] == ["A tree.", "\u200b", "I see 3 cars."]
    assert objects[1]["hypotheses"] == []
    best = objects[0]["hypotheses"][0]
    assert set(best) == {"text", "tokens", "score", "log_prob", "token_log_probs", "alignment"}
    assert best["log_prob"] == pytest.approx(sum(best["token_log_probs"]), abs=1e-3)
    words = range(len(best["text"].split()))
    assert sorted(target for _, target in best["alignment"]) == list(words)
    assert {source for source, _ in best["alignment"]} <= {0, 1}


def test_n_best(run, checkpoint):
    options = ("--beam-size", 3, "--n-best", 2, "decoding.length_penalty=0")
    text = b"A tree.\n\nI see 3 cars.\n"
    status, out, _ = run("--checkpoint", checkpoint, *options, stdin=text)
    assert status == 0
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "", "3", "3"]
    assert float(rows[0][1]) >= float(rows[1][1])


def test_an_override_without_a_sentence(run, checkpoint):
    arguments = ("decoding.max_length=2", "--checkpoint", checkpoint, "--json")
    _, out, _ = run(*arguments, stdin=b"I see 3 cars.\n")
    assert len(json.loads(out)["hypotheses"][0]["tokens"]) <= 2


def test_an_interrupt_loses_no_complete_line(run, checkpoint, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("A tree.\n" * 10_000)
    blocks = []

    def search(self, texts, *_, **__):
        blocks.append(len(texts))
        if len(blocks) == 3:
            raise KeyboardInterrupt
        return [[Translation("Ein Baum.", [], 0.0)] for _ in texts]

    monkeypatch.setattr(Translator, "search", search)
    status, _, _ = run("--checkpoint", checkpoint, "--input", "in.txt", "--output", "out.txt")
    assert status == 130
    assert (tmp_path / "out.txt").read_text() == "Ein Baum.\n" * sum(blocks[:2])
    assert max(blocks) <= 512  # lines in memory at a time
    # Killed in the middle of a line, then resumed.
    with (tmp_path / "out.txt").open("a") as output:
        output.write("Ein Ba")
    done, blocks[:] = sum(blocks[:2]), [0, 0, 0]
    arguments = ("--checkpoint", checkpoint, "--input", "in.txt", "--output", "out.txt")
    assert run(*arguments, "--resume")[0] == 0
    assert (tmp_path / "out.txt").read_text() == "Ein Baum.\n" * 10_000
    assert sum(blocks) == 10_000 - done


def test_resume_does_not_change_a_file_with_more_lines(run, checkpoint, tmp_path):
    (tmp_path / "in.txt").write_text("A tree.\n")
    (tmp_path / "notes.txt").write_text("first\nlast")
    files = ("--input", "in.txt", "--output", "notes.txt")
    status, _, err = run("--checkpoint", checkpoint, *files, "--resume")
    assert status == 1 and "notes.txt has more than 1 lines: it belongs to another file" in err
    assert (tmp_path / "notes.txt").read_text() == "first\nlast"


def test_a_line_of_more_than_100_000_characters_is_refused(run, checkpoint, tmp_path):
    lines = "A tree.\n" + "ä" * 100_001 + "\n"
    (tmp_path / "in.txt").write_text(lines)
    refused = "line 2 has more than 100000 characters"
    status, out, err = run("--checkpoint", checkpoint, "--input", "in.txt")
    assert (status, out) == (1, "") and f"in.txt: {refused}" in err
    status, out, err = run("--checkpoint", checkpoint, stdin=lines.encode())
    assert (status, len(out.splitlines())) == (1, 1) and f"standard input: {refused}" in err


def test_2000_words_are_translated_in_parts_with_a_warning(run, checkpoint):
    status, out, err = run("tree " * 2000, "--checkpoint", checkpoint)
    assert (status, len(out.splitlines()), len(err.splitlines())) == (0, 1, 1)
    assert err.startswith("warning: ") and "2000 words is too long, or has more than 3" in err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["x", "--checkpoint", "nowhere"], "nowhere"),
        (["--input", "nowhere.txt"], "nowhere.txt"),
        (["--input", "latin.txt"], "latin.txt: line 2"),
        (["--input", "."], "Cannot read ."),
        (["gr\udcfcn"], "the sentence: line 1"),
        (["x", "--output", "no/such/folder"], "no/such/folder"),
        (["x", "--attention", "no/a.html"], "no/a.html"),
        (["x", "--attention", "a.png", "--layer", "3"], "layer"),
        (["x", "--attention", "a.png", "--head", "0"], "head"),
        (["--input", "long.txt", "--attention", "a.html"], "200 lines"),
        (["--input", "wide.txt", "--attention", "a.html"], "Line 2"),
        (["", "--attention", "a.png"], "empty sentence"),
        (["x", "--n-best", "2"], "n_best"),
        (["x", "decoding.beam_sise=2"], "decoding.beam_size"),
        (["--input", "long.txt", "--output", "./long.txt"], "same file"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(run, checkpoint, tmp_path, arguments, named):
    (tmp_path / "latin.txt").write_bytes(b"fine\ngr\xfcn\n")
    (tmp_path / "long.txt").write_text("A tree.\n" * 201)
    (tmp_path / "wide.txt").write_text("A tree.\n" + "A tree. " * 100)
    if "--checkpoint" not in arguments:
        arguments = [*arguments, "--checkpoint", checkpoint]
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert err.startswith("error: ")
    assert named in err
    assert len(err.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == ["latin.txt", "long.txt", "wide.txt"]
    assert (tmp_path / "long.txt").read_text() == "A tree.\n" * 201


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["x", "--input", "f"], "--input"),
        (["--attention", "a.png"], "--attention"),
        (["x", "--layer", "1"], "--layer"),
        (["x", "--words"], "--words"),
        (["x", "--attention", "a.html", "--head", "1"], "--head"),
        (["--input", "f", "--attention", "a.png"], "--attention"),
        (["x", "--attention", "a.png", "--n-best", "2"], "--n-best"),
        (["x", "--attention", "a.png", "--json"], "--json"),
        (["--input", "f", "--output", "o", "--resume", "--attention", "a.html"], "--resume"),
        (["x", "--attention", "a.bmp"], ".png"),
        (["x", "--engine", "ctranslate2", "--attention", "a.png"], "--engine"),
        (["Good", "--beam-size", "1", "morning,", "Tom"], 'in quotes: "Good morning, Tom"'),
    ],
)
def test_wrong_usage(run, arguments, named):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert named in err.splitlines()[-1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_once(run, checkpoint, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    content = "A tree.\n\nI see 3 cars.\n"
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=[content])
    writer.start()
    status, out, _ = run("--input", "pipe", "--checkpoint", checkpoint)
    writer.join(timeout=60)
    assert status == 0
    assert filled(out) == [True, False, True, False]


# An untrained model writes characters of any script, which the fonts may lack.
@pytest.mark.filterwarnings("ignore:No installed font")
@pytest.mark.parametrize(
    "options",
    [
        ("a.png", "--kind", "encoder"),
        ("a.svg", "--kind", "decoder", "--layer", "all", "--head", "mean", "--words", "--numbers"),
    ],
)
def test_a_picture(run, checkpoint, tmp_path, options):
    status, out, err = run("A tree ß.", "--checkpoint", checkpoint, "--attention", *options)
    assert (status, len(out.splitlines()), err) == (0, 1, f"Wrote {options[0]}\n")
    assert os.listdir(tmp_path) == [options[0]]
    assert (tmp_path / options[0]).read_bytes()[:4] in (b"\x89PNG", b"<?xm")


def test_a_page_of_several_sentences(run, checkpoint, tmp_path):
    (tmp_path / "in.txt").write_text("A tree.\n\n\u200b\n<script>x</script>\n", encoding="utf-8")
    status, out, err = run(
        "--input", "in.txt", "--checkpoint", checkpoint, "--attention", "a.HTML", "--output", "out"
    )
    assert (status, out, err) == (0, "", "Wrote a.HTML\n")
    assert filled((tmp_path / "out").read_text()) == [True, False, False, True, False]
    page = (tmp_path / "a.HTML").read_text()
    assert '"source":"A tree."' in page
    assert page.count("<script") == 2


def test_the_prompt_ends_at_the_end_of_input(run, checkpoint):
    lines = b"A tree.\nI s\xe9e 3 cars.\n:help\n"
    status, out, err = run("--checkpoint", checkpoint, stdin=lines, terminal=True)
    assert status == 0
    assert filled(out) == [True, True, False]
    assert err.startswith("Type a sentence and press Enter. :help shows more.\n")
    assert err.count("> ") == 4
    assert "exit" in err


@pytest.mark.parametrize("end", ["  ", ":quit"])
def test_the_prompt_ends_at_an_empty_line_or_quit(run, checkpoint, end):
    lines = f"A tree.\n{end}\nA tree.\n".encode()
    status, out, err = run("--checkpoint", checkpoint, stdin=lines, terminal=True)
    assert status == 0
    assert len(out.splitlines()) == 1
    assert err.count("> ") == 2


def test_a_text_in_the_other_language_is_noted_once(run, checkpoint):
    german = "Das ist nicht der Baum."
    for arguments in ([german], [german, "--attention", "a.html"]):
        status, out, err = run(*arguments, "--checkpoint", checkpoint)
        assert (status, len(out.splitlines())) == (0, 1)
        assert err.startswith("note: ") and "German" in err
    lines = f"A tree.\n{german}\n{german}\n".encode()
    assert run("--checkpoint", checkpoint, stdin=lines, terminal=True)[2].count("note: ") == 1
