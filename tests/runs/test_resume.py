"""A run that is interrupted anywhere and resumed ends like an uninterrupted one."""

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

from tests.runs.test_trainer import SETTINGS, configure, data  # noqa: F401
from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.config import load_run_config
from transformer_tf.errors import (
    ConfigError,
    DataError,
    Interrupted,
    TrainingDivergedError,
)
from transformer_tf.runs import state
from transformer_tf.runs.trainer import Trainer

ROOT = Path(__file__).resolve().parents[2]
LENGTH = ["training.max_epochs=3", "training.validate_every=7"]


def weights(folder):
    return load_checkpoint(folder)[1].get_weights()


def difference(one, other):
    return max(float(np.abs(a - b).max()) for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def options(data):  # noqa: F811
    return [
        *LENGTH,
        "training.ema_decay=0.9",
        "training.accumulation_steps=2",
        "training.clip_norm=1.0",
    ]


@pytest.fixture(scope="module")
def uninterrupted(data, options, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("runs") / "whole"
    trainer = Trainer(configure(data, *options), folder)
    rows = trainer.fit()
    return folder, rows, trainer.plan.max_steps


def state_of(folder):
    """The step and the arrays of the latest state."""
    progress, arrays = state.load_state(folder)
    return progress.step, arrays


@pytest.mark.slow
def test_stopped_three_times(data, options, uninterrupted, tmp_path):  # noqa: F811
    """Ctrl-C in the middle of an update, at a validation, and once there is an average."""
    whole, rows, _ = uninterrupted
    folder = tmp_path / "run"
    trainer = Trainer(configure(data, *options), folder)
    for begin, end in ((0, 1), (1, 7), (7, 21)):
        assert trainer.progress.step == begin
        trainer.training_model.fit = signal_after(trainer, end - begin)
        with pytest.raises(Interrupted, match=f"after step {end}; .*--resume"):
            trainer.fit()
        trainer = Trainer(load_run_config(folder), folder, resume=True)
    resumed = trainer.fit()
    assert difference(weights(folder), weights(whole)) <= 1e-6
    assert difference(state_of(folder)[1], state_of(whole)[1]) <= 1e-6
    timeless = [name for name in rows[-1] if name.startswith("val_") or name == "step"]
    np.testing.assert_allclose(
        [[row[name] for name in timeless] for row in resumed],
        [[row[name] for name in timeless] for row in rows],
        rtol=1e-5,
    )


@pytest.mark.slow
def test_lost_during_a_validation(data, options, uninterrupted, tmp_path, monkeypatch):  # noqa: F811
    """The resumed run repeats the validation, which may be the best one."""
    whole, rows, _ = uninterrupted
    folder = tmp_path / "run"
    monkeypatch.setattr("transformer_tf.runs.trainer.SAVE_MINUTES", 1e-6)
    trainer = Trainer(configure(data, *options), folder)

    class PowerCut(Exception):
        pass

    def fail(*_):
        raise PowerCut

    monkeypatch.setattr(trainer, "_validate", fail)
    with pytest.raises(PowerCut):
        trainer.fit()
    again = Trainer(load_run_config(folder), folder, resume=True)
    assert 0 < again.progress.step < rows[0]["step"]
    resumed = again.fit()
    assert [row["step"] for row in resumed] == [row["step"] for row in rows]
    assert difference(weights(folder), weights(whole)) <= 1e-6


def signal_after(trainer, step):
    """`fit` that sends itself SIGINT once a step is done."""
    fit = trainer.training_model.fit

    class Interrupt(keras.callbacks.Callback):
        steps = 0

        def on_train_batch_end(self, batch, logs=None):
            Interrupt.steps += 1
            if Interrupt.steps == step:
                os.kill(os.getpid(), signal.SIGINT)

    def wrapped(*args, callbacks, **kwargs):
        return fit(*args, callbacks=[Interrupt(), *callbacks], **kwargs)

    return wrapped


@pytest.mark.slow
def test_killed_and_resumed(data, options, uninterrupted, tmp_path):  # noqa: F811
    """kill -9 at two random steps; the resumed run ends like an uninterrupted one."""
    whole, _, max_steps = uninterrupted
    folder = tmp_path / "run"
    # A state is saved at each validation; the weights do not depend on their number.
    settings = [*options, f"data.directory={data}", "training.validate_every=1"]
    config = tmp_path / "none.yaml"
    config.write_text("")
    first = ["--config", config, *SETTINGS, *settings, f"training.directory={folder}"]
    random = np.random.default_rng()
    for arguments in (first, ["--resume", folder]):
        process = start(arguments)
        before = latest(folder)
        while latest(folder) <= before + 1 and process.poll() is None:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.3))
        process.kill()
        process.wait()
        assert 0 < latest(folder) < max_steps
    result = subprocess.run(
        [sys.executable, ROOT / "scripts" / "train.py", "--resume", folder],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "resumed after step" in result.stderr
    assert difference(state_of(folder)[1], state_of(whole)[1]) <= 1e-6


def start(arguments):
    return subprocess.Popen(
        [sys.executable, ROOT / "scripts" / "train.py", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def latest(folder):
    loaded = state.load_state(folder)
    return loaded[0].step if loaded else 0


def test_a_second_trainer_in_one_process(data, uninterrupted, tmp_path):  # noqa: F811
    """The folder is locked until the first trainer ends, is closed, or fails to start."""
    shutil.copytree(uninterrupted[0], tmp_path / "run")
    folder = tmp_path / "run"
    config = load_run_config(folder, ["training.max_steps=22"])
    another = pytest.raises(ConfigError, match="Another trainer is using")
    with Trainer(config, folder, resume=True), another:
        Trainer(config, folder, resume=True)
    trainer = Trainer(config, folder, resume=True)  # the `with` statement has closed the first
    trainer.fit()
    (folder / "validation.tsv").rename(tmp_path / "validation.tsv")
    with pytest.raises(DataError):
        Trainer(config, folder, resume=True)
    (tmp_path / "validation.tsv").rename(folder / "validation.tsv")
    Trainer(config, folder, resume=True).close()


def test_a_run_without_a_state_starts_again(data, tmp_path):  # noqa: F811
    folder = tmp_path / "run"
    config = configure(data, "training.max_steps=3")
    Trainer(config, folder).close()
    trainer = Trainer(load_run_config(folder), folder, resume=True)
    assert trainer.progress.step == 0
    assert [row["step"] for row in trainer.fit()] == [3]


def test_what_may_change_in_a_resumed_run(uninterrupted, tmp_path):
    folder = uninterrupted[0]
    assert load_run_config(folder, ["training.max_epochs=9"]).training.max_epochs == 9
    with pytest.raises(ConfigError, match="training.warmup_steps cannot change"):
        load_run_config(folder, ["training.warmup_steps=9"])
    with pytest.raises(ConfigError, match="did you mean"):
        load_run_config(folder, ["training.warmup=9"])
    (tmp_path / "config.yaml").touch()
    with pytest.raises(ConfigError, match=r"config.yaml is empty"):
        load_run_config(tmp_path)


def test_another_corpus_is_refused(data, uninterrupted, monkeypatch):  # noqa: F811
    folder = uninterrupted[0]
    monkeypatch.setattr("transformer_tf.runs.data._fingerprint", lambda pairs: "other")
    with pytest.raises(DataError, match="not those that the run"):
        Trainer(load_run_config(folder), folder, resume=True)


@pytest.mark.parametrize("bad_step", [1, 3])
def test_an_nan_loss_stops_the_run(data, tmp_path, bad_step, monkeypatch):  # noqa: F811
    monkeypatch.setattr("transformer_tf.runs.trainer.SAVE_MINUTES", 1e-6)
    folder = tmp_path / "run"
    trainer = Trainer(configure(data), folder)
    fit = trainer.training_model.fit
    variable = trainer.model.encoder.layers[0].feed_forward.hidden.bias

    class Poison(keras.callbacks.Callback):
        steps = 0

        def on_train_batch_begin(self, batch, logs=None):
            Poison.steps += 1
            if Poison.steps == bad_step:
                variable.assign(np.full(variable.shape, np.nan))

    trainer.training_model.fit = lambda *a, callbacks, **k: fit(
        *a, callbacks=[Poison(), *callbacks], **k
    )
    with pytest.raises(TrainingDivergedError) as error:
        trainer.fit()
    message = str(error.value)
    assert f"nan at step {bad_step} (epoch 1, batch {bad_step} of" in message
    assert "training.learning_rate_scale=0.5 or training.clip_norm=1" in message
    if bad_step > 1:
        assert f"The state after step {bad_step - 1} is kept" in message
        _, arrays = state_of(folder)
        assert all(np.isfinite(value).all() for value in arrays)


@pytest.mark.slow
def test_broken_weights_of_the_last_step_are_not_saved(data, tmp_path):  # noqa: F811
    """The loss of that step was still finite."""
    folder = tmp_path / "run"
    settings = ["training.max_steps=3", "training.validate_every=1"]
    trainer = Trainer(configure(data, *settings), folder)
    fit = trainer.training_model.fit
    variable = trainer.model.encoder.layers[0].feed_forward.hidden.bias

    def and_break(*arguments, **options):
        history = fit(*arguments, **options)
        variable.assign(np.full(variable.shape, np.nan))
        return history

    trainer.training_model.fit = and_break
    with pytest.raises(TrainingDivergedError, match="The validation loss is nan after step 1"):
        trainer.fit()
    assert not list(folder.glob("*.weights.h5"))
    assert not (folder / "state.npz").exists()


def test_other_held_out_pairs_are_refused(data, uninterrupted, tmp_path):  # noqa: F811
    folder = tmp_path / "run"
    shutil.copytree(uninterrupted[0], folder)
    path = folder / "validation.tsv"
    path.write_text("another\tone\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(DataError, match="The validation pairs are not those that the run in"):
        Trainer(load_run_config(folder), folder, resume=True)


def test_samples_of_a_repeated_validation_are_not_duplicated(uninterrupted, tmp_path):
    """A process may end between writing the samples of a validation and its state."""
    folder = tmp_path / "run"
    shutil.copytree(uninterrupted[0], folder)
    steps = [row["step"] for row in uninterrupted[1]]
    text = "".join(f"after step {step}\n  A tree.\n  → Ein Baum.\n" for step in steps)
    (folder / "samples.txt").write_text(
        f"{text}after step {steps[-1] + 7}\n  A tree.\n  → E", "utf-8"
    )
    Trainer(load_run_config(folder), folder, resume=True).close()
    assert (folder / "samples.txt").read_text("utf-8") == text
