import shutil
from pathlib import Path

import numpy as np
import pytest

from tools.average import main
from transformer_tf.checkpoint import BEST_WEIGHTS, LAST_WEIGHTS, load_checkpoint, save_weights
from transformer_tf.errors import CheckpointError


def test_the_mean_of_two_checkpoints(checkpoint, tmp_path):
    other = shutil.copytree(checkpoint, tmp_path / "other")
    _, model, *_ = load_checkpoint(other)
    weights = model.get_weights()
    save_weights(model, other / BEST_WEIGHTS)  # does not count
    model.set_weights([weight + 1 for weight in weights])
    save_weights(model, other / LAST_WEIGHTS)
    (other / "state.npz").touch()
    main(checkpoint, other, tmp_path / "mean")
    config, model, *_ = load_checkpoint(tmp_path / "mean")
    for found, weight in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_allclose(found, weight + 0.5, atol=1e-6)
    assert config == load_checkpoint(checkpoint)[0]
    assert not (tmp_path / "mean" / "state.npz").exists()
    with pytest.raises(CheckpointError, match="not empty"):
        main(checkpoint, other, tmp_path / "mean")


def test_models_of_other_shapes_have_no_mean(checkpoint, tmp_path):
    shipped = Path(__file__).parents[2] / "checkpoints" / "en-de"
    with pytest.raises(CheckpointError, match="other shapes"):
        main(checkpoint, shipped, tmp_path / "mean")


def test_models_of_other_vocabularies_have_no_mean(tmp_path):
    shipped = Path(__file__).parents[2] / "checkpoints"
    with pytest.raises(CheckpointError, match="other vocabularies"):
        main(shipped / "en-de", shipped / "en-es", tmp_path / "mean")
