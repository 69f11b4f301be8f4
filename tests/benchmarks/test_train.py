import numpy as np
import pytest

from benchmarks import train
from tests.conftest import configure
from transformer_tf.errors import TransformerTFError
from transformer_tf.text.batching.encoded import EncodedPairs

PAIRS = EncodedPairs.from_lists([([8, *range(1, n % 5 + 2), 9], [8, 3, 9]) for n in range(70)])


@pytest.mark.slow
def test_measurements_of_two_systems(data, monkeypatch):
    """This package and the article's loop on a tiny corpus."""
    systems = (train.System("article"), train.System("ours", 128))
    monkeypatch.setattr(train, "SYSTEMS", systems)
    monkeypatch.setattr(train, "ROUND_TOKENS", 128)
    rows = list(train.measure_training(configure(), rounds=1))
    assert [row["system"] for row in rows] == ["article", "ours"]
    assert rows[0]["x article"] == 1
    for row in rows:
        assert 0 < row["slowest"] <= row["tokens/s"] <= row["fastest"]
        assert row["epoch s"] > row["first step s"] > 0
        assert 100 < row["peak MB"] < 20_000
    assert rows[0]["padding"] > 0.5 > rows[1]["padding"]


def test_article_batches_have_64_pairs_of_42_tokens(data):
    """64 pairs, each side 42 tokens, the target shifted."""
    system = train.System("article")
    rounds, steps = train.make_batches(PAIRS, system, configure(), 1)
    inputs, target = rounds[0][0]
    assert steps == 2
    assert inputs["source"].shape == (64, 42)
    assert inputs["target_input"].shape == target.shape == (64, 41)
    assert np.count_nonzero(target) == 2 * 64


def test_next_epoch_repeats_the_batches(data):
    system = train.System("ours", 64)
    rounds, steps = train.make_batches(PAIRS, system, configure(), 30)
    batches = [batch for round_batches in rounds for batch in round_batches]
    assert len(batches) > 2 * steps
    np.testing.assert_array_equal(batches[0][1], batches[steps][1])


def test_missing_torch_is_an_error(data, monkeypatch):
    monkeypatch.setattr(train, "find_spec", lambda name: None)
    with pytest.raises(TransformerTFError, match=r"\[benchmark\]"):
        next(train.measure_training(configure(), rounds=1))
