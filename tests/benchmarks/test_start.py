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
    all_tasks = start._tasks

    def fewer_tasks(work):
        """Every engine answers; the other tasks are those of the first engine alone."""
        for task, arguments, engines in all_tasks(work):
            yield task, arguments, engines if task == "answer" else engines[:1]

    monkeypatch.setattr(start, "_tasks", fewer_tasks)
    rows = list(start.measure_start(checkpoint, SCRIPT, rounds=1))
    found = [(row["task"], row["engine"]) for row in rows]
    first = start.ENGINES[0]
    assert found == [
        *[("answer", engine) for engine in start.ENGINES],
        *[(task, first) for task in ("heat map, PNG", "page, HTML", "1000 lines, greedy")],
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
