"""Weights without Keras."""

import re
import shutil
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest

from tests.conftest import SOURCE_VOCAB, TARGET_VOCAB, make_model
from transformer_tf.checkpoint import load_weights
from transformer_tf.errors import CheckpointError
from transformer_tf.export.checkpoint_export import quantize_file
from transformer_tf.weights import (
    model_weights,
    quantize,
    read_weights,
    weight_shapes,
)

SIZES = {
    "num_layers": 12,
    "d_model": 6,
    "d_ff": 17,
    "source_vocab_size": SOURCE_VOCAB,
    "target_vocab_size": TARGET_VOCAB,
}
SHAPES = weight_shapes(**SIZES)
BIAS = "layers/dense/vars/1"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.weights.h5"
    make_model(num_layers=12).save_weights(path)
    return path


@pytest.fixture
def file(saved, tmp_path):
    return shutil.copyfile(saved, tmp_path / saved.name)


def test_names_are_those_of_the_layers(file):
    weights = read_weights(file, SHAPES)
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


@pytest.mark.parametrize(
    "changes", [{}, {"pre_norm": True, "position": "learned", "max_length": 40}], ids=str
)
def test_the_weights_of_a_model_are_those_of_its_file(tmp_path, changes):
    model = make_model(num_layers=12, dtype="mixed_bfloat16", **changes)
    model.save_weights(tmp_path / "model.weights.h5")
    shapes = weight_shapes(**model.get_config())
    expected = read_weights(tmp_path / "model.weights.h5", shapes)
    found = model_weights(model)
    keras.tree.assert_same_structure(found, expected)
    for ours, theirs in zip(keras.tree.flatten(found), keras.tree.flatten(expected), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    other = make_model(num_layers=12, dtype="mixed_bfloat16", **changes)
    load_weights(other, tmp_path / "model.weights.h5")
    for ours, theirs in zip(other.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_quantized_weights_are_near(file):
    whole = read_weights(file, SHAPES)
    quantize_file(file)
    for old, new in zip(*map(keras.tree.flatten, (whole, read_weights(file, SHAPES))), strict=True):
        assert new.dtype == np.float32
        np.testing.assert_allclose(old, new, atol=np.abs(old).max() / 254 * 1.01)


@pytest.mark.parametrize("axis", [0, 1])
def test_quantized_rows_stay_as_they_are(axis):
    matrix = np.random.default_rng(0).normal(size=(5, 7)).astype("float32")
    steps, scales = quantize(matrix, axis)
    np.testing.assert_array_equal(quantize(steps * scales, axis)[0], steps)


def test_damaged_files_are_an_error(file):
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(CheckpointError, match=file.name):
        read_weights(file, SHAPES)


def store_elsewhere(file, shape, kind):
    """Makes the file read its bias from another file, whose content is not its own."""
    Path(file.filename).with_name("secret").write_bytes(b"\0\0\x80?" * 100)
    if kind == "external":
        file.create_dataset(BIAS, shape, "float32", external=[("secret", 0, 400)])
    elif kind == "virtual":
        layout = h5py.VirtualLayout(shape, "float32")
        layout[:] = h5py.VirtualSource("other.h5", "numbers", shape)
        file.create_virtual_dataset(BIAS, layout)
    elif kind == "external link":
        file[BIAS] = h5py.ExternalLink("other.h5", "numbers")
    elif kind == "soft link":
        file[BIAS] = h5py.SoftLink("/decoder/norm/vars/0")
    elif kind == "never written":
        file.create_dataset(BIAS, shape, "float32")
    elif kind == "compressed":
        file.create_dataset(BIAS, data=np.zeros(shape, "float32"), compression="gzip")
    else:
        file[BIAS] = np.zeros(shape, kind)


@pytest.mark.parametrize(
    "kind",
    ["external", "virtual", "external link", "soft link", "never written", "compressed"]
    + ["int32", "float64", "S4", "bool"],
)
def test_weights_are_numbers_in_the_file_itself(file, kind):
    with h5py.File(file.with_name("other.h5"), "w") as other:
        other["numbers"] = np.ones(TARGET_VOCAB, "float32")
    with h5py.File(file, "a") as weights:
        shape = weights[BIAS].shape
        del weights[BIAS]
        store_elsewhere(weights, shape, kind)
    with pytest.raises(CheckpointError, match=BIAS):
        read_weights(file, SHAPES)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"num_layers": 11}, "layer_11"),
        ({"num_layers": 13}, "layer_12"),
        ({"num_decoder_layers": 3}, "decoder_layer_10"),
        ({"pre_norm": True}, "decoder/norm/vars/0 is missing"),
        ({"tie_embeddings": "target"}, "layers/dense/vars/0 is not part"),
        ({"d_ff": 19}, "(6, 17) instead of (6, 19)"),
        ({"d_model": 10**9}, "instead of"),
    ],
)
def test_an_array_of_another_model_is_named(file, changes, named):
    with pytest.raises(CheckpointError, match=re.escape(named)):
        read_weights(file, weight_shapes(**{**SIZES, **changes}))


def test_weights_that_are_not_finite_are_an_error(file):
    with h5py.File(file, "a") as weights:
        weights["layers/dense/vars/1"][3] = np.nan
    with pytest.raises(CheckpointError, match=file.name):
        read_weights(file, SHAPES)
