"""Two processes on this machine train the same model as one, on JAX."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from tests.conftest import SETTINGS, configure
from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.errors import ConfigError
from transformer_tf.runs.trainer import Trainer
from transformer_tf.training.distribution import (
    ProcessGroup,
    check_equal,
    join,
    use_devices,
)

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = [
    *SETTINGS,
    "training.max_steps=6",
    "training.validate_every=3",
    "training.warmup_steps=1",  # a number: a share would depend on where the run is resumed
    "training.learning_rate_scale=1.3",
    "training.max_buckets=1",
    "data.max_length=70",
    "training.clip_norm=1.0",
]


def run(folder, *overrides, size=1, devices=1):
    """Trains in `size` processes of `devices` devices and returns what each of them printed."""
    options = [] if "resume" in overrides else [*OPTIONS, f"training.devices={devices}"]
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "KERAS_BACKEND": "jax",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "JAX_PLATFORMS": "cpu",
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.training.worker", folder, str(size), str(number)]
            + [str(port), *options, *overrides],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
        )
        for number in range(size)
    ]
    try:
        results = [process.communicate(timeout=400) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (_, errors) in zip(processes, results, strict=True):
        assert process.returncode == 0, errors
    return [output for output, _ in results]


def weights(folder):
    """The weights, except those with a gradient of rounding errors, which Adam enlarges."""
    model = load_checkpoint(folder)[1]
    return {
        weight.path: np.asarray(weight)
        for weight in model.weights
        if "key_projection/bias" not in weight.path
    }


@pytest.fixture(scope="module")
def rows(data, tmp_path_factory):
    """The tokens per batch that give batches of 8 rows, with any number of devices."""
    trainer = Trainer(configure(*OPTIONS), tmp_path_factory.mktemp("rows") / "run").prepare()
    return f"training.tokens_per_batch={8 * max(trainer.data.train.shapes[0])}"


@pytest.fixture(scope="module")
def one(data, rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one") / "run"
    return folder, run(folder, rows)


def assert_same(folder, other):
    mine, theirs = weights(folder), weights(other)
    for name in mine:
        np.testing.assert_allclose(mine[name], theirs[name], atol=2e-5, err_msg=name)


@pytest.mark.slow
def test_two_processes_train_and_resume_as_one(data, rows, one, tmp_path):
    folder = tmp_path / "run"
    run(folder, rows, "training.max_steps=3", size=2)
    outputs = run(folder, "resume", "training.max_steps=6", size=2)
    results = {output.splitlines()[-1] for output in outputs}  # Gloo prints lines before it
    assert len(results) == 1
    assert results.pop().startswith("6 ")
    assert_same(folder, one[0])


@pytest.mark.slow
def test_two_devices_train_as_one(data, rows, one, tmp_path):
    folder = tmp_path / "run"
    run(folder, rows, devices=2)
    assert_same(folder, one[0])


def test_a_time_limit_needs_one_process(data, tmp_path):
    config = configure("training.max_minutes=3")
    with pytest.raises(ConfigError, match="process"):
        Trainer(config, tmp_path / "run", group=ProcessGroup(2, 0)).prepare()


def test_several_devices_need_jax(data, tmp_path):
    with pytest.raises(ConfigError, match="KERAS_BACKEND=jax, not tensorflow"):
        Trainer(configure("training.devices=2"), tmp_path / "run").prepare()


@pytest.fixture
def jax_alone(monkeypatch):
    """The backend's name is that of JAX, and Keras only keeps what it is asked for."""
    calls = []
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")

    def distribution(**options):
        return options

    monkeypatch.setattr(keras.distribution, "DataParallel", distribution)
    for name in ("initialize", "set_distribution"):
        monkeypatch.setattr(keras.distribution, name, lambda *arguments: calls.append(arguments))
    return calls


@pytest.mark.parametrize(("size", "index"), [(1, 0), (3, 0), (3, 2)])
def test_a_process_joins_its_group(jax_alone, size, index):
    assert join("here:7", size, index) == ProcessGroup(size, index)
    assert jax_alone == [("here:7", size, index)]


@pytest.mark.parametrize(("size", "index"), [(3, -1), (3, 3)])
def test_a_process_has_a_number_below_that_of_processes(jax_alone, size, index):
    with pytest.raises(ConfigError, match=f"from 0 to {size - 1}, not {index}"):
        join("here:7", size, index)
    assert jax_alone == []


def test_a_group_needs_jax(monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "torch")
    with pytest.raises(ConfigError, match="^Several processes need KERAS_BACKEND=jax, not torch"):
        join("here:7", 2, 0)
    with pytest.raises(ConfigError, match="^training.devices above 1 needs KERAS_BACKEND=jax"):
        use_devices(1, ProcessGroup(2, 0))
    assert use_devices(1, ProcessGroup()) == 1


@pytest.mark.parametrize(
    ("devices", "size", "found", "enough"),
    [
        (3, 1, 2, False),
        (3, 1, 3, True),
        (3, 1, 5, True),  # one process leaves the others alone
        (3, 2, 5, False),
        (3, 2, 6, True),
        (3, 2, 7, False),  # several have all their devices in the group
        (1, 2, 2, True),
        (1, 2, 3, False),
    ],
)
def test_the_devices_of_a_run(jax_alone, monkeypatch, devices, size, found, enough):
    names = [f"gpu:{number}" for number in range(found)]
    monkeypatch.setattr(keras.distribution, "list_devices", lambda: names)
    group, total = ProcessGroup(size, 0), devices * size
    if enough:
        assert use_devices(devices, group) == total
        # Each process makes its own rows, so that Keras must not divide them again.
        assert jax_alone == [({"devices": names[:total], "auto_shard_dataset": False},)]
    else:
        with pytest.raises(ConfigError, match=f"needs {total} devices; there are {found}"):
            use_devices(devices, group)
        assert jax_alone == []


def test_processes_compare_their_fingerprints(monkeypatch):
    """JAX compares numbers: here with those of "ab", of another process."""
    multihost_utils = pytest.importorskip("jax.experimental.multihost_utils")

    def assert_equal(mine):
        assert mine.dtype == "uint8" and mine.tolist() == [97, 98]

    monkeypatch.setattr(multihost_utils, "assert_equal", assert_equal)
    check_equal(ProcessGroup(2, 1), "training pairs", "ab")
    for size in (2, 3):
        with pytest.raises(ConfigError, match="the same training pairs"):
            check_equal(ProcessGroup(size, 1), "training pairs", "abc")
    check_equal(ProcessGroup(), "training pairs", "abc")  # it is alone
