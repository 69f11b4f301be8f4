"""What several tests share."""

import numpy as np
import pytest

from transformer_tf.startup import import_keras_quietly

import_keras_quietly()

# Each size a different prime, so that a swapped axis fails.
BATCH, SOURCE_LEN, TARGET_LEN = 2, 7, 5
SOURCE_VOCAB, TARGET_VOCAB = 13, 11


@pytest.fixture
def random():
    return np.random.default_rng(0)


@pytest.fixture
def inputs(random):
    """A batch of ids without padding."""
    return {
        "source": random.integers(1, SOURCE_VOCAB, (BATCH, SOURCE_LEN)).astype("int32"),
        "target_input": random.integers(1, TARGET_VOCAB, (BATCH, TARGET_LEN)).astype("int32"),
    }


def make_model(**changes):
    """A small built Transformer whose biases and norms are random too."""
    import keras

    from transformer_tf.transformer import Transformer

    settings = {
        "num_layers": 2,
        "d_model": 6,
        "num_heads": 3,
        "d_ff": 17,
        "source_vocab_size": SOURCE_VOCAB,
        "target_vocab_size": TARGET_VOCAB,
    }
    model = Transformer(**{**settings, **changes})
    model.build()
    generator = np.random.default_rng(1)
    for variable in model.trainable_variables:
        noise = generator.normal(0, 0.3, variable.shape)
        variable.assign(keras.ops.convert_to_numpy(variable) + noise)
    return model


@pytest.fixture
def model():
    return make_model()
