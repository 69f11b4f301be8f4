import dataclasses
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from transformer_tf.catalog import weight_files
from transformer_tf.checkpoint import build_model, load_checkpoint, open_checkpoint, save_weights
from transformer_tf.config import save_config
from transformer_tf.errors import CheckpointError
from transformer_tf.hashes import record_hashes


@pytest.fixture
def copy(checkpoint, tmp_path):
    return shutil.copytree(checkpoint, tmp_path / "copy")


def change(path, old, new):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda f: change(f / "config.yaml", b"num_heads: 2", b"num_heads: 4"), "config.yaml"),
        (lambda f: (f / "tokenizers/source.words.txt").unlink(), "source.words.txt"),
        (lambda f: (f / "tokenizers/target.words.txt").touch(), "target.words.txt"),
        (lambda f: change(f / "last.weights.h5", b"\x3e", b"\x3f"), "last.weights.h5"),
        (
            lambda f: [
                shutil.copy(f / f"tokenizers/source{suffix}", f / f"tokenizers/target{suffix}")
                for suffix in (".json", ".model")
            ],
            "target.json",
        ),
    ],
    ids=["configuration", "no word list", "new word list", "flipped bits", "swapped tokenizers"],
)
def test_a_file_that_changed_since_it_was_saved_is_named(copy, damage, named):
    (copy / "tokenizers" / "source.words.txt").write_text("city\ntown\n")
    record_hashes(copy)
    open_checkpoint(copy)
    damage(copy)
    with pytest.raises(CheckpointError, match=f"{named} is not the file that was saved"):
        open_checkpoint(copy)
    (copy / "hashes.txt").unlink()
    open_checkpoint(copy)


def test_the_options_of_the_search_may_be_edited(copy):
    path = copy / "config.yaml"
    change(path, b"beam_size: 1", b"beam_size: 5")
    assert open_checkpoint(copy)[0].decoding.beam_size == 5
    path.write_bytes(path.read_bytes().rstrip().replace(b"\n", b"\r\n"))
    assert open_checkpoint(copy)[0].decoding.beam_size == 5


def test_hidden_and_unfinished_files_do_not_count(copy):
    (copy / ".1-a.part.best.weights.h5").touch()
    (copy / "tokenizers" / ".DS_Store").touch()
    assert weight_files(copy) == [copy / "last.weights.h5"]
    open_checkpoint(copy)
    record_hashes(copy)
    assert "/." not in (copy / "hashes.txt").read_text()
    assert "part" not in (copy / "hashes.txt").read_text()


@pytest.mark.parametrize("replaced", [False, True])
def test_killed_between_the_weights_and_their_hash(copy, monkeypatch, replaced):
    _, model, *_ = load_checkpoint(copy)
    model.set_weights([weight + 1 for weight in model.get_weights()])
    before = (copy / "last.weights.h5").read_bytes()
    real = os.replace

    def killed(source, target):
        if Path(target).name == "last.weights.h5":
            if replaced:
                real(source, target)
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        save_weights(model, copy / "last.weights.h5")
    assert ((copy / "last.weights.h5").read_bytes() == before) is not replaced
    open_checkpoint(copy)


def test_best_weights_before_the_last(copy):
    _, model, *_ = load_checkpoint(copy)
    changed = [weight + 1 for weight in model.get_weights()]
    model.set_weights(changed)
    save_weights(model, copy / "best.weights.h5")
    _, again, *_ = load_checkpoint(copy)
    np.testing.assert_array_equal(again.get_weights()[0], changed[0])


def test_a_failed_save_leaves_the_old_weights(copy, monkeypatch):
    _, model, *_ = load_checkpoint(copy)
    before = (copy / "last.weights.h5").read_bytes()

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    names = sorted(os.listdir(copy))
    with pytest.raises(CheckpointError, match="last.weights.h5"):
        save_weights(model, copy / "last.weights.h5")
    assert (copy / "last.weights.h5").read_bytes() == before
    assert sorted(os.listdir(copy)) == names


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda folder: (folder / "config.yaml").unlink(), "config.yaml"),
        (lambda folder: (folder / "last.weights.h5").unlink(), "last.weights.h5"),
        (lambda folder: (folder / "tokenizers/target.model").unlink(), "target.model"),
        (lambda folder: os.truncate(folder / "last.weights.h5", 9000), "last.weights.h5"),
        (
            lambda folder: (folder / "config.yaml").write_text(
                (folder / "config.yaml").read_text().replace("d_model: 8", "d_model: 16")
            ),
            "last.weights.h5",
        ),
        (lambda folder: (folder / "config.yaml").write_text("model:\n  size: 3\n"), "model.size"),
    ],
)
def test_damage_is_reported_in_one_line(copy, damage, named):
    (copy / "hashes.txt").unlink()
    damage(copy)
    with pytest.raises(CheckpointError, match=named) as error:
        load_checkpoint(copy)
    assert "\n" not in str(error.value)


def test_the_checkpoints_inside_a_folder_are_named(copy):
    with pytest.raises(CheckpointError, match=re.escape(str(copy))):
        load_checkpoint(copy.parent)


def test_learned_positions_do_not_depend_on_the_search(copy):
    config, _, source, target = load_checkpoint(copy)
    model = dataclasses.replace(config.model, position="learned")
    config = dataclasses.replace(config, model=model)
    save_config(config, copy / "config.yaml")
    record_hashes(copy)
    save_weights(build_model(config, source, target), copy / "last.weights.h5")
    _, model, *_ = load_checkpoint(copy, ["decoding.max_length=11"])
    assert model.source_embedding.position_embeddings.shape[0] == config.data.max_length + 2


def test_a_full_disk_is_detected_before_writing(copy, monkeypatch):
    _, model, *_ = load_checkpoint(copy)
    usage = shutil.disk_usage(copy)._replace(free=1000)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage)
        patch.setattr(type(model), "save_weights", lambda *_: pytest.fail("begun"))
        with pytest.raises(CheckpointError, match="last.weights.h5"):
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
    with pytest.raises(CheckpointError, match="best.weights.h5"):
        load_checkpoint(copy)
