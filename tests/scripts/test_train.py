import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def train(*arguments, cwd):
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "train.py", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=500,
        cwd=cwd,
    )


def test_help_lists_the_keys(tmp_path):
    result = train("--help", cwd=tmp_path)
    assert result.returncode == 0
    assert "model.d_model=128" in result.stdout
    assert "--config FILE" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.d_modle=3"], "Unknown configuration key 'model.d_modle'; did you mean"),
        (["model.d_model=x"], "model.d_model must be int, not 'x'"),
        (["--config", "no.yaml"], "Cannot read the configuration no.yaml: No such file"),
        (["data.corpus=phrasbook"], "Unknown corpus 'phrasbook'"),
    ],
)
def test_errors_are_one_line(tmp_path, arguments, message):
    result = train(*arguments, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_download_is_named(tmp_path):
    (tmp_path / "data" / "tatoeba").mkdir(parents=True)
    zip_file = tmp_path / "data" / "tatoeba" / "deu-eng.zip"
    zip_file.write_bytes(b"PK\x03\x04 broken off")
    result = train("data.corpus=tatoeba", "data.directory=data", cwd=tmp_path)
    assert result.returncode == 1
    assert "deu-eng.zip is damaged or not what its name says" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_the_quickstart_in_small(tmp_path):
    """The default command, its epochs cut: every file it promises, and a translator after it."""
    result = train(
        "data.max_pairs=600",
        "data.validation_size=20",
        "data.test_size=20",
        "training.max_epochs=1",
        "model.num_layers=1",
        "tokenizer.vocab_size=500",
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert run.name.startswith("quickstart-")
    for name in ("best.weights.h5", "attention.png", "curves.png", "samples.txt", "test.json"):
        assert (run / name).stat().st_size > 0
    assert "BLEU" in result.stdout
    assert "  epoch 1  " in result.stderr
    assert "val_bleu" in result.stderr
    assert "tokens_per_second" in result.stderr
    assert "Traceback" not in result.stderr

    evaluate = subprocess.run(
        [sys.executable, ROOT / "scripts" / "evaluate.py", "--checkpoint", run, "--resamples", "0"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )
    assert evaluate.returncode == 0, evaluate.stderr
    # The same sentences, the same score as at the end of the run.
    ends = [
        next(line.split() for line in output.splitlines() if line.startswith("BLEU"))
        for output in (result.stdout, evaluate.stdout)
    ]
    assert ends[0] == ends[1]
