import os
import shutil

import numpy as np
import pytest

from transformer_tf.checkpoint import find_checkpoint, load_checkpoint, load_weights, save_weights
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


def test_the_optimizers_state_is_left_out(copy):
    _, model, *_ = load_checkpoint(copy)
    save_weights(model, copy / "plain.weights.h5")
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    save_weights(model, copy / "compiled.weights.h5")
    sizes = {(copy / f"{name}.weights.h5").stat().st_size for name in ("plain", "compiled")}
    assert len(sizes) == 1
    load_weights(model, copy / "compiled.weights.h5")


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
            "is damaged or not of this model",
        ),
        (lambda folder: (folder / "config.yaml").write_text("model:\n  size: 3\n"), "model.size"),
    ],
)
def test_damage_is_told_in_one_line(copy, damage, message):
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
    assert find_checkpoint(tmp_path, tmp_path / "nowhere") == tmp_path / "nowhere"


def test_a_disk_without_room_is_not_begun_on(copy, monkeypatch):
    _, model, *_ = load_checkpoint(copy)
    usage = shutil.disk_usage(copy)._replace(free=1000)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage)
        patch.setattr(type(model), "save_weights", lambda *_: pytest.fail("begun"))
        with pytest.raises(CheckpointError, match="last.weights.h5: No space left on device"):
            save_weights(model, copy / "last.weights.h5")

    def full(*_):  # what HDF5 says, where a quota is used up for instance
        raise RuntimeError("Unable to flush\nfile")

    monkeypatch.setattr(type(model), "save_weights", full)
    with pytest.raises(CheckpointError, match="last.weights.h5: Unable to flush file"):
        save_weights(model, copy / "last.weights.h5")


def test_weights_that_are_no_numbers_are_refused(copy):
    """They would translate every sentence as nothing."""
    _, model, *_ = load_checkpoint(copy)
    weights = model.get_weights()
    weights[-1].flat[0] = np.nan
    model.set_weights(weights)
    save_weights(model, copy / "best.weights.h5")
    with pytest.raises(CheckpointError, match="best.weights.h5 has weights that are no finite"):
        load_checkpoint(copy)
