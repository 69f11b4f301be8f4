"""A run that is cut off anywhere and resumed ends as the run that was not."""

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

from tests.training.test_trainer import SETTINGS, configure, data  # noqa: F401
from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.config import load_run_config
from transformer_tf.errors import (
    CheckpointError,
    ConfigError,
    DataError,
    Interrupted,
    TrainingDivergedError,
)
from transformer_tf.training import state
from transformer_tf.training.trainer import Trainer

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
        "training.average_decay=0.9",
        "training.accumulation_steps=2",
        "training.clip_norm=1.0",
        "training.validation_translations=3",
        "tokenizer.dropout=0.1",
    ]


@pytest.fixture(scope="module")
def uninterrupted(data, options, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("runs") / "whole"
    trainer = Trainer(configure(data, *options), folder)
    rows = trainer.fit()
    trainer._lock.release()
    return folder, rows, trainer.max_steps


def state_of(folder):
    """The latest state but for times and names."""
    progress, arrays = state.load_state(folder)
    return progress.step, arrays


@pytest.mark.parametrize("step", [1, 7, 9, 20])  # 7 is that of a validation
def test_stopped_and_resumed(data, options, uninterrupted, tmp_path, step):  # noqa: F811
    """Ctrl-C after a step; the rest in a second trainer."""
    whole, rows, _ = uninterrupted
    folder = tmp_path / "run"
    trainer = Trainer(configure(data, *options), folder)
    trainer.training_model.fit = signal_after(trainer, step)
    with pytest.raises(Interrupted, match=f"after step {step}; .*--resume"):
        trainer.fit()
    trainer._lock.release()

    again = Trainer(load_run_config(folder), folder, resume=True)
    assert again.progress.step == step
    resumed = again.fit()
    again._lock.release()
    assert difference(weights(folder), weights(whole)) <= 1e-6
    for (name, one), (_, other) in zip(state_of(folder)[1], state_of(whole)[1], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6, err_msg=name)
    timeless = [name for name in rows[-1] if name.startswith("val_") or name == "step"]
    np.testing.assert_allclose(
        [[row[name] for name in timeless] for row in resumed],
        [[row[name] for name in timeless] for row in rows],
        rtol=1e-5,
    )


def test_lost_during_a_validation(data, options, uninterrupted, tmp_path, monkeypatch):  # noqa: F811
    """The validation, which may have been the best one, comes again."""
    whole, rows, _ = uninterrupted
    folder = tmp_path / "run"
    settings = [*options, "training.save_minutes=0.0001"]
    trainer = Trainer(configure(data, *settings), folder)

    class PowerCut(Exception):
        pass

    def fail(*_):
        raise PowerCut

    monkeypatch.setattr(trainer, "_validate", fail)
    with pytest.raises(PowerCut):
        trainer.fit()
    trainer._lock.release()
    again = Trainer(load_run_config(folder), folder, resume=True)
    assert 0 < again.progress.step < rows[0]["step"]
    resumed = again.fit()
    again._lock.release()
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


def test_killed_and_resumed(data, options, uninterrupted, tmp_path):  # noqa: F811
    """kill -9 at a moment nobody chose, twice; then the run goes on to the same end."""
    whole, _, max_steps = uninterrupted
    folder = tmp_path / "run"
    settings = [*options, f"data.directory={data}", "training.save_minutes=0.0001"]
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
    assert difference(weights(folder), weights(whole)) <= 1e-6


def start(arguments):
    return subprocess.Popen(
        [sys.executable, ROOT / "scripts" / "train.py", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def latest(folder):
    states = state._states(folder)
    return int(states[0].stem.split("-")[1]) if states else 0


def test_a_damaged_state_gives_way_to_the_one_before(uninterrupted, tmp_path):
    import shutil

    folder = tmp_path / "run"
    shutil.copytree(uninterrupted[0], folder)
    newest, older = state._states(folder)
    content = newest.read_bytes()
    # In the archive's directory: a version no one can read, and the mark of encryption.
    entry = content.index(b"PK\1\2")
    bad = [
        content[: entry + 6] + b"\x6d" + content[entry + 7 :],
        content[: entry + 8] + b"\1" + content[entry + 9 :],
    ]
    for damaged in (
        content[: len(content) // 2],
        content[:900] + b"\0\1\2\3" + content[904:],
        b"",
        *bad,
    ):
        newest.write_bytes(damaged)
        with pytest.warns(UserWarning, match=f"{newest.name} is damaged .*trying the one before"):
            progress, _ = state.load_state(folder)
        assert progress.step == int(older.stem.split("-")[1])
    older.write_bytes(b"nothing")
    with (
        pytest.warns(UserWarning, match="is damaged"),
        pytest.raises(CheckpointError, match="All states in .* are damaged"),
    ):
        state.load_state(folder)


def test_a_full_disk_leaves_the_states_before(tmp_path, monkeypatch):
    arrays = [("a", np.arange(5.0))]
    state.save_state(tmp_path, state.Progress(step=3), arrays, keep=2)

    def full(path, **content):
        path.write_bytes(b"PK half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(CheckpointError, match="No space left on device.*--resume"):
        state.save_state(tmp_path, state.Progress(step=4), arrays, keep=2)
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["step-00000003.npz"]
    progress, loaded = state.load_state(tmp_path)
    assert progress.step == 3
    np.testing.assert_array_equal(loaded[0][1], np.arange(5.0))


def test_the_last_states_are_kept(tmp_path):
    for step in (1, 2, 30, 4):
        state.save_state(tmp_path, state.Progress(step=step), [], keep=2)
    # 30 was damaged: else 4 would not follow it.
    assert [path.name for path in state._states(tmp_path)] == [
        "step-00000004.npz",
        "step-00000002.npz",
    ]
    state.save_state(tmp_path, state.Progress(step=3), [], keep=1)
    assert [path.name for path in state._states(tmp_path)] == ["step-00000003.npz"]


def test_what_a_killed_process_left_is_removed(data, tmp_path):  # noqa: F811
    folder = tmp_path / "run"
    (folder / "state").mkdir(parents=True)
    left = [
        folder / "state" / ".99-0123abcd.part.step-00000007.npz",
        folder / ".99-0123abcd.part.last.weights.h5",
        folder / ".99-0123abcd.part.config.yaml",
    ]
    for path in left:
        path.write_bytes(b"half of it")
    state.remove_leftovers(folder)
    assert not any(path.exists() for path in left)


def test_before_the_first_state_a_run_begins_anew(data, uninterrupted, tmp_path):  # noqa: F811
    folder = tmp_path / "run"
    config = configure(data, "training.max_steps=3")
    Trainer(config, folder)._lock.release()
    trainer = Trainer(load_run_config(folder), folder, resume=True)
    assert trainer.progress.step == 0
    assert [row["step"] for row in trainer.fit()] == [3]


def test_what_may_change_in_a_run_that_goes_on(uninterrupted, tmp_path):
    folder = uninterrupted[0]
    assert load_run_config(folder, ["training.max_epochs=9"]).training.max_epochs == 9
    with pytest.raises(ConfigError, match="training.warmup_steps cannot change"):
        load_run_config(folder, ["training.warmup_steps=9"])
    with pytest.raises(ConfigError, match="did you mean"):
        load_run_config(folder, ["training.warmup=9"])
    with pytest.raises(ConfigError, match="holds no run to go on with"):
        load_run_config(folder.parent)
    (tmp_path / "config.yaml").touch()
    with pytest.raises(ConfigError, match=r"config.yaml is empty"):
        load_run_config(tmp_path)


def test_another_corpus_is_refused(data, uninterrupted, monkeypatch):  # noqa: F811
    folder = uninterrupted[0]
    monkeypatch.setattr("transformer_tf.training.trainer._fingerprint", lambda pairs: "other")
    with pytest.raises(DataError, match="not those that the run"):
        Trainer(load_run_config(folder), folder, resume=True)


def test_two_processes_do_not_share_a_folder(data, tmp_path):  # noqa: F811
    trainer = Trainer(configure(data), tmp_path / "run")
    code = (
        "import sys; from pathlib import Path; from transformer_tf.training.trainer import _lock;"
        "_lock(Path(sys.argv[1]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, trainer.folder], capture_output=True, text=True, check=False
    )
    assert "Another process is training in" in result.stderr


@pytest.mark.parametrize("bad_step", [1, 3])
def test_a_loss_that_is_no_number_stops_the_run(data, tmp_path, bad_step):  # noqa: F811
    folder = tmp_path / "run"
    trainer = Trainer(configure(data, "training.save_minutes=1e-6"), folder)
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
    trainer._lock.release()
    message = str(error.value)
    assert f"nan at step {bad_step} (epoch 1, batch {bad_step} of" in message
    assert "training.learning_rate_scale=0.5 or training.clip_norm=1" in message
    if bad_step > 1:
        assert f"The state after step {bad_step - 1} is kept" in message
        _, arrays = state_of(folder)
        assert all(np.isfinite(value).all() for _, value in arrays)


def test_a_last_step_that_breaks_the_weights_is_not_kept(data, tmp_path):  # noqa: F811
    """Its own loss was still a number."""
    folder = tmp_path / "run"
    trainer = Trainer(configure(data, "training.max_steps=3"), folder)
    fit = trainer.training_model.fit
    variable = trainer.model.encoder.layers[0].feed_forward.hidden.bias

    def and_break(*arguments, **options):
        history = fit(*arguments, **options)
        variable.assign(np.full(variable.shape, np.nan))
        return history

    trainer.training_model.fit = and_break
    with pytest.raises(TrainingDivergedError, match="The validation loss is nan after step 3"):
        trainer.fit()
    trainer._lock.release()
    assert not list(folder.glob("*.weights.h5"))
    for path in (folder / "state").glob("step-*.npz"):
        with np.load(path) as content:
            assert all(np.isfinite(content[name]).all() for name in content if name.isdigit())


def test_held_out_pairs_are_those_the_run_began_with(data, uninterrupted, tmp_path):  # noqa: F811
    folder = tmp_path / "run"
    shutil.copytree(uninterrupted[0], folder)
    path = folder / "validation.tsv"
    path.write_text("another\tone\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(DataError, match="The validation pairs are not those that the run in"):
        Trainer(load_run_config(folder), folder, resume=True)


def test_samples_that_come_again_stand_there_once(uninterrupted, tmp_path):
    """A process may be lost between the samples of a validation and its state."""
    folder = tmp_path / "run"
    shutil.copytree(uninterrupted[0], folder)
    steps = [row["step"] for row in uninterrupted[1]]
    text = "".join(f"after step {step}\n  A tree.\n  → Ein Baum.\n" for step in steps)
    (folder / "samples.txt").write_text(
        f"{text}after step {steps[-1] + 7}\n  A tree.\n  → E", "utf-8"
    )
    trainer = Trainer(load_run_config(folder), folder, resume=True)
    trainer._lock.release()
    assert (folder / "samples.txt").read_text("utf-8") == text
