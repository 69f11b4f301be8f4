"""The checkpoint that a command uses."""

import os
import shutil

import pytest

from transformer_tf.commands.checkpoints import find_checkpoint
from transformer_tf.errors import CheckpointError


def test_find_the_shipped_translator_else_the_latest_run(checkpoint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match="scripts/train.py.*--checkpoint"):
        find_checkpoint(tmp_path)
    runs = tmp_path / "runs"
    for age, name in ((50, "old"), (10, "new"), (30, "middle")):
        shutil.copytree(checkpoint, runs / name)
        path = runs / name / "last.weights.h5"
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    (runs / "empty").mkdir()
    assert find_checkpoint(tmp_path).resolve() == runs / "new"
    assert capsys.readouterr() == ("", "Using runs/new\n")
    shutil.copytree(checkpoint, tmp_path / "checkpoints" / "en-de")
    assert find_checkpoint(tmp_path) == tmp_path / "checkpoints" / "en-de"
    assert find_checkpoint(tmp_path, runs) == runs / "new"
    capsys.readouterr()
    assert find_checkpoint(tmp_path, runs / "old") == runs / "old"
    assert capsys.readouterr().err == ""
    with pytest.raises(CheckpointError, match="nowhere"):
        find_checkpoint(tmp_path, tmp_path / "nowhere")


def test_a_translator_is_found_by_its_languages(checkpoint, tmp_path):
    checkpoints = tmp_path / "checkpoints"
    for source, target in (("en", "de"), ("de", "en"), ("en", "es")):
        folder = shutil.copytree(checkpoint, checkpoints / f"{source}-{target}")
        text = (folder / "config.yaml").read_text()
        text = text.replace("source_language: en", f"source_language: {source}")
        text = text.replace("target_language: de", f"target_language: {target}")
        (folder / "config.yaml").write_text(text)
    assert find_checkpoint(tmp_path, None, "de", "en") == checkpoints / "de-en"
    assert find_checkpoint(tmp_path, None, "de") == checkpoints / "de-en"
    assert find_checkpoint(tmp_path, None, None, "es") == checkpoints / "en-es"
    with pytest.raises(CheckpointError, match=r"from fr in .*de-en, .*en-de, .*en-es$"):
        find_checkpoint(tmp_path, None, "fr")
    with pytest.raises(CheckpointError, match=r"from en in .*: --checkpoint \S+en-de, \S+ \S+es$"):
        find_checkpoint(tmp_path, None, "en")
