"""A run that is interrupted anywhere and resumed ends like an uninterrupted one."""

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import keras
import numpy as np
import pytest

from tests.conftest import SETTINGS, configure
from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.config import load_run_config
from transformer_tf.errors import ConfigError, DataError, Interrupted, TrainingDivergedError
from transformer_tf.runs.state import load_state, save_state
from transformer_tf.runs.trainer import Trainer

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = [
    "training.max_epochs=4",  # 16 steps
    "training.validate_every=7",
    "training.ema_decay=0.9",
    "training.clip_norm=1.0",
    "training.optimizer=muon",  # its variables include those of Adam
]


def assert_same(folder, other):
    """The same weights to translate with, and the same state."""
    for arrays in (
        [load_checkpoint(each)[1].get_weights() for each in (folder, other)],
        [load_state(each)[1] for each in (folder, other)],
    ):
        for one, two in zip(*arrays, strict=True):
            np.testing.assert_allclose(one, two, atol=1e-6)


def resumed(folder, *overrides):
    return Trainer(load_run_config(folder, overrides), folder, resume=True).prepare()


@pytest.fixture(scope="module")
def uninterrupted(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "whole"
    return folder, Trainer(configure(*OPTIONS), folder).prepare().fit()


def add_callback(trainer, callback):
    """Adds a callback to each `fit` of a trainer, before the others."""
    fit = trainer.training_model.fit
    trainer.training_model.fit = lambda *arguments, callbacks, **options: fit(
        *arguments, callbacks=[callback, *callbacks], **options
    )


@pytest.mark.slow
def test_stopped_three_times(data, uninterrupted, tmp_path):
    """Ctrl-C after the first step, at a validation, and once there is an average."""
    whole, rows = uninterrupted
    folder = tmp_path / "run"
    trainer = Trainer(configure(*OPTIONS), folder).prepare()

    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if trainer.progress.step + 1 == end:
                os.kill(os.getpid(), signal.SIGINT)

    for begin, end in ((0, 1), (1, 7), (7, 13)):
        assert trainer.progress.step == begin
        add_callback(trainer, Interrupt())
        with pytest.raises(Interrupted, match=f"after step {end}; .*--resume"):
            trainer.fit()
        trainer = resumed(folder)
    again = trainer.fit()
    assert_same(folder, whole)
    timeless = [name for name in rows[-1] if name.startswith("val_") or name == "step"]
    np.testing.assert_allclose(
        [[row[name] for name in timeless] for row in again],
        [[row[name] for name in timeless] for row in rows],
        rtol=1e-5,
    )


@pytest.mark.slow
def test_lost_during_a_validation(data, uninterrupted, tmp_path, monkeypatch):
    """The resumed run repeats the validation, which may be the best one."""
    whole, rows = uninterrupted
    folder = tmp_path / "run"
    monkeypatch.setattr("transformer_tf.runs.trainer.SAVE_MINUTES", 1e-6)

    class PowerCut(Exception):
        pass

    def fail(*_):
        raise PowerCut

    with monkeypatch.context() as patch, pytest.raises(PowerCut):
        patch.setattr("transformer_tf.runs.trainer.evaluate", fail)
        Trainer(configure(*OPTIONS), folder).prepare().fit()
    trainer = resumed(folder)
    assert 0 < trainer.progress.step < rows[0]["step"]
    assert [row["step"] for row in trainer.fit()] == [row["step"] for row in rows]
    assert_same(folder, whole)


@pytest.mark.slow
def test_killed_and_resumed(data, tmp_path):
    """kill -9 at two random steps; the resumed run ends like an uninterrupted one."""
    whole, folder = tmp_path / "whole", tmp_path / "run"
    # A state is saved at each validation.
    settings = [*OPTIONS, "training.validate_every=1"]
    rows = Trainer(configure(*settings), whole).prepare().fit()
    config = tmp_path / "none.yaml"
    config.write_text("")
    first = ["--config", config, *SETTINGS, *settings, "--name", folder]
    random = np.random.default_rng()
    for arguments in (first, ["--resume", folder]):
        process = start(arguments)
        before = latest(folder)
        while latest(folder) <= before + 1 and process.poll() is None:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.3))
        process.kill()
        process.wait()
        assert 0 < latest(folder) < rows[-1]["step"]
    assert start(["--resume", folder]).wait(timeout=300) == 0
    assert_same(folder, whole)


def start(arguments):
    return subprocess.Popen(
        [sys.executable, ROOT / "scripts" / "train.py", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def latest(folder):
    state = load_state(folder)
    return state[0].step if state else 0


def test_a_second_trainer_in_one_process(uninterrupted, tmp_path):
    """The folder is locked until the first trainer ends, is closed, or fails to start."""
    folder = shutil.copytree(uninterrupted[0], tmp_path / "run")
    another = pytest.raises(ConfigError, match="Another process is training in")
    with resumed(folder), another:
        resumed(folder)
    resumed(folder).fit()
    progress, arrays = load_state(folder)
    save_state(folder, dataclasses.replace(progress, fingerprint="other"), arrays)
    with pytest.raises(DataError, match="training pairs"):
        resumed(folder)
    (folder / "validation.tsv").write_text("another\tone\n")
    with pytest.raises(DataError, match="validation pairs"):
        resumed(folder)


def test_a_run_without_a_state_starts_again(data, tmp_path):
    folder = tmp_path / "run"
    Trainer(configure("training.max_steps=3"), folder).prepare().close()
    trainer = resumed(folder)
    assert trainer.progress.step == 0
    assert [row["step"] for row in trainer.fit()] == [3]


def test_what_may_change_in_a_resumed_run(uninterrupted, tmp_path):
    folder = uninterrupted[0]
    assert load_run_config(folder, ["training.max_epochs=9"]).training.max_epochs == 9
    with pytest.raises(ConfigError, match="training.warmup_steps"):
        load_run_config(folder, ["training.warmup_steps=9"])
    (tmp_path / "config.yaml").touch()
    with pytest.raises(ConfigError, match="config.yaml"):
        load_run_config(tmp_path)


def break_weights(trainer):
    bias = trainer.model.encoder.layers[0].feed_forward.hidden.bias
    bias.assign(np.full(bias.shape, np.nan))


@pytest.mark.parametrize("bad_step", [1, 3])
def test_an_nan_loss_stops_the_run(data, tmp_path, bad_step, monkeypatch):
    monkeypatch.setattr("transformer_tf.runs.trainer.SAVE_MINUTES", 1e-6)
    folder = tmp_path / "run"
    trainer = Trainer(configure(), folder).prepare()

    class Poison(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if trainer.progress.step + 1 == bad_step:
                break_weights(trainer)

    add_callback(trainer, Poison())
    with pytest.raises(TrainingDivergedError, match=rf"nan at step {bad_step} .*clip_norm=1"):
        trainer.fit()
    assert folder.exists() == (bad_step > 1)
    if folder.exists():
        progress, arrays = load_state(folder)
        assert progress.step == bad_step - 1
        assert all(np.isfinite(value).all() for value in arrays)


def test_deleted_files_of_the_checkpoint_are_written_again(data, tmp_path):
    folder = tmp_path / "run"
    trainer = Trainer(configure("training.max_steps=2"), folder).prepare()
    (folder / "config.yaml").unlink()
    shutil.rmtree(folder / "tokenizers")
    trainer.fit()
    load_checkpoint(folder)


@pytest.mark.parametrize("when", ["a step", "a validation"])
def test_nan_that_no_batch_touches_is_never_saved(data, tmp_path, monkeypatch, when):
    if when == "a step":
        monkeypatch.setattr("transformer_tf.runs.trainer.SAVE_MINUTES", 1e-6)
    folder = tmp_path / "run"
    trainer = Trainer(configure("training.validate_every=3"), folder).prepare()

    class Poison(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if trainer.progress.step + 1 == 5:
                embeddings = trainer.model.source_embedding.embeddings
                table = keras.ops.convert_to_numpy(embeddings).copy()
                table[trainer.source_tokenizer.processor.piece_to_id("<0xC0>")] = np.nan
                embeddings.assign(table)

    add_callback(trainer, Poison())
    with pytest.raises(TrainingDivergedError, match="embeddings has NaN"):
        trainer.fit()
    progress, arrays = load_state(folder)
    assert progress.step == (4 if when == "a step" else 3)
    assert all(np.isfinite(value).all() for value in arrays)
    load_checkpoint(folder)
    resumed(folder).close()


@pytest.mark.slow
def test_broken_weights_of_the_last_step_are_not_saved(data, tmp_path):
    """The loss of that step was still finite."""
    folder = tmp_path / "run"
    settings = ["training.max_steps=3", "training.validate_every=1"]
    trainer = Trainer(configure(*settings), folder).prepare()

    class Break(keras.callbacks.Callback):
        def on_train_end(self, logs=None):
            break_weights(trainer)

    add_callback(trainer, Break())
    with pytest.raises(TrainingDivergedError, match="The validation loss is nan after step 1"):
        trainer.fit()
    assert not folder.exists()
