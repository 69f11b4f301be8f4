import os
import shutil

import h5py
import numpy as np
import pytest

from transformer_tf.checkpoint import find_checkpoint, load_checkpoint, save_weights
from transformer_tf.errors import CheckpointError


@pytest.fixture
def copy(checkpoint, tmp_path):
    return shutil.copytree(checkpoint, tmp_path / "copy")


def test_best_weights_before_the_last(copy):
    _, model, *_ = load_checkpoint(copy)
    changed = [weight + 1 for weight in model.get_weights()]
    model.set_weights(changed)
    save_weights(model, copy / "best.weights.h5")
    _, again, *_ = load_checkpoint(copy)
    np.testing.assert_array_equal(again.get_weights()[0], changed[0])


def test_weights_with_the_names_of_older_versions(copy):
    """Older files name a norm `self_attention_residual/norm`, for example."""
    _, model, *_ = load_checkpoint(copy)
    path = copy / "last.weights.h5"
    norms = []
    with h5py.File(path, "r+") as file:
        file.visit(lambda name: norms.append(name) if name.endswith("_norm") else None)
        for name in norms:
            file.move(name, name.removesuffix("_norm") + "_residual/norm")
    assert len(norms) == 2 * 2 + 2 * 3  # two encoder layers and two decoder layers
    older = path.read_bytes()
    _, again, *_ = load_checkpoint(copy)
    for weight, expected in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, expected)
    assert path.read_bytes() == older


def test_a_failed_save_leaves_the_old_weights(copy, monkeypatch):
    _, model, *_ = load_checkpoint(copy)
    before = (copy / "last.weights.h5").read_bytes()

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    names = sorted(os.listdir(copy))
    with pytest.raises(CheckpointError, match="last.weights.h5: No space left on device"):
        save_weights(model, copy / "last.weights.h5")
    assert (copy / "last.weights.h5").read_bytes() == before
    assert sorted(os.listdir(copy)) == names


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "config.yaml").unlink(), "it has no config.yaml"),
        (lambda folder: (folder / "last.weights.h5").unlink(), "has no weights yet"),
        (lambda folder: (folder / "tokenizers/target.model").unlink(), "target.model is missing"),
        (lambda folder: os.truncate(folder / "last.weights.h5", 9000), "is damaged"),
        (lambda folder: (folder / "last.weights.h5").write_bytes(b""), "is damaged"),
        (
            lambda folder: (folder / "config.yaml").write_text(
                (folder / "config.yaml").read_text().replace("d_model: 8", "d_model: 16")
            ),
            "is damaged or belongs to another model",
        ),
        (lambda folder: (folder / "config.yaml").write_text("model:\n  size: 3\n"), "model.size"),
    ],
)
def test_damage_is_reported_in_one_line(copy, damage, message):
    damage(copy)
    with pytest.raises(CheckpointError, match=message) as error:
        load_checkpoint(copy)
    assert "\n" not in str(error.value)


def test_find_the_shipped_translator_else_the_latest_run(checkpoint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match="train one with python scripts/train.py"):
        find_checkpoint(tmp_path)
    for age, name in ((50, "old"), (10, "new"), (30, "middle")):
        shutil.copytree(checkpoint, tmp_path / "runs" / name)
        path = tmp_path / "runs" / name / "last.weights.h5"
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    (tmp_path / "runs" / "empty").mkdir()
    assert find_checkpoint(tmp_path) == tmp_path / "runs" / "new"
    shutil.copytree(checkpoint, tmp_path / "checkpoints" / "en-de")
    assert find_checkpoint(tmp_path) == tmp_path / "checkpoints" / "en-de"
    assert find_checkpoint(tmp_path, tmp_path / "runs") == tmp_path / "runs" / "new"
    assert find_checkpoint(tmp_path, tmp_path / "runs" / "old") == tmp_path / "runs" / "old"
    with pytest.raises(CheckpointError, match="nowhere is not a checkpoint: there is no such"):
        find_checkpoint(tmp_path, tmp_path / "nowhere")


def test_a_translator_is_found_by_its_languages(checkpoint, tmp_path):
    for source, target in (("en", "de"), ("de", "en"), ("en", "es")):
        folder = shutil.copytree(checkpoint, tmp_path / "checkpoints" / f"{source}-{target}")
        text = (folder / "config.yaml").read_text()
        text = text.replace("source_language: en", f"source_language: {source}")
        text = text.replace("target_language: de", f"target_language: {target}")
        (folder / "config.yaml").write_text(text)
    checkpoints = tmp_path / "checkpoints"
    assert find_checkpoint(tmp_path, None, "de", "en") == checkpoints / "de-en"
    assert find_checkpoint(tmp_path, None, "de") == checkpoints / "de-en"
    assert find_checkpoint(tmp_path, None, None, "es") == checkpoints / "en-es"
    offered = "choose from: --from de --to en, --from en --to de, --from en --to es"
    with pytest.raises(CheckpointError, match=f"There is no translator from fr in .*; {offered}"):
        find_checkpoint(tmp_path, None, "fr")
    offered = "choose from: --from en --to de, --from en --to es"
    with pytest.raises(CheckpointError, match=f"Several translators go from en in .*; {offered}"):
        find_checkpoint(tmp_path, None, "en")
    second = shutil.copytree(checkpoints / "de-en", checkpoints / "de-en-2")
    offered = f"choose from: --checkpoint {checkpoints / 'de-en'}, --checkpoint {second}"
    with pytest.raises(CheckpointError, match=f"Several translators go from de in .*; {offered}"):
        find_checkpoint(tmp_path, None, "de")


def test_the_latest_run_is_named(checkpoint, tmp_path, monkeypatch, capsys):
    """Also when the newest run was stopped before its first validation."""
    monkeypatch.chdir(tmp_path)
    runs = tmp_path / "runs"
    trained = shutil.copytree(checkpoint, runs / "trained")
    assert find_checkpoint(tmp_path) == trained
    assert capsys.readouterr() == ("", f"Using {trained}\n")
    stopped = runs / "stopped"
    stopped.mkdir()
    shutil.copyfile(checkpoint / "config.yaml", stopped / "config.yaml")
    modified = (trained / "config.yaml").stat().st_mtime + 5
    os.utime(stopped / "config.yaml", (modified, modified))
    assert find_checkpoint(tmp_path, runs) == trained
    assert capsys.readouterr().err == (
        f"Using {trained} ({stopped} is newer but has no weights yet)\n"
    )
    assert find_checkpoint(tmp_path, trained) == trained
    assert capsys.readouterr().err == ""


def test_a_full_disk_is_detected_before_writing(copy, monkeypatch):
    _, model, *_ = load_checkpoint(copy)
    usage = shutil.disk_usage(copy)._replace(free=1000)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage)
        patch.setattr(type(model), "save_weights", lambda *_: pytest.fail("begun"))
        with pytest.raises(CheckpointError, match="last.weights.h5: No space left on device"):
            save_weights(model, copy / "last.weights.h5")

    def full(*_):  # HDF5's error when, for example, a quota is exceeded
        raise RuntimeError("Unable to flush\nfile")

    monkeypatch.setattr(type(model), "save_weights", full)
    with pytest.raises(CheckpointError, match="last.weights.h5: Unable to flush file"):
        save_weights(model, copy / "last.weights.h5")


def test_nan_weights_are_refused(copy):
    """Their translations would all be empty."""
    _, model, *_ = load_checkpoint(copy)
    weights = model.get_weights()
    weights[-1].flat[0] = np.nan
    model.set_weights(weights)
    save_weights(model, copy / "best.weights.h5")
    with pytest.raises(CheckpointError, match="best.weights.h5 has NaN or infinite weights"):
        load_checkpoint(copy)
