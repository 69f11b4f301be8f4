import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from transformer_tf.commands.train import default_config, few_pairs_note, parse_arguments
from transformer_tf.config import DataConfig, load_config, load_saved_config

ROOT = Path(__file__).resolve().parents[2]


def train(*arguments, cwd):
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "train.py", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=500,
        cwd=cwd,
    )


def test_options_and_overrides_in_any_order(monkeypatch):
    arguments = ["training.max_epochs=1", "--config", "a.yaml", "model.d_model=64"]
    monkeypatch.setattr(sys, "argv", ["train.py", *arguments])
    parsed = parse_arguments()
    assert parsed.config == Path("a.yaml")
    assert parsed.overrides == ["training.max_epochs=1", "model.d_model=64"]


def test_help_lists_the_keys(tmp_path):
    result = train("--help", cwd=tmp_path)
    assert result.returncode == 0
    assert "model.d_model=128" in result.stdout
    assert "--config FILE" in result.stdout
    assert "decoding.beam_size" not in result.stdout
    every = train("--help", "all", cwd=tmp_path)
    assert every.returncode == 0
    assert "decoding.beam_size=1" in every.stdout


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        ([], "quickstart"),
        (["training.max_epochs=1", "data.corpus=phrasebook"], "quickstart"),
        (["data.corpus=tatoeba"], "own"),
        (["data.files=[[a.tsv]]"], "own"),
        (["data.files=[[a.tsv]]", "training.start_from=checkpoints/en-de"], "fine_tune"),
    ],
)
def test_the_default_configuration_fits_the_corpus(overrides, name):
    assert default_config(overrides) == ROOT / "configs" / f"{name}.yaml"


def test_the_note_on_few_pairs_has_a_command_that_loads():
    overrides = ["data.files=[['my file.tsv']]", "model.d_model=64", "tokenizer.vocab_size=900"]
    note = few_pairs_note(3000, DataConfig(), overrides)
    assert note.startswith("3 000 training pairs are few.")
    command = shlex.split(note.splitlines()[1])
    start = f"training.start_from={ROOT / 'checkpoints' / 'en-de'}"
    assert command == ["python", "scripts/train.py", overrides[0], start]
    config = load_config(default_config(command[2:]), command[2:])
    assert config.data.files == (("my file.tsv",),)
    theirs = load_saved_config(ROOT / "checkpoints" / "en-de" / "config.yaml")
    assert config.tokenizer == theirs.tokenizer
    unknown = few_pairs_note(300, DataConfig(target_language="fi"), overrides)
    assert unknown.splitlines()[1].endswith(" training.start_from=DIR")
    assert "smaller sizes of configs/own.yaml" in unknown
    assert unknown.startswith(
        "300 training pairs are few. A translator that learns from them alone "
    )
    assert "their words, and" in unknown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.d_modle=3"], "Unknown configuration key 'model.d_modle'; did you mean"),
        (["model.d_model=x"], "model.d_model must be a whole number"),
        (["--config", "no.yaml"], "Cannot read the configuration no.yaml: No such file"),
        (["data.corpus=phrasbook"], "Unknown corpus 'phrasbook'"),
        (["--resume", "a", "--name", "b"], "--name and --dry-run are for new runs"),
        (["--resume", "missing"], "no such folder"),
        (["--resume", ROOT / "checkpoints" / "en-de"], "training.start_from="),
        (["--name", "a/b"], "--name is a name without slashes, not 'a/b'"),
        (["--name", ".."], "--name is a name without slashes, not '..'"),
        (["--name", "a", "training.directory=b"], "both name the folder of the run"),
        (["training.warmup_steps=999999"], "leaves less than half of the run's"),
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
    assert "deu-eng.zip is damaged or has the wrong suffix" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
def test_the_quickstart_in_small(tmp_path):
    """The default command with one epoch writes every file, and a translator that evaluates."""
    result = train(
        "data.max_pairs=600",
        "data.validation_size=20",
        "data.test_size=20",
        "training.max_epochs=1",
        "training.max_minutes=60",
        "training.patience=2",
        "model.num_layers=1",
        "tokenizer.vocab_size=500",
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert run.name.startswith("phrasebook-")
    for name in ("best.weights.h5", "attention.png", "curves.png", "samples.txt", "test.json"):
        assert (run / name).stat().st_size > 0
    assert "BLEU" in result.stdout
    assert "val. loss  perplexity  accuracy  BLEU  chrF  tokens/s" in result.stderr
    assert "Traceback" not in result.stderr
    longer = result.stdout.splitlines()[-1].partition(f"--resume runs/{run.name} ")[2]
    assert longer == "training.max_epochs=2 training.max_minutes=120.0 training.patience=4"

    again = train("--resume", "runs", cwd=tmp_path)
    assert again.returncode == 0
    assert again.stderr.startswith(f"Using runs/{run.name}\nruns/{run.name} is finished")
    assert longer in again.stderr
    assert again.stdout == ""

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
