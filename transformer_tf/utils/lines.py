"""Reads and writes files with one sentence per line."""

from __future__ import annotations

import contextlib
import io
import queue
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from transformer_tf.errors import DataError
from transformer_tf.utils.files import atomic_write

PATIENCE = 0.05  # seconds without a further line until a block is complete
FIRST_BLOCK = 16


def iterate_lines(file: IO[bytes], name: str, longest: int | None = None) -> Iterator[str]:
    r"""Yields the lines of a UTF-8 file, without line ends (`\n` or `\r\n`) or byte order mark.

    Args:
        file: The open file.
        name: The name of the file for error messages.
        longest: Maximum number of characters of a line; None for no limit.

    Raises:
        DataError: One line that names the line that is not UTF-8 or too long.
    """
    # A character has at most 4 bytes, so a line that is not read to its end is too long.
    size = -1 if longest is None else 4 * (longest + 3)
    for number, line in enumerate(iter(lambda: file.readline(size), b""), start=1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if longest and len(line.decode("utf-8", "ignore").rstrip("\r\n")) > longest:
            raise DataError(
                f"{name}: line {number} has more than {longest} characters: split it into several "
                "lines"
            )
        try:
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{name}: line {number} is not UTF-8 (byte 0x{line[error.start]:02x}); convert "
                "the text first, for instance from Latin-1 with: iconv -f latin1 -t utf-8"
            ) from error


def count_lines(path: Path, longest: int | None = None) -> int:
    """Counts the lines of a UTF-8 file.

    Raises:
        DataError: If it is missing or not UTF-8, or if a line is longer than `longest`.
    """
    try:
        with path.open("rb") as file:
            return sum(1 for _ in iterate_lines(file, str(path), longest))
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror}") from error


def blocks(lines: Iterable[str], most: int) -> Iterator[list[str]]:
    """Yields lines in blocks of at most `most`, each for about a second of work.

    A block ends early if no line comes for a while, as from a slow program in a pipe. An error of
    `lines` is raised after the lines before it.
    """
    arrived: queue.Queue[str | Exception | None] = queue.Queue(most)
    size = min(FIRST_BLOCK, most)

    def read() -> None:
        try:
            for line in lines:
                arrived.put(line)
            arrived.put(None)
        except Exception as error:
            arrived.put(error)

    threading.Thread(target=read, daemon=True).start()
    while True:
        block, item = [], arrived.get()
        while isinstance(item, str):
            block.append(item)
            if len(block) == size:
                break
            try:
                item = arrived.get(timeout=PATIENCE)
            except queue.Empty:
                break
        if block:
            began = time.monotonic()
            yield block
            seconds = time.monotonic() - began  # that the caller has worked
            if seconds > 1:
                size = max(size // 2, 1)
            elif seconds < 0.5 and len(block) == size:
                size = min(2 * size, most)
        if item is None:
            return
        if isinstance(item, Exception):
            raise item


def count_complete_lines(path: Path, most: int | None = None) -> int:
    """Counts the lines that a killed process wrote to a file, and cuts off an incomplete last one.

    Args:
        path: The file.
        most: Number of lines that the process had to write. A file with more is not changed.

    Raises:
        DataError: If the file cannot be changed, or has more lines.
    """
    if not path.exists():
        return 0
    try:
        with path.open("rb+") as file:
            lengths = [len(line) if line.endswith(b"\n") else 0 for line in file]
            if most is not None and len(lengths) > most:
                raise DataError(f"{path} has more than {most} lines: it belongs to another file")
            file.truncate(sum(lengths))
    except OSError as error:
        raise DataError(f"Cannot write {path}: {error.strerror}") from error
    return sum(map(bool, lengths))


def split_lines(content: bytes, name: str) -> list[str]:
    r"""Returns the lines of a UTF-8 text, without line ends (`\n`, `\r\n`) or byte order mark.

    Args:
        content: The text's bytes.
        name: The name of the file for error messages.

    Raises:
        DataError: One line that names the line that is not UTF-8.
    """
    return list(iterate_lines(io.BytesIO(content), name))


def read_lines(path: Path) -> list[str]:
    """Returns the lines of a UTF-8 file.

    Raises:
        DataError: If it is missing or not UTF-8.
    """
    try:
        return split_lines(path.read_bytes(), str(path))
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror}") from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes a file of lines, which appears only when complete.

    Raises:
        DataError: If it cannot be written. No partial file remains.
    """
    try:
        with (
            atomic_write(path) as partial,
            partial.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for line in lines:
                file.write(line + "\n")
    except OSError as error:
        raise DataError(f"Cannot write {path}: {error.strerror}") from error


class LineWriter:
    """Writes lines to a file, or to standard output, one after the other.

    Use it as a context manager. Flushed lines survive if the process is killed.

    Args:
        path: The file; None for standard output.
        total: Expected number of sentences, for a progress bar on a terminal; None for no bar.
        done: Number of lines in the file, which stay.

    Raises:
        DataError: If the file cannot be written.
    """

    def __init__(self, path: Path | None, total: int | None = None, done: int = 0):
        self.path = path
        self._file: IO[str] = sys.stdout
        if path is not None:
            with self._errors():
                self._file = path.open("a" if done else "w", encoding="utf-8", newline="\n")
        self._bar = None
        if total is not None and sys.stderr.isatty() and path is not None:
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, unit="line")

    def write(self, lines: Iterable[str]) -> None:
        """Writes the lines of one sentence."""
        with self._errors():
            for line in lines:
                self._file.write(line + "\n")
        if self._bar:
            self._bar.update()

    def flush(self) -> None:
        """Passes the written lines to the operating system."""
        with self._errors():
            self._file.flush()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            name = self.path or "standard output"
            raise DataError(f"Cannot write {name}: {error.strerror}") from error

    def __enter__(self) -> LineWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar:
            self._bar.close()
        with self._errors():
            if self.path is None:
                self._file.flush()
            else:
                self._file.close()
