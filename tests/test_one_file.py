"""The Transformer in one file: it learns, and a tiny version of it hides what it must not see."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).resolve().parents[1] / "examples/one_file.py"
spec = importlib.util.spec_from_file_location("one_file", PATH)
one_file = importlib.util.module_from_spec(spec)
spec.loader.exec_module(one_file)


@pytest.mark.slow
def test_a_tiny_version_learns_three_sentences_and_sees_neither_padding_nor_future():
    pairs = one_file.load_pairs("train")[:3]
    model, english, german = one_file.train(
        pairs * 4, num_merges=200, d_model=32, epochs=50, peak=0.01, warmup=10, batch_size=12
    )
    sources, targets = zip(*pairs, strict=True)
    assert [german.decode(german.encode(target)) for target in targets] == list(targets)
    assert one_file.translate(model, english, german, sources, max_length=20) == list(targets)

    source, target = english.encode(sources[0]), german.encode(targets[0])
    logits = model({"source": np.array([source]), "target": np.array([target])})
    changed = [*target[:5], *target[:4:-1]]
    other = model({"source": np.array([source + [0, 0, 0]]), "target": np.array([changed])})
    np.testing.assert_allclose(logits[0, :5], other[0, :5], atol=1e-4)
    assert not np.allclose(logits[0, 5:], other[0, 5:], atol=1e-2)
