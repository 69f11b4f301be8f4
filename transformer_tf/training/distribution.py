"""Data-parallel training on several devices or machines, each with its rows of every batch.

Keras and JAX do the work (`keras.distribution.DataParallel`, `jax.distributed`): every device
holds all weights, and gradients are summed over all devices. This module starts the processes
and sets the devices; `stream.BatchStream` gives each process its rows.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path

import keras
import numpy as np

from transformer_tf.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class ProcessGroup:
    """The processes of a run, and the index of this one.

    Attributes:
        size: Number of processes.
        index: Index of this process, from 0.
    """

    size: int = 1
    index: int = 0

    @property
    def is_main(self) -> bool:
        """Whether this is process 0, which writes the run's folder."""
        return self.index == 0

    @contextlib.contextmanager
    def own_folder(self, folder: Path) -> Iterator[Path]:
        """Yields a folder to write to: `folder` for process 0, a temporary one for others."""
        if self.is_main:
            yield folder
            return
        with tempfile.TemporaryDirectory() as scratch:
            yield Path(scratch)


def join(coordinator: str, size: int, index: int) -> ProcessGroup:
    """Joins this process to a group. Must be called before Keras computes anything.

    Args:
        coordinator: HOST:PORT of process 0, the same for all processes.
        size: Number of processes.
        index: Index of this process, from 0.

    Raises:
        ConfigError: If the backend is not JAX, or `index` is out of range.
    """
    _require_jax("Several processes need")
    if not 0 <= index < size:
        raise ConfigError(f"--process must be from 0 to {size - 1}, not {index}")
    keras.distribution.initialize(coordinator, size, index)
    return ProcessGroup(size, index)


def use_devices(devices: int, group: ProcessGroup) -> int:
    """Distributes each batch over devices, for all models that are built afterwards.

    Args:
        devices: Number of devices of each process.
        group: The processes.

    Returns:
        Total number of devices. The number of rows of a batch must be a multiple of it.

    Raises:
        ConfigError: If there are not enough devices, or the backend is not JAX.
    """
    total = devices * group.size
    if total == 1:
        return 1
    _require_jax("training.devices above 1 needs")
    found = keras.distribution.list_devices()
    if len(found) < total or (group.size > 1 and len(found) != total):
        raise ConfigError(
            f"training.devices={devices} in {group.size} process(es) needs {total} devices; "
            f"there are {len(found)}"
        )
    keras.distribution.set_distribution(
        # Each process makes its own rows.
        keras.distribution.DataParallel(devices=found[:total], auto_shard_dataset=False)
    )
    return total


def check_equal(group: ProcessGroup, name: str, fingerprint: str) -> None:
    """Checks that a fingerprint is the same in all processes.

    Raises:
        ConfigError: If it is not, with `name` in the message.
    """
    if group.size == 1:
        return
    from jax.experimental import multihost_utils

    mine = np.frombuffer(fingerprint.encode(), dtype="uint8")
    try:
        multihost_utils.assert_equal(mine)
    except AssertionError as error:
        raise ConfigError(f"The processes do not have the same {name}") from error


def _require_jax(what: str) -> None:
    if keras.backend.backend() != "jax":
        raise ConfigError(f"{what} KERAS_BACKEND=jax, not {keras.backend.backend()}")
