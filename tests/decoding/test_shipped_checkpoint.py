"""Both engines on the test sentences of the checkpoint that comes with the project."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

from transformer_tf.text.corpora.corpus import load_held_out
from transformer_tf.translator import Translator

SHIPPED = Path(__file__).resolve().parents[2] / "checkpoints" / "en-de"
# 1000 takes two minutes on two cores.
SENTENCES = int(os.environ.get("TRANSFORMER_TF_TEST_SENTENCES", "12"))


@pytest.mark.slow
@pytest.mark.skipif(not SHIPPED.is_dir(), reason="needs checkpoints/en-de")
def test_engines_find_the_same_for_the_shipped_checkpoint():
    translator = Translator.load(SHIPPED)
    engine, keras_engine = translator.engine, Translator.load(SHIPPED, engine="keras").engine
    texts = [text for text, _ in load_held_out(SHIPPED, "test")[:SENTENCES]]
    sources = translator.source_tokenizer.encode_sentences(texts)
    options = dataclasses.replace(translator.options, beam_size=1)
    found, expected = (e.search(sources, options) for e in (engine, keras_engine))
    for text, (ours,), (theirs,) in zip(texts, found, expected, strict=True):
        assert ours.ids == theirs.ids, text
        np.testing.assert_allclose(ours.token_log_probs, theirs.token_log_probs, atol=1e-4)
    start_id = translator.target_tokenizer.start_id
    targets = [[start_id, *best.ids] for (best,) in found]
    attended, expected = (e.attend(sources, targets) for e in (engine, keras_engine))
    for ours, theirs in zip(attended, expected, strict=True):
        for kind, scores in theirs.items():
            np.testing.assert_allclose(ours[kind], scores, atol=1e-5)
