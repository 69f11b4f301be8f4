"""Weights without Keras."""

import h5py
import keras
import numpy as np
import pytest

from tests.conftest import make_model
from transformer_tf.errors import CheckpointError
from transformer_tf.export.checkpoint_export import halve
from transformer_tf.weights import model_weights, read_weights


@pytest.fixture
def file(tmp_path):
    make_model(num_layers=12).save_weights(tmp_path / "model.weights.h5")
    return tmp_path / "model.weights.h5"


def test_names_are_those_of_the_layers(file):
    weights = read_weights(file)
    assert set(weights) == {
        "source_embedding", "target_embedding", "encoder", "decoder", "output_projection"
    }  # fmt: skip
    layer = weights["decoder"]["layers"][0]
    assert set(layer) == {
        "self_attention", "self_attention_norm", "cross_attention", "cross_attention_norm",
        "feed_forward", "feed_forward_norm",
    }  # fmt: skip
    kernel, bias = layer["feed_forward"]["hidden"]
    assert kernel.shape == (6, 17)
    assert bias.shape == (17,)


@pytest.mark.parametrize("changes", [{}, {"pre_norm": True, "position": "learned"}], ids=str)
def test_the_weights_of_a_model_are_those_of_its_file(tmp_path, changes):
    model = make_model(num_layers=12, dtype="mixed_bfloat16", **changes)
    model.save_weights(tmp_path / "model.weights.h5")
    expected = read_weights(tmp_path / "model.weights.h5")
    found = model_weights(model)
    keras.tree.assert_same_structure(found, expected)
    for ours, theirs in zip(keras.tree.flatten(found), keras.tree.flatten(expected), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_halved_weights_are_read_in_float32(file):
    halve(file)
    array = read_weights(file)["source_embedding"][0]
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, array.astype("float16"))


def test_damaged_files_are_an_error(file):
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(CheckpointError, match=file.name):
        read_weights(file)


@pytest.mark.parametrize("name", ["dense/vars/0", "numbers"])
def test_the_weights_of_another_model_are_an_error(tmp_path, name):
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other[name] = np.ones(3)
    with pytest.raises(CheckpointError, match="other.h5"):
        read_weights(tmp_path / "other.h5")


def test_weights_that_are_not_finite_are_an_error(file):
    with h5py.File(file, "a") as weights:
        weights["layers/dense/vars/1"][3] = np.nan
    with pytest.raises(CheckpointError, match=file.name):
        read_weights(file)
