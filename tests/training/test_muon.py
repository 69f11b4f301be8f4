"""Muon's steps: orthogonal for the matrices of the layers, Adam's for everything else."""

import keras
import numpy as np
import pytest
from keras import ops

from transformer_tf.training.muon import Muon
from transformer_tf.transformer import Transformer

RATE = 0.01


@pytest.fixture
def steps(random):
    """Returns the change of each weight after a step for each scale of the same gradients."""
    model = Transformer(
        num_layers=1,
        d_model=16,
        num_heads=2,
        d_ff=24,
        source_vocab_size=11,
        target_vocab_size=13,
        position="learned",
        max_length=7,
    )
    model.build()
    weights = model.trainable_variables
    gradients = [ops.convert_to_tensor(random.normal(size=v.shape), "float32") for v in weights]

    def step(optimizer, *scales):
        before = [ops.convert_to_numpy(variable) for variable in weights]
        for scale in scales or [1.0]:
            optimizer.apply([scale * gradient for gradient in gradients], weights)
        changes = {}
        for variable, old in zip(weights, before, strict=True):
            changes[variable.path] = ops.convert_to_numpy(variable) - old
            variable.assign(old)
        return changes

    return step


@pytest.mark.parametrize("compute_dtype", ["float32", "bfloat16"])
def test_steps_of_matrices_are_orthogonal(steps, compute_dtype):
    changes = steps(Muon(RATE, compute_dtype))
    kernels = {path: change for path, change in changes.items() if "coder/" in path}
    kernels = {path: change for path, change in kernels.items() if change.ndim == 2}
    assert len(kernels) == 4 + 2 + 8 + 2
    for path, change in kernels.items():
        length = RATE * 0.2 * max(change.shape) ** 0.5
        singular_values = np.linalg.svd(change, compute_uv=False) / length
        # Five iterations bring all but the smallest singular values near 1.
        assert singular_values.max() < 1.3, path
        assert np.median(singular_values) > 0.6, path


def test_other_weights_take_steps_of_adam(steps):
    scales = (1, -2, 5)
    changes = steps(Muon(RATE, "float32"), *scales)
    adam = steps(keras.optimizers.Adam(RATE, beta_1=0.9, beta_2=0.98, epsilon=1e-9), *scales)
    others = [path for path, change in changes.items() if change.ndim == 1]
    others += [
        path for path in changes if "embedding" in path or path.split("/")[1] == "output_projection"
    ]
    assert {path.split("/")[-1] for path in others} >= {
        "embeddings",
        "position_embeddings",
        "kernel",
        "bias",
        "gamma",
    }
    for path in others:
        np.testing.assert_allclose(changes[path], adam[path], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("compute_dtype", ["float16", "bfloat16"])
def test_small_gradients_give_the_same_steps(steps, compute_dtype):
    expected = steps(Muon(RATE, compute_dtype))
    small = steps(Muon(RATE, compute_dtype), 1e-9)
    matrices = [path for path in expected if "coder/" in path and expected[path].ndim == 2]
    for path in matrices:
        np.testing.assert_allclose(small[path], expected[path], rtol=0.05, atol=1e-4)


def test_the_products_have_the_given_type(steps):
    exact, rounded = (steps(Muon(RATE, dtype)) for dtype in ("float32", "bfloat16"))
    matrices = [path for path in exact if "coder/" in path and exact[path].ndim == 2]
    assert all(np.abs(exact[path] - rounded[path]).max() > 1e-6 for path in matrices)


def test_large_gradients_are_clipped(steps):
    clipped, same = (
        steps(Muon(RATE, "float32", clip_norm=1.0), *scales) for scales in ((1, 100), (1, 1))
    )
    for path, change in same.items():
        np.testing.assert_allclose(clipped[path], change, rtol=1e-3, atol=1e-6)


def test_two_optimizers_have_one_name():
    # A saved state names its variables after the optimizer.
    assert [Muon(RATE, "float32").name for _ in range(2)] == ["muon", "muon"]
