import keras
import numpy as np
import pytest
from keras import ops

from transformer_tf.layers.normalization import LayerNormalization


def pair(dtype="float32"):
    """Our layer and the Keras layer with the same weights."""
    layers = [
        LayerNormalization(dtype=dtype),
        keras.layers.LayerNormalization(epsilon=1e-6, dtype=dtype),
    ]
    random = np.random.default_rng(1)
    values = [random.normal(size=7).astype("float32") for _ in range(2)]
    for layer in layers:
        layer.build((None, None, 7))
        layer.set_weights(values)
    return layers


@pytest.mark.parametrize("shape", [(2, 7), (2, 3, 7)])
def test_as_keras(random, shape):
    ours, theirs = pair()
    x = random.normal(size=shape).astype("float32") * 3 + 1
    np.testing.assert_allclose(ours(x), theirs(x), atol=1e-6)


def test_mixed_precision_as_keras(random):
    ours, theirs = pair("mixed_bfloat16")
    x = ops.cast(random.normal(size=(2, 3, 7)), "bfloat16")
    assert keras.backend.standardize_dtype(ours(x).dtype) == "bfloat16"
    np.testing.assert_allclose(
        ops.cast(ours(x), "float32"), ops.cast(theirs(x), "float32"), atol=0.02
    )


def test_gradients_as_keras(random):
    """One step of gradient descent changes all weights equally, also those of the layer below."""
    x = random.normal(size=(4, 3, 5)).astype("float32")
    y = random.normal(size=(4, 3, 7)).astype("float32")
    moved = []
    for norm in pair():
        below = keras.layers.Dense(7)
        below.build((None, None, 5))
        below.set_weights([np.linspace(-1, 1, 35).reshape(5, 7), np.zeros(7)])
        model = keras.Sequential([below, norm])
        model.compile(keras.optimizers.SGD(1.0), "mse", jit_compile=False)
        model.train_on_batch(x, y)
        moved.append(model.get_weights())
    for one, other in zip(*moved, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_config_round_trip():
    layer = LayerNormalization(epsilon=1e-3, name="norm")
    copy = LayerNormalization.from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()


@pytest.mark.parametrize(
    ("name", "value"), [("axis", 1), ("center", False), ("scale", False), ("rms_scaling", True)]
)
def test_other_options_of_keras_are_refused(name, value):
    with pytest.raises(ValueError, match=f"Received: {name}={value}"):
        LayerNormalization(**{name: value})
