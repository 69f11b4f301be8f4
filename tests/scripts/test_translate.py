"""The command as a user sees it: standard output, standard error and exit status."""

import copy
import io
import json
import os
import runpy
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from transformer_tf.config import load_config
from transformer_tf.text.segments import Translation
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
    """Runs the script in this process, with translators that are loaded once."""

    def load(cls, folder, overrides=(), engine="auto"):
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
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), *map(str, arguments)])
        stream = StandardInput(io.BytesIO(stdin or b""), encoding="utf-8")
        stream.isatty = lambda: terminal
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
        with pytest.raises(SystemExit) as exit_:
            runpy.run_path(str(SCRIPT), run_name="__main__")
        output = capfd.readouterr()
        return exit_.value.code, output.out, output.err

    return run


@pytest.mark.slow
def test_a_new_process_writes_the_translation_and_nothing_else(checkpoint):
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


HEAVY = ("keras", "tensorflow", "bpemb", "gensim", "sacrebleu", "tqdm", "pooch")


@pytest.mark.parametrize(
    ("options", "heavy"),
    [
        ([], (*HEAVY, "matplotlib")),
        (["--beam-size", "3", "--alignment", "pharaoh"], (*HEAVY, "matplotlib")),
        (["--attention", "map.html"], HEAVY),
    ],
    ids=["sentence", "alignment", "page"],
)
def test_a_translation_imports_no_framework(checkpoint, tmp_path, options, heavy):
    code = f"""
import sys
from transformer_tf.commands.translate import main
sys.argv = {["translate.py", "I see 3 cars.", "--checkpoint", str(checkpoint), *options]}
main()
print([name for name in {heavy} if name in sys.modules])
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert result.stdout.splitlines()[-1] == "[]", result.stderr


@pytest.mark.parametrize("engine", ["numpy", pytest.param("keras", marks=pytest.mark.slow)])
def test_both_engines_answer_alike(run, checkpoint, engine):
    arguments = ("I see 3 red cars.", "--checkpoint", checkpoint, "--json")
    status, output, _ = run(*arguments, "--engine", engine)
    assert status == 0
    found, expected = (json.loads(text)["hypotheses"][0] for text in (output, run(*arguments)[1]))
    assert found["text"] == expected["text"]
    assert found["score"] == pytest.approx(expected["score"], abs=1e-4)


def test_help_imports_no_back_end():
    result = subprocess.run(
        [sys.executable, "-X", "importtime", SCRIPT, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0
    for option in ("--checkpoint", "--input", "--output", "--attention", "--alignment"):
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
def test_an_empty_sentence_has_an_empty_translation(run, checkpoint, sentence):
    assert run(sentence, "--checkpoint", checkpoint) == (0, "\n", "")


def test_json_scores_and_n_best(run, checkpoint):
    text = "A tree.\n\u200b\nI see 3 cars.\n".encode()
    status, out, err = run("--checkpoint", checkpoint, "--json", "--beam-size", 3, stdin=text)
    assert (status, err) == (0, "")
    objects = [json.loads(line) for line in out.splitlines()]
    assert [thing["source"] for thing in objects] == ["A tree.", "\u200b", "I see 3 cars."]
    assert objects[1]["hypotheses"] == []
    best = objects[0]["hypotheses"][0]
    assert set(best) == {"text", "tokens", "score", "log_prob", "token_log_probs"}
    assert best["log_prob"] == pytest.approx(sum(best["token_log_probs"]), abs=1e-3)

    _, out, _ = run("--checkpoint", checkpoint, "--scores", stdin=text)
    _, plain, _ = run("--checkpoint", checkpoint, stdin=text)
    lines = out.split("\n")
    assert [line.partition("\t")[2] for line in lines] == plain.split("\n")
    assert float(lines[0].partition("\t")[0]) < 0

    status, out, _ = run(
        "--checkpoint", checkpoint, "--beam-size", 3, "--n-best", 2, "--length-penalty", 0,
        stdin=text,
    )  # fmt: skip
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "", "3", "3"]
    assert float(rows[0][1]) >= float(rows[1][1])


def test_prefix_and_seed(run, checkpoint):
    status, out, _ = run("A tree.", "--checkpoint", checkpoint, "--prefix", "Ich sehe")
    assert status == 0
    assert out.startswith("Ich sehe")
    drawn = [
        run("A tree.", "--checkpoint", checkpoint, "--temperature", "1", "--seed", seed)[1]
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_random_draws_do_not_depend_on_blocks(run, checkpoint, tmp_path, monkeypatch):
    """A file read in blocks, or resumed, gives the same random translations."""
    from transformer_tf.utils import lines as text_lines

    text = b"A tree.\n" * 6
    arguments = ["--checkpoint", checkpoint, "--temperature", "1"]
    whole = run(*arguments, stdin=text)[1]
    assert len(set(whole.splitlines())) > 1
    blocks = text_lines.blocks
    monkeypatch.setattr(text_lines, "blocks", lambda lines, size, skip: blocks(lines, 2, skip))
    assert run(*arguments, stdin=text)[1] == whole
    (tmp_path / "in.txt").write_bytes(text)
    (tmp_path / "out.txt").write_text("".join(whole.splitlines(keepends=True)[:2]))
    files = ["--input", "in.txt", "--output", "out.txt", "--resume"]
    assert run(*arguments, *files)[0] == 0
    assert (tmp_path / "out.txt").read_text() == whole


def test_resume_continues_after_the_last_complete_line(run, checkpoint, tmp_path, monkeypatch):
    lines = [f"I see {n} cars." for n in range(30)]
    (tmp_path / "in.txt").write_text("\n".join(lines) + "\n")
    arguments = ["--checkpoint", checkpoint, "--input", "in.txt"]
    assert run(*arguments, "--output", "whole.txt")[0] == 0
    whole = (tmp_path / "whole.txt").read_text()
    begun = "".join(whole.splitlines(keepends=True)[:11])
    (tmp_path / "out.txt").write_text(begun + "half a li")
    translated = []
    search = Translator.search
    monkeypatch.setattr(
        Translator,
        "search",
        lambda self, texts, *a, **k: translated.extend(texts) or search(self, texts, *a, **k),
    )
    assert run(*arguments, "--output", "out.txt", "--resume")[0] == 0
    assert translated == lines[11:]
    assert (tmp_path / "out.txt").read_text() == whole
    assert run(*arguments, "--output", "out.txt", "--resume")[0] == 0
    assert (tmp_path / "out.txt").read_text() == whole
    assert run(*arguments, "--output", "new.txt", "--resume")[0] == 0
    assert (tmp_path / "new.txt").read_text() == whole
    (tmp_path / "in.txt").write_text("A tree.\n")
    assert run(*arguments, "--output", "new.txt", "--resume") == (
        1, "", "error: --resume: new.txt has 30 lines already, more than the 1 of in.txt\n"
    )  # fmt: skip
    assert (tmp_path / "new.txt").read_text() == whole


def test_an_interrupt_loses_no_complete_line(run, checkpoint, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("A tree.\n" * 10_000)
    blocks = []

    def search(self, texts, *_, **__):
        blocks.append(len(texts))
        if len(blocks) == 3:
            raise KeyboardInterrupt
        return [[Translation("Ein Baum.", [])] for _ in texts]

    monkeypatch.setattr(Translator, "search", search)
    status, _, _ = run("--checkpoint", checkpoint, "--input", "in.txt", "--output", "out.txt")
    assert status == 130
    assert (tmp_path / "out.txt").read_text() == "Ein Baum.\n" * sum(blocks[:2])
    assert max(blocks) <= 4096  # lines in memory at a time


@pytest.mark.slow
def test_ctranslate2_gives_the_same_translation(run, checkpoint, tmp_path):
    pytest.importorskip("ctranslate2", reason='pip install "transformer-tf[ctranslate2]"')
    export = [sys.executable, ROOT / "scripts" / "export.py", "--checkpoint", checkpoint]
    result = subprocess.run(
        [*export, "--format", "ctranslate2", "--output", tmp_path / "model"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (result.returncode, result.stderr) == (0, "")
    status, out, err = run(
        "I see 3 red cars.", "--engine", "ctranslate2", "--checkpoint", tmp_path / "model"
    )
    assert (status, err) == (0, "")
    assert out == run("I see 3 red cars.", "--checkpoint", checkpoint)[1]
    status, _, err = run("x", "--engine", "ctranslate2", "--checkpoint", checkpoint)
    assert status == 1
    assert "make one with: python scripts/export.py" in err


def test_2000_words_are_translated_in_parts_with_a_warning(run, checkpoint):
    status, out, err = run("tree " * 2000, "--checkpoint", checkpoint)
    assert status == 0
    assert len(out.splitlines()) == 1
    assert err.startswith("warning: a text of 2000 words is too long and translated in ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", "--checkpoint", "nowhere"], "nowhere is not a checkpoint: there is no such folder"),
        (["--input", "nowhere.txt"], "Cannot read nowhere.txt: No such file or directory"),
        (["--input", "latin.txt"], "latin.txt: line 2 is not UTF-8 (byte 0xfc)"),
        (["--input", "."], "Cannot read .: Is a directory"),
        (["gr\udcfcn"], "the sentence: line 1 is not UTF-8 (byte 0xfc)"),
        (["x", "--prefix", "gr\udcfcn"], "--prefix: line 1 is not UTF-8 (byte 0xfc)"),
        (["x", "--seed", "-1"], "--seed must be at least 0 and less than 2**32, not -1"),
        (["x", "--output", "no/such/folder"], "Cannot write no/such/folder: its folder does not"),
        (["x", "--attention", "no/a.png"], "Cannot write no/a.png: its folder does not"),
        (["x", "--attention", "no/a.html"], "Cannot write no/a.html: its folder does not"),
        (["x", "--attention", "a.png", "--layer", "3"], "layer must be from 1 to 2, not 3"),
        (["x", "--attention", "a.png", "--head", "9"], "head must be from 1 to 2, not 9"),
        (["x", "--attention", "a.png", "--head", "0"], "head must be from 1 to 2, not 0"),
        (
            ["--input", "long.txt", "--attention", "a.html"],
            "--input has more than 200 lines, too many",
        ),
        (["", "--attention", "a.png"], "no attention to show for an empty sentence"),
        (["x", "--n-best", "2"], "--n-best must be at most --beam-size, not 2 of 1"),
        (["x", "--top-k", "5"], "--top-k has no effect unless --temperature is above 0"),
        (["x", "--top-p", "0.5"], "--top-p has no effect unless --temperature is above 0"),
        (["x", "--seed", "3"], "--seed has no effect unless --temperature is above 0"),
        (["x", "--beam-size", "0"], "--beam-size must be at least 1, not 0"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(run, checkpoint, tmp_path, arguments, message):
    (tmp_path / "latin.txt").write_bytes(b"fine\ngr\xfcn\n")
    (tmp_path / "long.txt").write_text("A tree.\n" * 201)
    if "--checkpoint" not in arguments:
        arguments = [*arguments, "--checkpoint", checkpoint]
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert err.startswith("error: ")
    assert message in err
    assert len(err.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == ["latin.txt", "long.txt"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["x", "--input", "f"],
        ["--attention", "a.png"],
        ["x", "--layer", "1"],
        ["x", "--words"],
        ["x", "--attention", "a.png", "--layer", "last"],
        ["x", "--attention", "a.html", "--head", "1"],
        ["x", "--attention", "a.png", "--alignment", "pharaoh"],
        ["--input", "f", "--attention", "a.png"],
        ["x", "--attention", "a.png", "--prefix", "Ich"],
        ["x", "--attention", "a.png", "--n-best", "2"],
        ["x", "--head", "0"],
        ["--inptu", "f"],
        ["x", "--attention", "a.bmp"],
        ["x", "--resume"],
        ["--input", "f", "--output", "g", "--resume", "--n-best", "2"],
        ["x", "--engine", "ctranslate2", "--alignment", "pharaoh"],
        ["x", "--engine", "ctranslate2", "--attention", "a.png"],
        ["x", "--engine", "ctranslate2", "--replace-unknowns"],
    ],
)
def test_wrong_usage(run, arguments):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "error: " in err


def test_input_and_output_cannot_be_the_same_file(run, checkpoint, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("A tree.\n")
    (tmp_path / "link.txt").symlink_to(path)
    for output in ("mine.txt", "./mine.txt", "link.txt"):
        status, out, err = run(
            "--input", "mine.txt", "--output", output, "--checkpoint", checkpoint
        )
        assert (status, out) == (1, "")
        assert "--input and --output are the same file" in err
        assert path.read_text() == "A tree.\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_once(run, checkpoint, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    content = "A tree.\n\nI see 3 cars.\n"
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=[content])
    writer.start()
    status, out, _ = run("--input", "pipe", "--checkpoint", checkpoint)
    writer.join(timeout=60)
    assert status == 0
    assert [bool(line) for line in out.splitlines()] == [True, False, True]


def test_a_line_without_visible_characters_has_no_heat_map(run, checkpoint, tmp_path):
    (tmp_path / "in.txt").write_text("\u200b\nA tree.\n", encoding="utf-8")
    status, out, _ = run(
        *("--input", "in.txt", "--attention", "a.html", "--checkpoint", checkpoint)
    )
    assert status == 0
    assert out.splitlines()[0] == ""
    assert len(out.splitlines()) == 2


def test_no_checkpoint_yet(run, monkeypatch, tmp_path):
    monkeypatch.setattr("transformer_tf.commands.project_folder", lambda: tmp_path)
    status, _, err = run("x")
    assert status == 1
    assert "train one with python scripts/train.py" in err


# An untrained model writes characters of any script, which the fonts may lack.
@pytest.mark.filterwarnings("ignore:No installed font")
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_attention(run, checkpoint, tmp_path, kind):
    status, out, err = run(
        "A tree ß.", "--checkpoint", checkpoint, "--attention", "a.png", "--kind", kind
    )
    assert status == 0
    assert len(out.splitlines()) == 1
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert err == "Wrote a.png\n"
    assert os.listdir(tmp_path) == ["a.png"]


@pytest.mark.filterwarnings("ignore:No installed font")
@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_attention_of_every_layer_between_words(run, checkpoint, tmp_path, suffix):
    options = ["--layer", "all", "--head", "mean", "--words", "--hide-special", "--numbers"]
    name = f"a.{suffix}"
    status, _, err = run("A tree.", "--checkpoint", checkpoint, "--attention", name, *options)
    assert (status, err) == (0, f"Wrote {name}\n")
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes()[:5] in (b"%PDF-", b"<?xml")


def test_a_page_of_several_sentences(run, checkpoint, tmp_path):
    (tmp_path / "in.txt").write_text("A tree.\n\n<script>x</script>\n")
    status, out, err = run(
        "--input", "in.txt", "--checkpoint", checkpoint, "--attention", "a.HTML", "--output", "out"
    )
    assert (status, out, err) == (0, "", "Wrote a.HTML\n")
    assert [bool(line) for line in (tmp_path / "out").read_text().split("\n")] == [
        True,
        False,
        True,
        False,
    ]
    page = (tmp_path / "a.HTML").read_text()
    assert '"source":"A tree."' in page
    assert page.count("<script") == 2


def test_the_alignment_follows_the_translation(run, checkpoint, tmp_path):
    (tmp_path / "in.txt").write_text("A tree.\n\nI see 3 cars.\n")
    arguments = ["--input", "in.txt", "--checkpoint", checkpoint, "--alignment", "pharaoh"]
    status, out, _ = run(*arguments)
    assert status == 0
    first, empty, _ = out.splitlines()
    translation, alignment = first.split("\t")
    links = [tuple(map(int, link.split("-"))) for link in alignment.split()]
    assert sorted(target for _, target in links) == list(range(len(translation.split())))
    assert {source for source, _ in links} <= {0, 1}
    assert empty == ""
    status, out, _ = run(*arguments, "--json")
    hypothesis = json.loads(out.splitlines()[0])["hypotheses"][0]
    assert [tuple(link) for link in hypothesis["alignment"]] == links
    status, out, _ = run(*arguments, "--scores")
    assert [line.count("\t") for line in out.splitlines()] == [2, 0, 2]


def test_the_prompt_ends_at_the_end_of_input(run, checkpoint):
    lines = b"A tree.\nI s\xe9e 3 cars.\n"
    status, out, err = run("--checkpoint", checkpoint, stdin=lines, terminal=True)
    assert status == 0
    assert [bool(line) for line in out.split("\n")] == [True, True, False]
    assert err.startswith("Type a sentence and press Enter. :help shows more.\n")
    assert err.count("> ") == 3


@pytest.mark.parametrize("end", ["", "  ", ":quit", "quit", "exit"])
def test_the_prompt_ends_at_an_empty_line_or_quit(run, checkpoint, end):
    lines = f"A tree.\n{end}\nA tree.\n".encode()
    status, out, err = run("--checkpoint", checkpoint, stdin=lines, terminal=True)
    assert status == 0
    assert len(out.splitlines()) == 1
    assert err.count("> ") == 2


def test_the_prompt_has_help(run, checkpoint):
    status, out, err = run("--checkpoint", checkpoint, stdin=b":help\n", terminal=True)
    assert (status, out) == (0, "")
    assert ":help shows this text. quit, exit, an empty line or Ctrl-D ends the program." in err


def test_a_text_in_the_other_language_is_noted_once(run, checkpoint, tmp_path):
    german = "Das ist nicht der Baum."
    for arguments in ([german], [german, "--attention", "a.html"]):
        status, out, err = run(*arguments, "--checkpoint", checkpoint)
        assert status == 0
        assert len(out.splitlines()) == 1
        assert err.startswith(
            "note: the text seems to be German, but this translator reads English"
        )
    lines = f"A tree.\n{german}\n{german}\n".encode()
    err = run("--checkpoint", checkpoint, stdin=lines, terminal=True)[2]
    assert err.count("note: ") == 1


def test_a_sentence_without_quotes(run):
    status, _, err = run("Good", "--seed", "1", "morning,", "Tom")
    assert status == 2
    assert err.endswith('error: put the sentence in quotes: "Good morning, Tom"\n')
    assert run("Good", "")[0] == 2
    status, _, err = run("Good", "--sede", "1")
    assert err.endswith("error: unrecognized arguments: --sede 1\n")
