"""The translator that a name, a folder or two languages choose."""

import argparse
import os
import shutil
from pathlib import Path

import pytest

from transformer_tf import Translator
from transformer_tf.catalog import available, entries_in, find_checkpoint, find_pair
from transformer_tf.commands.checkpoints import newest_run, translator_table
from transformer_tf.commands.serve import served_checkpoints
from transformer_tf.errors import CheckpointError, ConfigError

ROOT = Path(__file__).resolve().parents[2]


def add(checkpoint, library, name, languages):
    """Copies a checkpoint and changes its languages."""
    folder = shutil.copytree(checkpoint, library / name)
    (folder / "hashes.txt").unlink()
    source, target = languages.split("-")
    text = (folder / "config.yaml").read_text()
    text = text.replace("source_language: en", f"source_language: {source}")
    (folder / "config.yaml").write_text(
        text.replace("target_language: de", f"target_language: {target}")
    )
    return folder


@pytest.fixture
def library(checkpoint, tmp_path, monkeypatch):
    """The folder of the user's checkpoints, beside the shipped ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRANSFORMER_TF_CHECKPOINTS", str(tmp_path / "library"))
    add(checkpoint, tmp_path / "library", "small", "de-en")
    return tmp_path / "library"


def test_the_order_of_names(checkpoint, library, tmp_path):
    shipped = find_checkpoint("de-en")
    assert shipped.parent.name == "checkpoints"
    for place in (library, tmp_path / "runs", tmp_path):
        folder = add(checkpoint, place, "de-en", "de-en")
        assert find_checkpoint("de-en").resolve() == folder
        assert repr(Translator.load("de-en")) == repr(Translator.load(folder))
    assert find_checkpoint(shipped) == shipped
    with pytest.raises(CheckpointError, match="no translator xx: .*de-en.* small, en-de, en-es"):
        find_checkpoint("xx")
    with pytest.raises(CheckpointError, match="contains library/de-en, library/small"):
        find_checkpoint("library")


def test_every_name_is_listed_and_loads(library):
    found = {entry.name: entry for entry in available()}
    assert list(found) == ["small", "de-en", "en-de", "en-es"]
    assert found["small"].bleu is None
    for name, entry in found.items():
        assert find_checkpoint(name) == entry.folder
        (line,) = [each for each in translator_table().splitlines() if each.startswith(name)]
        assert line.endswith(str(entry.folder))


@pytest.mark.parametrize("report", ['{"metr', "[]", "{}", '{"metrics": 3}', '{"metrics": [[]]}'])
def test_a_damaged_report_gives_no_score(library, report):
    (library / "small" / "test.json").write_text(report)
    assert available()[0].bleu is None


def test_the_listed_scores_are_those_of_the_readme():
    readme = (ROOT / "README.md").read_text("utf-8")
    for entry in entries_in(ROOT / "checkpoints"):
        assert f"(checkpoints/{entry.name}/MODEL_CARD.md) | {entry.bleu:.1f} |" in readme


def test_a_pair_of_languages(checkpoint, library, monkeypatch):
    assert find_pair("de") == find_pair("German", "en-GB") == library / "small"
    assert find_pair(None, "ES").name == "en-es"
    add(checkpoint, library, "large", "de-en")
    with pytest.raises(CheckpointError, match="from: --checkpoint large, --checkpoint small$"):
        find_pair("de")
    with pytest.raises(CheckpointError, match="from: --from en --to de, --from en --to es$"):
        find_pair("en")
    with pytest.raises(CheckpointError, match="to fr; choose from: --from de --to en, --from en"):
        find_pair(None, "French")
    monkeypatch.setenv("TRANSFORMER_TF_CHECKPOINTS", "nowhere")
    with pytest.raises(CheckpointError, match="nowhere"):
        find_pair("de")


def test_what_is_served(checkpoint, library, tmp_path, monkeypatch):
    """All named translators that are no runs, also if a folder of runs is the chosen one."""
    unnamed = argparse.Namespace(checkpoint=None, from_language=None, to_language=None)
    run = add(checkpoint, tmp_path / "runs", "run", "fr-en")
    assert list(served_checkpoints(unnamed)) == [("en", "de"), ("de", "en"), ("en", "es")]
    monkeypatch.setenv("TRANSFORMER_TF_CHECKPOINTS", "runs")
    assert served_checkpoints(unnamed)["fr", "en"].resolve() == run
    same = [add(checkpoint, tmp_path / place, "best", f"{place}-en") for place in ("es", "fr")]
    named = argparse.Namespace(checkpoint=same, from_language=None, to_language=None)
    with pytest.raises(ConfigError, match="different folder names"):
        served_checkpoints(named)


def test_the_newest_of_several_runs(checkpoint, tmp_path, capsys):
    runs = tmp_path / "runs"
    for age, name, languages in ((50, "old", "en-de"), (10, "new", "en-es"), (30, "mid", "de-en")):
        path = add(checkpoint, runs, name, languages) / "last.weights.h5"
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    (runs / "empty").mkdir()
    assert newest_run(runs) == runs / "new"
    assert capsys.readouterr() == ("", f"Using {runs / 'new'}\n")
    assert newest_run(runs / "old") is newest_run(runs / "empty") is None
    (runs / "new" / "last.weights.h5").rename(runs / "new" / "best.weights.h5")
    with pytest.raises(CheckpointError, match=rf"{runs / 'mid'}, --checkpoint {runs / 'new'}"):
        newest_run(runs)
