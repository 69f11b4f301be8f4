import csv

import pytest

from tests.training.test_trainer import configure, data  # noqa: F401
from transformer_tf.errors import ConfigError
from transformer_tf.training import reports
from transformer_tf.training.trainer import Trainer
from transformer_tf.translator import Translator


def rows(count, scores=True):
    return [
        {
            "step": 10 * number,
            "epoch": number / 2,
            "loss": 5.0 - number / 9,
            "accuracy": 0.1,
            "val_loss": 5.5,
            "val_accuracy": 0.2,
        }
        | ({"val_bleu": 3.0, "val_chrf": 20.0} if scores else {})
        for number in range(1, count + 1)
    ]


def test_metrics_are_written_whole(tmp_path):
    path = tmp_path / "metrics.csv"
    for count in (3, 2):
        reports.write_metrics(rows(count), path)
        with path.open() as file:
            read = list(csv.DictReader(file))
        assert [int(row["step"]) for row in read] == [10 * n for n in range(1, count + 1)]
    assert [each.name for each in tmp_path.iterdir()] == ["metrics.csv"]


@pytest.mark.parametrize("scores", [True, False])
def test_curves(tmp_path, scores):
    path = tmp_path / "curves.png"
    reports.draw_curves(rows(4, scores), path)
    width = int.from_bytes(path.read_bytes()[16:20], "big")
    assert width == 540 * (3 if scores else 2)


def test_the_table_of_a_long_run_is_short():
    lines = reports.summary_table(rows(100)).splitlines()
    assert len(lines) <= 13
    assert lines[-1].split()[0] == "1000"


def test_tensorboard(data, tmp_path):  # noqa: F811
    """Curves, texts and pictures as TensorBoard itself reads them."""
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="needs tensorboard"
    )
    config = configure(data, "training.tensorboard=true", "training.max_epochs=2")
    trainer = Trainer(config, tmp_path / "run")
    translator = Translator.from_config(
        config, trainer.model, trainer.source_tokenizer, trainer.target_tokenizer
    )
    metrics = trainer.fit(translator)
    events = accumulator.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    tags = events.Tags()
    for name in ("training/loss", "validation/loss", "validation/bleu"):
        assert name in tags["scalars"]
    losses = [(event.step, event.value) for event in events.Scalars("validation/loss")]
    assert losses == [(row["step"], pytest.approx(row["val_loss"])) for row in metrics]
    assert any("sample 1" in name for name in tags["tensors"])
    kinds = {f"{kind}_attention/sample_1" for kind in ("encoder", "decoder", "cross")}
    assert kinds <= set(tags["images"])


def test_tensorboard_without_its_package(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ConfigError, match=r"pip install tensorboard tensorboardX"):
        reports.TensorBoard(tmp_path)
