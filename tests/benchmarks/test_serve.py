"""That every server of the benchmark answers all requests rightly; not how fast."""

import pytest

from benchmarks import serve


@pytest.mark.slow
def test_no_answer_is_missing_or_different(checkpoint, monkeypatch):
    pytest.importorskip("ctranslate2")
    texts = [(f"I see {n} red cars.", "") for n in range(40)]
    monkeypatch.setattr(serve, "load_held_out", lambda folder, split: texts)
    rows = list(serve.measure_serving(checkpoint, rounds=1, requests=37))
    assert [row["system"] for row in rows] == list(serve.SYSTEMS)
    for row in rows:
        assert (row["missing"], row["different"]) == (0, 0)
        assert 0 < row["median ms"] <= row["99th percentile ms"]
