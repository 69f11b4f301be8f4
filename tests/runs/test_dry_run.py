import keras
import pytest

from tests.conftest import ENGLISH, configure
from transformer_tf.runs import dry_run
from transformer_tf.runs.trainer import Trainer

TENSORFLOW = keras.backend.backend() == "tensorflow"


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The folder of temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_the_report(data, scratch, tmp_path, monkeypatch):
    """It has real numbers, and nothing is left behind."""
    monkeypatch.chdir(scratch)
    monkeypatch.setattr(dry_run, "seconds_per_step", lambda *_: 0.5)
    config = configure(
        "training.max_steps=100", "training.validate_every=4", "training.max_minutes=0.25"
    )
    with dry_run.scratch_trainer(config) as trainer:
        table, lengths, examples, summary, time = dry_run.report(trainer)
    assert table.split()[:3] == ["pairs", "read", str(len(ENGLISH))]
    assert "source sentence" in lengths and "target sentence" in lengths
    assert examples.count("<start> ▁I ▁s") == examples.count("→ <start> ▁I") == 10
    assert "100 steps with a validation every 4" in summary
    assert "0.5 s per step" in time and "0:50" in time
    assert "in 0.25 minutes about 28 steps" in time
    assert list(scratch.iterdir()) == []


def test_the_time_of_a_step(data, tmp_path):
    """Measured without the compilation of the first steps."""
    with Trainer(configure(), tmp_path / "run").prepare() as trainer:
        assert 0 < dry_run.seconds_per_step(trainer.training_model, trainer.stream) < 2
        assert int(trainer.training_model.optimizer.iterations.value) == (21 if TENSORFLOW else 42)
