import shutil

import numpy as np
import pytest

from transformer_tf.checkpoint import load_checkpoint, save_weights


@pytest.fixture(scope="package")
def decided(checkpoint, tmp_path_factory):
    """The checkpoint with larger weights, whose choices no rounding changes."""
    folder = tmp_path_factory.mktemp("decided") / "checkpoint"
    shutil.copytree(checkpoint, folder)
    _, model, source, target = load_checkpoint(folder)
    random = np.random.default_rng(1)
    model.set_weights([w + random.normal(0, 0.3, w.shape) for w in model.get_weights()])
    # It says words, not bytes: bytes are the same in every tokenizer.
    bias = model.output_projection.bias
    words = [
        i for i, token in enumerate(target.tokens(range(target.vocab_size))) if token[0] == "▁"
    ]
    assert source.tokens(words) != target.tokens(words)
    values = np.full(target.vocab_size, -4.0, "float32")
    values[[*words, target.end_id]] = 0.0
    bias.assign(values)
    for path in folder.glob("*.weights.h5"):
        save_weights(model, path)
    return folder
