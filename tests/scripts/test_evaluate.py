import json
import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "evaluate.py"
SOURCES = "I see 3 red cars.\nA tree.\n"
REFERENCES = "Ich sehe 3 rote Autos.\nEin Baum.\n"


@pytest.fixture
def run(monkeypatch, capfd, tmp_path, checkpoint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en.txt").write_text(SOURCES)
    (tmp_path / "de.txt").write_text(REFERENCES)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), "--checkpoint", str(checkpoint), *arguments])
        with pytest.raises(SystemExit) as exit_:
            runpy.run_path(str(SCRIPT), run_name="__main__")
        output = capfd.readouterr()
        return exit_.value.code, output.out, output.err

    return run


FILES = ("--source", "en.txt", "--reference", "de.txt")


def test_files_as_text_and_as_json(run):
    status, out, _ = run(*FILES, "--worst", "1", "--resamples", "20")
    assert status == 0
    assert "2 sentences in" in out and "bs:20" in out
    assert "sentences with the lowest chrF" in out
    mixed = ("--json", "decoding.beam_size=1", "--resamples", "0", "decoding.max_length=9")
    status, out, _ = run(*FILES, *mixed, "--lowercase")
    assert status == 0
    found = json.loads(out)
    assert found["sentences"] == 2
    assert [metric["name"] for metric in found["metrics"]] == ["BLEU", "chrF", "chrF++", "TER"]
    assert "case:lc" in found["metrics"][0]["signature"]
    assert len(found["worst"]) == 2


def test_a_table_is_scored_like_two_files(run, tmp_path):
    lines = zip(REFERENCES.splitlines(), SOURCES.splitlines(), strict=True)
    (tmp_path / "pairs😀.csv").write_text("".join(f'{a};"{b}"\n' for a, b in lines))
    options = ("--json", "--resamples", "0")
    _, expected, _ = run(*FILES, *options)
    status, out, _ = run("pairs😀.csv", "data.columns=[2, 1]", *options)
    assert status == 0
    assert json.loads(out)["metrics"] == json.loads(expected)["metrics"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--source", "en.txt"], 2, "--reference"),
        ([*FILES, "--split", "test"], 2, "--split"),
        ([*FILES, "pairs.tsv"], 2, "a table"),
        (["no.tsv"], 1, "no.tsv"),
        (["--worst", "-1"], 2, "--worst"),
        (["--resamples", "1"], 2, "--resamples"),
        (["--source", "en.txt", "--reference", "one.txt"], 1, "one.txt"),
        (["--source", "no.txt", "--reference", "de.txt"], 1, "no.txt"),
        (["--split", "validation"], 1, "no validation pairs"),
        ([*FILES, "model.d_model=3"], 1, "decoding."),
    ],
)
def test_errors_are_one_line(run, tmp_path, arguments, status, message):
    (tmp_path / "one.txt").write_text("Ein Satz.\n")
    found, out, err = run(*arguments)
    assert (found, out) == (status, "")
    assert message in err.splitlines()[-1]
