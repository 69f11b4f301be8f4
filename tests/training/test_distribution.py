"""Two processes on this machine train the same model as one, on JAX."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import SETTINGS, configure
from transformer_tf.checkpoint import load_checkpoint
from transformer_tf.errors import ConfigError
from transformer_tf.runs.trainer import Trainer
from transformer_tf.training.distribution import ProcessGroup

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
