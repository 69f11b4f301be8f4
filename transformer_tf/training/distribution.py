"""Data-parallel training: several devices, or several machines, each with its rows of a batch.

Keras and JAX do the work (`keras.distribution.DataParallel`, `jax.distributed`): every device holds
all weights, and the gradients are summed over all of them. What is left to do here is to start
the processes, and to give each its own rows.
"""

from __future__ import annotations

import dataclasses

import keras
import numpy as np

from transformer_tf.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class Group:
    """The processes of a run, and this one among them.

    Attributes:
        size: Number of processes.
        number: Number of this process, from 0. Process 0 writes the run's folder.
    """

    size: int = 1
    number: int = 0

    @property
    def writes(self) -> bool:
        """Whether this process is the one that writes."""
        return self.number == 0


def join(coordinator: str, size: int, number: int) -> Group:
    """Makes this process one of several; to be called before Keras computes anything.

    Args:
        coordinator: HOST:PORT of process 0, the same for all.
        size: Number of processes.
        number: Number of this process, from 0.

    Raises:
        ConfigError: If the back end is not JAX, or the numbers do not fit.
    """
    _need_jax("Several processes need")
    if not 0 <= number < size:
        raise ConfigError(f"--process must be from 0 to {size - 1}, not {number}")
    keras.distribution.initialize(coordinator, size, number)
    return Group(size, number)


def share_batches(devices: int, group: Group) -> int:
    """Lets models that are built from now on share each batch among devices.

    Args:
        devices: Devices of each process to use.
        group: The processes.

    Returns:
        Number of devices in all; the rows of a batch must be a multiple of it.

    Raises:
        ConfigError: If there are not so many, or the back end is not JAX.
    """
    total = devices * group.size
    if total == 1:
        return 1
    _need_jax("training.devices of more than 1 needs")
    found = keras.distribution.list_devices()
    if len(found) < total or (group.size > 1 and len(found) != total):
        raise ConfigError(
            f"training.devices={devices} in {group.size} process(es) needs {total} devices; "
            f"there are {len(found)}"
        )
    keras.distribution.set_distribution(
        # Each process makes its rows itself.
        keras.distribution.DataParallel(devices=found[:total], auto_shard_dataset=False)
    )
    return total


def check_all_alike(group: Group, what: str, fingerprint: str) -> None:
    """Makes sure that all processes have the same of something.

    Raises:
        ConfigError: If they do not. Unequal batches would be trained on without a word.
    """
    if group.size == 1:
        return
    from jax.experimental import multihost_utils

    mine = np.frombuffer(fingerprint.encode(), dtype="uint8")
    try:
        multihost_utils.assert_equal(mine)
    except AssertionError as error:
        raise ConfigError(f"The processes do not have the same {what}") from error


def _need_jax(what: str) -> None:
    if keras.backend.backend() != "jax":
        raise ConfigError(f"{what} KERAS_BACKEND=jax, not {keras.backend.backend()}")
