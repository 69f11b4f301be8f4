import dataclasses
import shutil

import numpy as np
import pytest

from transformer_tf.checkpoint import BEST_WEIGHTS, load_checkpoint
from transformer_tf.config import MixConfig, load_config, save_config
from transformer_tf.errors import CheckpointError
from transformer_tf.export.checkpoint_export import export_checkpoint
from transformer_tf.export.folders import new_folder
from transformer_tf.hashes import record_hashes


def test_the_same_model_or_nearly_so_in_8_bits(checkpoint, tmp_path):
    (checkpoint / "samples.txt").write_text("said\n")
    whole, small = tmp_path / "whole", tmp_path / "small"
    export_checkpoint(checkpoint, whole)
    export_checkpoint(checkpoint, small, quantized=True, overrides=["decoding.beam_size=3"])
    old, one, other = (load_checkpoint(folder)[1] for folder in (checkpoint, whole, small))
    for a, b, c in zip(old.get_weights(), one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, atol=np.abs(a).max() / 254 * 1.01)
    sizes = [(folder / BEST_WEIGHTS).stat().st_size for folder in (whole, small)]
    assert sizes[1] < sizes[0]  # of so small a model much is names
    assert load_config(small / "config.yaml").decoding.beam_size == 3
    assert (small / "samples.txt").read_text() == "said\n"


def test_an_export_has_no_local_paths(checkpoint, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(checkpoint, run)
    (run / "state").mkdir()
    here = [f'data.files=[["{tmp_path}/mine.tsv"], ["{tmp_path}/b.en", "{tmp_path}/b.de"]]']
    here.append("data.corpus=files")
    here.append(f'data.mix=[{{files: ["{tmp_path}/more.tsv"], tag: bt}}]')
    config = load_config(run / "config.yaml", here)
    training = dataclasses.replace(config.training, start_from=tmp_path / "first")
    save_config(dataclasses.replace(config, training=training), run / "config.yaml")
    record_hashes(run)
    assert str(tmp_path) in (run / "config.yaml").read_text()
    export_checkpoint(run, tmp_path / "out")
    config = load_config(tmp_path / "out" / "config.yaml")
    assert config.training.start_from is None
    assert config.data.mix == (MixConfig(files=("more.tsv",), tag="bt"),)
    assert config.data.files == (("mine.tsv",), ("b.en", "b.de"))
    assert str(tmp_path) not in (tmp_path / "out" / "config.yaml").read_text()
    assert not (tmp_path / "out" / "state").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "run"]


def test_a_folder_in_use_is_left_alone(checkpoint, tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(CheckpointError, match=str(tmp_path)):
        export_checkpoint(checkpoint, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_an_empty_folder_is_filled(tmp_path):
    """It may be a mount point, or where the user's shell is."""
    output = tmp_path / "out"
    output.mkdir()
    before = output.stat().st_ino
    with new_folder(output) as partial:
        (partial / "sub").mkdir(parents=True)
        (partial / "sub" / "file").write_text("new")
    assert output.stat().st_ino == before
    assert (output / "sub" / "file").read_text() == "new"
    assert [path.name for path in output.iterdir()] == ["sub"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    output = tmp_path / "file" / "model"
    with pytest.raises(CheckpointError, match=str(output)), new_folder(output) as partial:
        partial.mkdir()
