import dataclasses

import keras
import numpy as np
import pytest

from transformer_tf.checkpoint import (
    LAST_WEIGHTS,
    build_model,
    load_checkpoint,
    save_checkpoint,
    save_weights,
)


@pytest.fixture(scope="package")
def decided(checkpoint, tmp_path_factory):
    """The checkpoint with one more decoder layer, and weights so large that rounding cannot
    change its choices."""
    folder = tmp_path_factory.mktemp("decided") / "checkpoint"
    config, model, source, target = load_checkpoint(checkpoint)
    sizes = dataclasses.replace(config.model, num_decoder_layers=config.model.num_layers + 1)
    config = dataclasses.replace(config, model=sizes)
    save_checkpoint(folder, config, source, target)
    keras.utils.set_random_seed(3)
    model = build_model(config, source, target)
    random = np.random.default_rng(1)
    model.set_weights([w + random.normal(0, 0.3, w.shape) for w in model.get_weights()])
    # Only words, no bytes: bytes are the same in every tokenizer.
    bias = model.output_projection.bias
    words = [i for i, token in enumerate(target.vocabulary) if token[0] == "▁"]
    assert source.tokens(words) != target.tokens(words)
    values = np.full(target.vocab_size, -4.0, "float32")
    values[[*words, target.end_id]] = 0.0
    bias.assign(values)
    save_weights(model, folder / LAST_WEIGHTS)
    return folder
