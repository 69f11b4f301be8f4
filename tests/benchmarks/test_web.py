"""That every measurement of the web page is there; not how fast it is."""

import pytest

from benchmarks import web
from tests.browser import chromium
from transformer_tf.export.web.pack import pack_checkpoint


@pytest.mark.slow
def test_the_page_is_measured(checkpoint, monkeypatch):
    with chromium():  # or the test is skipped
        pass
    texts = [(f"I see {n} red cars.", "") for n in range(3)]
    monkeypatch.setattr(web, "load_held_out", lambda folder, split: texts)
    monkeypatch.setattr(web, "TYPED", "a tree")
    rows = {row["measurement"]: row for row in web.measure_web(checkpoint, 1, 3)}
    for quantization in ("int8", "float16"):
        found = {name: row[quantization] for name, row in rows.items()}
        size = len(pack_checkpoint(checkpoint, quantization)) / 1e6
        assert found["model, compressed, MB"] == size
        assert found["single file, MB"] > 4 / 3 * size  # base64
        first, last = (
            found[f"opening to the {what}, s"] for what in ("first translation", "beam's answer")
        )
        assert 0 < first < last
        assert found["memory of the page's process, MB"] > 10
        assert 0 < found["frames a second while typing"] < 200
        assert found["longest frame while typing, ms"] > 1000 / 200
        for search in ("greedy", "beam"):
            assert found[f"{search}, ms"] > 0
            assert found[f"{search} without WebAssembly, ms"] > 0
    assert rows["greedy as the NumPy engine"]["float16"] == "3 of 3"
