"""The forward pass in NumPy against the Keras model, for every kind of model."""

import numpy as np
import pytest

from tests.conftest import make_model
from transformer_tf.numpy_transformer import (
    SMALL_PRODUCT,
    NumpyTransformer,
    position_table,
    product,
)
from transformer_tf.weights import read_weights, weight_shapes

KINDS = {
    "the paper's": {},
    "pre-norm, target tied": {"pre_norm": True, "tie_embeddings": "target"},
    "all tied, learned positions": {
        "tie_embeddings": "all",
        "source_vocab_size": 11,
        "position": "learned",
        "max_length": 40,
    },
    "pre-norm, a shallow decoder": {"pre_norm": True, "num_layers": 3, "num_decoder_layers": 1},
}


def to_numpy(model, folder):
    """The same model without Keras, by way of a file."""
    model.save_weights(folder / "model.weights.h5")
    weights = read_weights(folder / "model.weights.h5", weight_shapes(**model.get_config()))
    padding = {"pad_id": model.pad_id} if model.pad_id else {}  # by default 0
    return NumpyTransformer(weights, model.num_heads, model.pre_norm, **padding)


@pytest.fixture(scope="module", params=KINDS.values(), ids=KINDS)
def models(request, tmp_path_factory):
    model = make_model(**request.param)
    return model, to_numpy(model, tmp_path_factory.mktemp("weights"))


@pytest.fixture
def padded(inputs):
    inputs = {name: ids.clip(max=10) for name, ids in inputs.items()}
    inputs["source"][1, 4:] = 0
    inputs["target_input"][0, 3:] = 0
    return inputs


def test_logits_and_scores_equal_those_of_the_keras_model(models, padded):
    model, ours = models
    logits, scores = model(padded, return_attention_scores=True)
    found, found_scores = ours(**padded)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, logits, atol=1e-5)
    assert set(found_scores) == set(scores)
    for kind, layers in scores.items():
        assert len(found_scores[kind]) == len(layers)
        for layer, expected in zip(found_scores[kind], layers, strict=True):
            np.testing.assert_allclose(layer, expected, atol=1e-5)


def test_steps_with_a_cache_equal_one_pass(models, padded):
    _, model = models
    source, target = padded["source"], padded["target_input"].clip(min=1)
    expected, scores = model(source, target)
    encoded, _ = model.encode(source)
    cross_cache = model.cross_attention_cache(encoded)
    cache = model.new_cache(*target.shape)
    table = position_table(target.shape[1], model.target_embedding)
    for index in range(target.shape[1]):
        now = slice(index, index + 1)
        start = () if index == 0 else (index,)
        logits, self_scores, cross_scores = model.decode(
            target[:, now], table[now], cross_cache, None, model.padding_mask(source), cache, *start
        )
        assert logits.dtype == np.float32
        np.testing.assert_allclose(logits, expected[:, now], atol=1e-5)
        for found, whole in zip(self_scores, scores["decoder"], strict=True):
            np.testing.assert_allclose(found, whole[:, :, now, : index + 1], atol=1e-5)
        for found, whole in zip(cross_scores, scores["cross"], strict=True):
            np.testing.assert_allclose(found, whole[:, :, now], atol=1e-5)


def test_another_padding_id(padded, tmp_path):
    model = make_model(pad_id=10)
    inputs = {name: np.where(ids == 0, 10, ids.clip(max=9)) for name, ids in padded.items()}
    found, _ = to_numpy(model, tmp_path)(**inputs)
    np.testing.assert_allclose(found, model(inputs), atol=1e-5)
    longer = {**inputs, "source": np.pad(inputs["source"], ((0, 0), (0, 3)), constant_values=10)}
    np.testing.assert_allclose(model(longer), found, atol=1e-5)


def test_a_product_in_strips_is_the_product(random):
    x, kernel = random.normal(size=(3, 101)), random.normal(size=(101, 7919))
    x, kernel = x.astype("float32"), kernel.astype("float32")
    assert x.size * kernel.shape[1] > 2 * SMALL_PRODUCT
    assert product(x, kernel).dtype == np.float32
    np.testing.assert_allclose(product(x, kernel), x @ kernel, atol=1e-4)
