"""The example that translates a file with Ray Data, on one machine."""

import importlib.util
import random
from pathlib import Path

import pytest

from tests.conftest import ENGLISH
from transformer_tf.translator import Translator

pytest.importorskip("ray", reason="needs ray")
EXAMPLE = Path(__file__).parents[1] / "examples" / "translate_on_ray.py"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Ray
def test_two_workers_translate_in_order(checkpoint, tmp_path, monkeypatch):
    """The translations are those of one translator, empty lines included."""
    import ray

    spec = importlib.util.spec_from_file_location("translate_on_ray", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    monkeypatch.setattr(example, "LINES_PER_BLOCK", 7)  # many blocks
    lines = random.Random(0).sample([*ENGLISH, "", "Ω \u2028 1"], 40)
    source, target = tmp_path / "source.txt", tmp_path / "target.txt"
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
    try:
        example.translate_file(source, target, checkpoint, workers=2)
    finally:
        ray.shutdown()
    expected = Translator.load(checkpoint, engine="numpy").translate(lines)
    assert target.read_text(encoding="utf-8") == "".join(f"{line}\n" for line in expected)
