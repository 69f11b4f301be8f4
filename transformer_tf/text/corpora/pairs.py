"""Sentence pairs on disk, for corpora larger than memory."""

from __future__ import annotations

import contextlib
import mmap
import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, cast, overload

import numpy as np

from transformer_tf.errors import DataError

Pair = tuple[str, str]
"""A source sentence and its translation."""


class StoredPairs(Sequence[Pair]):
    """Sentence pairs in a memory-mapped file, or a selection of them.

    Args:
        buffer: Lines `source TAB target LF` in UTF-8.
        starts: Where each line starts, and where the last one ends.
        weights: How often an epoch shows the pair of each line.
        indices: The selected lines, in order.
    """

    def __init__(
        self,
        buffer: bytes | mmap.mmap,
        starts: np.ndarray,
        weights: np.ndarray,
        indices: np.ndarray,
    ):
        self._buffer = buffer
        self._starts = starts
        self._weights = weights
        self._indices = indices

    @property
    def weights(self) -> np.ndarray:
        """How often an epoch shows each pair: `float32` array `(len(self),)`."""
        return self._weights[self._indices]

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> Pair: ...

    @overload
    def __getitem__(self, index: slice) -> StoredPairs: ...

    def __getitem__(self, index: int | slice) -> Pair | StoredPairs:
        if isinstance(index, slice):
            return self.select(self._indices[index])
        source, target = self.line(index)[:-1].decode("utf-8").split("\t")
        return source, target

    def line(self, index: int) -> bytes:
        """Returns the line of a pair in the file."""
        line = self._indices[index]
        return self._buffer[self._starts[line] : self._starts[line + 1]]

    def select(self, indices: np.ndarray) -> StoredPairs:
        """Returns the pairs of some lines of the same file.

        Args:
            indices: The numbers of the lines, in the order of the result.
        """
        return StoredPairs(self._buffer, self._starts, self._weights, indices)


class PairWriter:
    """Writes pairs to an unnamed file, which the operating system removes after use.

    A context manager that closes the file; the pairs that `finish` returned stay readable.

    Args:
        directory: The folder of the file; created if missing.

    Raises:
        DataError: If the folder cannot be written to.
    """

    def __init__(self, directory: Path):
        self._directory = directory
        self._starts = array("q", [0])
        self._weights = array("f")
        try:
            directory.mkdir(parents=True, exist_ok=True)
            # `cast`: tempfile's type depends on the platform.
            file = tempfile.TemporaryFile(dir=directory, prefix=".pairs-")  # noqa: SIM115
            self._file = cast(BinaryIO, file)
        except OSError as error:
            raise self._error(error) from error

    def __enter__(self) -> PairWriter:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):  # a full disk, which `add` or `finish` reported
            self._file.close()  # the memory map stays

    def add(self, pair: Pair, weight: float = 1.0) -> None:
        """Appends a normalized pair, without tabs and line breaks."""
        line = f"{pair[0]}\t{pair[1]}\n".encode()
        try:
            self._file.write(line)
        except OSError as error:
            raise self._error(error) from error
        self._starts.append(self._starts[-1] + len(line))
        self._weights.append(weight)

    def finish(self) -> StoredPairs:
        """Returns all pairs. No pairs can be added afterwards."""
        try:
            self._file.flush()
            size = self._starts[-1]
            # An empty file cannot be mapped.
            buffer = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except OSError as error:
            raise self._error(error) from error
        starts = np.frombuffer(self._starts, dtype=np.int64)
        weights = np.frombuffer(self._weights, dtype=np.float32)
        return StoredPairs(buffer, starts, weights, np.arange(len(starts) - 1))

    def _error(self, error: OSError) -> DataError:
        return DataError(
            f"Cannot write to {self._directory} ({error.strerror}): choose another folder for "
            "prepared data with data.cache_directory"
        )
