"""Both engines on the test sentences of the checkpoint that comes with the project."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

from transformer_tf.checkpoint import build_model, load_numpy_model, load_weights, open_checkpoint
from transformer_tf.decoding.engine import KerasEngine
from transformer_tf.decoding.numpy_engine import NumpyEngine
from transformer_tf.text.corpora.corpus import load_held_out

SHIPPED = Path(__file__).resolve().parents[2] / "checkpoints" / "en-de"
# 1000 takes two minutes on two cores.
SENTENCES = int(os.environ.get("TRANSFORMER_TF_TEST_SENTENCES", "40"))


@pytest.mark.slow
@pytest.mark.skipif(not SHIPPED.is_dir(), reason="needs checkpoints/en-de")
def test_engines_find_the_same_for_the_shipped_checkpoint():
    config, weights, source, target = open_checkpoint(SHIPPED)
    model = build_model(config, source, target, "float32")
    load_weights(model, weights)
    keras_engine = KerasEngine(model, target.start_id, target.end_id)
    numpy_model = load_numpy_model(config, weights, source, target)
    engine = NumpyEngine(numpy_model, target.start_id, target.end_id)
    texts = [text for text, _ in load_held_out(SHIPPED, "test")[:SENTENCES]]
    sources = source.encode_sentences(texts)
    for beam_size in (1, 4):
        options = dataclasses.replace(config.decoding, scores=True, beam_size=beam_size)
        found, expected = (e.search(sources, options) for e in (engine, keras_engine))
        for text, (ours,), (theirs,) in zip(texts, found, expected, strict=True):
            assert ours.ids == theirs.ids, text
            np.testing.assert_allclose(ours.token_log_probs, theirs.token_log_probs, atol=1e-4)
            np.testing.assert_allclose(ours.score, theirs.score, atol=1e-4)
    targets = [[target.start_id, *best.ids] for (best,) in found]
    attended, expected = (e.attend(sources, targets) for e in (engine, keras_engine))
    for ours, theirs in zip(attended, expected, strict=True):
        for kind, scores in theirs.items():
            np.testing.assert_allclose(ours[kind], scores, atol=1e-5)
