"""Tests that the systems of the benchmark of exported translators answer."""

from pathlib import Path

import keras
import pytest

from benchmarks import exported
from transformer_tf.errors import TransformerTFError

EXAMPLE = Path(__file__).parents[2] / "examples/translate_onnx.py"


@pytest.mark.slow
def test_all_systems_answer(checkpoint, monkeypatch, tmp_path):
    pytest.importorskip("tensorflow_text", reason="python -m pip install tensorflow-text")
    pytest.importorskip("tf2onnx", reason='pip install ".[onnx]"')
    if keras.backend.backend() != "tensorflow":
        pytest.skip("exported under TensorFlow")
    texts = [(f"I see {n} red cars.", "") for n in range(84)]
    monkeypatch.setattr(exported, "load_held_out", lambda folder, split: texts)
    # The others are the same with a beam, and the checkpoint has none.
    monkeypatch.setattr(exported, "SYSTEMS", exported.SYSTEMS[:3])
    rows = list(exported.measure_exported(checkpoint, EXAMPLE, rounds=1))
    assert [row["system"] for row in rows] == [system.name for system in exported.SYSTEMS]
    for row in rows:
        assert row["MB"] > 0
        assert row["first answer s"] > row["one sentence ms"] / 1000 > 0
        assert row["64 sentences ms"] > 0


def test_too_few_sentences_is_an_error(checkpoint, monkeypatch):
    monkeypatch.setattr(exported, "load_held_out", lambda folder, split: [("a", "b")] * 83)
    with pytest.raises(TransformerTFError, match="83"):
        next(exported.measure_exported(checkpoint, EXAMPLE, rounds=1))
