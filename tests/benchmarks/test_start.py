"""That every engine of the benchmark of the start answers; not how fast."""

import shutil
from pathlib import Path

import pytest

from benchmarks import start
from transformer_tf.errors import TransformerTFError

SCRIPT = Path(__file__).parents[2] / "scripts" / "translate.py"


@pytest.mark.slow
def test_every_engine_answers(checkpoint, monkeypatch):
    pytest.importorskip("ctranslate2")
    texts = [(f"I see {n} red cars.", "") for n in range(8)]
    monkeypatch.setattr(start, "load_held_out", lambda folder, split: texts)
    monkeypatch.setattr(start, "SENTENCE", "I see 3 red cars.")
    monkeypatch.setattr(start, "WARM_TOKENS", range(100))
    monkeypatch.setattr(start, "SEARCHES", {"greedy": 1})
    rows = list(start.measure_start(checkpoint, SCRIPT, rounds=1))
    found = [(row["task"], row["engine"]) for row in rows]
    assert found == [
        *[("answer", engine) for engine in start.ENGINES],
        *[
            (task, engine)
            for task in ("heat map, PNG", "page, HTML")
            for engine in start.ENGINES[:2]
        ],
        *[("1000 lines, greedy", engine) for engine in start.ENGINES],
        *[("warm, greedy", engine) for engine in start.ENGINES],
    ]
    for row in rows[:-3]:
        assert 0 < row["fastest s"] <= row["median s"] <= row["slowest s"]
        assert row["MB"] > 10
    for row in rows[-3:]:
        assert row["one sentence ms"] > 0


def test_a_process_that_fails_is_an_error(checkpoint, monkeypatch, tmp_path):
    pytest.importorskip("ctranslate2")
    broken = Path(shutil.copyfile(SCRIPT, tmp_path / "translate.py"))
    broken.write_text("raise SystemExit(3)")
    monkeypatch.setattr(start, "load_held_out", lambda folder, split: [("a", "b")])
    with pytest.raises(TransformerTFError, match="failed: exit status 3"):
        next(start.measure_start(checkpoint, broken, rounds=1))


def test_no_rounds(checkpoint):
    with pytest.raises(TransformerTFError, match="--rounds must be at least 1"):
        next(start.measure_start(checkpoint, SCRIPT, rounds=0))
