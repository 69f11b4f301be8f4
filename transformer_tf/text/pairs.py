"""Sentence pairs on disk, so that a corpus may be larger than memory."""

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
    """Sentence pairs in a memory-mapped file, or some of them.

    Args:
        buffer: Lines `source TAB target LF` in UTF-8.
        starts: Where each line starts, and where the last one ends.
        indices: The lines that are meant, in this order.
    """

    def __init__(self, buffer: bytes | mmap.mmap, starts: np.ndarray, indices: np.ndarray):
        self._buffer = buffer
        self._starts = starts
        self._indices = indices

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
        """The pair at a position as it stands in the file."""
        line = self._indices[index]
        return self._buffer[self._starts[line] : self._starts[line + 1]]

    def select(self, indices: np.ndarray) -> StoredPairs:
        """Other lines of the same file."""
        return StoredPairs(self._buffer, self._starts, indices)


class PairWriter:
    """Writes pairs to a file that the operating system removes, whatever becomes of the process.

    A context manager, which closes the file; what `finish` has returned stays readable.

    Args:
        directory: Where the file goes; made if missing.

    Raises:
        DataError: If nothing can be written there.
    """

    def __init__(self, directory: Path):
        self._directory = directory
        self._starts = array("q", [0])
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
        with contextlib.suppress(OSError):  # of a full disk, which `add` or `finish` has told of
            self._file.close()  # a map of it, once it is made, stays

    def add(self, pair: Pair) -> None:
        """Appends a normalized pair, which has neither tabs nor line breaks."""
        line = f"{pair[0]}\t{pair[1]}\n".encode()
        try:
            self._file.write(line)
        except OSError as error:
            raise self._error(error) from error
        self._starts.append(self._starts[-1] + len(line))

    def finish(self) -> StoredPairs:
        """All pairs, from then on read-only."""
        try:
            self._file.flush()
            size = self._starts[-1]
            # An empty file cannot be mapped.
            buffer = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except OSError as error:
            raise self._error(error) from error
        starts = np.frombuffer(self._starts, dtype=np.int64)
        return StoredPairs(buffer, starts, np.arange(len(starts) - 1))

    def _error(self, error: OSError) -> DataError:
        return DataError(
            f"Cannot write to {self._directory} ({error.strerror}): name another folder for "
            "prepared data with data.cache_directory"
        )
