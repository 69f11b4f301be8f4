"""What several tests share."""

import os
import zipfile

import numpy as np
import pytest

from transformer_tf.utils.startup import import_keras_quietly

# Each size a different prime, so that a swapped axis fails.
BATCH, SOURCE_LEN, TARGET_LEN = 2, 7, 5
SOURCE_VOCAB, TARGET_VOCAB = 13, 11


def pytest_configure(config):
    """Imports Keras, but not in the process that only starts the workers of pytest-xdist."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        # mutmut forks after this import, which must not have started TensorFlow's threads.
        import_keras_quietly(compute="MUTANT_UNDER_TEST" not in os.environ)


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory):
    """JAX keeps compiled programs in a folder of the tests, those of their processes too."""
    os.environ["TRANSFORMER_TF_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True)
def seed():
    """The weights of a test's models are the same each time."""
    import keras

    keras.utils.set_random_seed(0)


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


ENGLISH = [f"I see {n} red {thing}s." for n in range(2, 40) for thing in ("car", "house", "tree")]
GERMAN = [
    f"Ich sehe {n} rote {thing}." for n in range(2, 40) for thing in ("Autos", "Häuser", "Bäume")
]


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """The folder of a whole checkpoint; its model has random weights and speaks nonsense."""
    import keras

    from transformer_tf.checkpoint import LAST_WEIGHTS, build_model, save_checkpoint, save_weights
    from transformer_tf.config import load_config
    from transformer_tf.text.tokenization.tokenizer import Tokenizer

    folder = tmp_path_factory.mktemp("runs") / "tiny"
    overrides = ["model.num_layers=2", "model.d_model=8", "model.num_heads=2", "model.d_ff=16"]
    config = load_config(None, [*overrides, "decoding.max_length=12", "data.max_length=30"])
    (folder / "tokenizers").mkdir(parents=True)
    source = Tokenizer.train(ENGLISH, 326, folder / "tokenizers" / "source.model")
    target = Tokenizer.train(GERMAN, 326, folder / "tokenizers" / "target.model")
    save_checkpoint(folder, config, source, target)
    keras.utils.set_random_seed(9)  # its translations have text
    save_weights(build_model(config, source, target), folder / LAST_WEIGHTS)
    return folder


# Small runs.
SETTINGS = [
    "data.corpus=tatoeba",
    "data.held_out_size=9",
    "tokenizer.vocab_size=326",
    "model.num_layers=1",
    "model.d_model=16",
    "model.num_heads=2",
    "model.d_ff=16",
    "training.tokens_per_batch=300",
    "training.max_buckets=2",
    "training.validate_every=1000",  # a run validates at its end
    "training.samples=['I see 5 red cars.']",
    "decoding.max_length=20",
]


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder of downloads with a small corpus, for runs of this and of other processes."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "tatoeba").mkdir()
    lines = "".join(f"{a}\t{b}\n" for a, b in zip(ENGLISH, GERMAN, strict=True))
    with zipfile.ZipFile(folder / "tatoeba" / "deu-eng.zip", "w") as archive:
        archive.writestr("deu.txt", lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANSFORMER_TF_DATA", str(folder))
        yield folder


def configure(*overrides):
    """The configuration of a small run."""
    from transformer_tf.config import load_config

    return load_config(None, [*SETTINGS, *overrides])
