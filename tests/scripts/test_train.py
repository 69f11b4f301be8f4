import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SETTINGS
from transformer_tf.commands.train import default_config, few_pairs_note, main
from transformer_tf.config import DataConfig, load_config, load_saved_config
from transformer_tf.errors import TransformerTFError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def command_line(tmp_path, monkeypatch):
    """Sets the arguments of a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: monkeypatch.setattr(sys, "argv", ["train.py", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "found", "not_found"),
    [
        (["--help"], ["model.d_model=128", "--config FILE"], "decoding.beam_size"),
        (["--help", "all"], ["decoding.beam_size=1"], "--config FILE"),
    ],
)
def test_help_lists_the_keys(command_line, capsys, arguments, found, not_found):
    command_line(*arguments)
    with pytest.raises(SystemExit, match="0"):
        main()
    text = capsys.readouterr().out
    assert all(each in text for each in found)
    assert not_found not in text


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        ([], "quickstart"),
        (["data.corpus=tatoeba"], "own"),
        (["data.files=[[a.tsv]]"], "own"),
        (["data.files=[[a.tsv]]", "training.start_from=checkpoints/en-de"], "fine_tune"),
    ],
)
def test_the_default_configuration_fits_the_corpus(overrides, name):
    assert default_config(overrides) == name


def test_the_note_on_few_pairs_has_a_command_that_loads():
    overrides = ["data.files=[['my file.tsv']]", "model.d_model=64", "tokenizer.vocab_size=900"]
    note = few_pairs_note(3000, DataConfig(), overrides)
    command = shlex.split(note.splitlines()[1])
    assert command == ["transformer-tf-train", overrides[0], "training.start_from=en-de"]
    config = load_config(default_config(command[1:]), command[1:])
    assert config.data.files == (("my file.tsv",),)
    theirs = load_saved_config(ROOT / "checkpoints" / "en-de" / "config.yaml")
    assert config.tokenizer == theirs.tokenizer
    unknown = few_pairs_note(300, DataConfig(target_language="fi"), overrides)
    assert unknown.splitlines()[1].endswith(" training.start_from=DIR")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["model.d_modle=3"], "model.d_model"),
        (["--config", "no"], "no: give a file or one of article, .*, tatoeba"),
        (["data.corpus=phrasbook"], "phrasbook"),
        (["--resume", "a", "--name", "b"], "--name"),
        (["--resume", "missing"], "no such folder"),
        (["--resume", ROOT / "checkpoints" / "en-de"], "training.start_from="),
        (["--name", ".."], "--name"),
        (["--processes", "2"], "--name"),
        (["--processes", "2", "--dry-run"], "--dry-run"),
    ],
)
def test_errors(command_line, tmp_path, arguments, named):
    command_line(*arguments)
    with pytest.raises(TransformerTFError, match=named):
        main()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "folder"),
    [("mine", "runs/mine"), ("some/where", "some/where"), ("./here", "here")],
)
def test_the_folder_of_a_run(command_line, tmp_path, name, folder):
    """A plain name is one in `runs`. Here, the folder is not empty."""
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "file").touch()
    command_line("--name", name)
    with pytest.raises(TransformerTFError, match=f"^{folder} already contains files"):
        main()


def test_a_dry_run(command_line, data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("transformer_tf.runs.dry_run.seconds_per_step", lambda *_: 0.5)
    command_line(*SETTINGS[:3], "--dry-run", *SETTINGS[3:])
    main()
    output = capsys.readouterr()
    assert "10 random pairs" in output.out
    assert "training pairs are few" in output.err
    assert list(tmp_path.iterdir()) == []


def train(*arguments, cwd):
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "train.py", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=500,
        cwd=cwd,
    )


@pytest.mark.slow
def test_the_quickstart_in_small(tmp_path):
    """The default command with 20 steps writes every file, and names what comes next."""
    result = train(
        "data.held_out_size=20",
        "training.max_epochs=1",
        "training.max_steps=20",
        "training.max_minutes=60",
        "training.patience=2",
        "training.max_buckets=1",
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
    longer = result.stdout.splitlines()[-1].partition(f"--resume runs/{run.name} ")[2]
    limits = ["max_epochs=2", "max_steps=40", "max_minutes=120.0", "patience=4"]
    assert longer == " ".join(f"training.{limit}" for limit in limits)

    again = train("--resume", "runs", cwd=tmp_path)
    assert again.returncode == 0
    assert again.stderr.startswith(f"Using runs/{run.name}\nruns/{run.name} is finished")
    assert longer in again.stderr
    assert again.stdout == ""
