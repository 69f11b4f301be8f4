"""Files of one sentence a line, read with care and written whole or not at all."""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from tqdm import tqdm

from transformer_tf.errors import DataError
from transformer_tf.files import whole_file


def iterate_lines(file: IO[bytes], name: str) -> Iterator[str]:
    r"""The lines of a UTF-8 file, whatever ends them (`\n` or `\r\n`); a byte order mark is cut.

    Args:
        file: The open file; it is read as far as lines are asked for.
        name: What to call it in an error.

    Raises:
        DataError: One line that names the line that is not UTF-8.
    """
    for number, line in enumerate(file, start=1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{name}: line {number} is not UTF-8 (byte 0x{line[error.start]:02x}); convert "
                "the text first, from Latin-1 for instance with: iconv -f latin1 -t utf-8"
            ) from error


def count_lines(path: Path) -> int:
    """The number of lines of a UTF-8 file, read through once without keeping it.

    Raises:
        DataError: If it is missing or not UTF-8.
    """
    try:
        with path.open("rb") as file:
            return sum(1 for _ in iterate_lines(file, str(path)))
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror}") from error


def blocks(lines: Iterable[str], size: int, skip: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Lines in blocks, each with the number of its first line, from 1.

    Args:
        lines: The lines.
        size: Most lines of a block.
        skip: Number of lines to leave out at the beginning.
    """
    rest = itertools.islice(lines, skip, None)
    number = skip + 1
    while block := list(itertools.islice(rest, size)):
        yield number, block
        number += len(block)


def split_lines(content: bytes, name: str) -> list[str]:
    r"""The lines of a UTF-8 text, whatever ends them (`\n` or `\r\n`); a byte order mark is cut.

    Args:
        content: The text's bytes.
        name: What to call it in an error.

    Raises:
        DataError: One line that names the line that is not UTF-8.
    """
    return list(iterate_lines(io.BytesIO(content), name))


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file.

    Raises:
        DataError: If it is missing or not UTF-8.
    """
    try:
        return split_lines(path.read_bytes(), str(path))
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror}") from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes a file with a line each; it appears when it is complete.

    Raises:
        DataError: If it cannot be written. Nothing is left behind then.
    """
    try:
        with (
            whole_file(path) as partial,
            partial.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for line in lines:
                file.write(line + "\n")
    except OSError as error:
        raise DataError(f"Cannot write {path}: {error.strerror}") from error


class LineWriter:
    """Writes lines to a file, or to standard output, as they come.

    Use it as a context manager. What has been flushed is on its way to the disk: a process that
    dies loses no line of that, and `resume` goes on behind the last whole one.

    Args:
        path: The file; None for standard output.
        resume: Whether to keep the lines that are in the file already.
        total: Number of lines that are expected: shows a progress bar on a terminal. None for no
            bar.

    Attributes:
        done: Number of lines that were in the file already.

    Raises:
        DataError: If the file cannot be written.
    """

    def __init__(self, path: Path | None, resume: bool = False, total: int | None = None):
        self.path = path
        self.done = 0
        self._file: IO[str] = sys.stdout
        if path is not None:
            with self._errors():
                if resume and path.exists():
                    self.done = _cut_at_last_line(path)
                mode = "a" if resume else "w"
                self._file = path.open(mode, encoding="utf-8", newline="\n")
        # Where translations go to the terminal a bar would only be in their way.
        hidden = total is None or not sys.stderr.isatty() or path is None
        self._bar = tqdm(total=total, initial=self.done, unit="line", disable=hidden)

    def write(self, lines: Iterable[str]) -> None:
        """Writes the lines for one sentence."""
        with self._errors():
            for line in lines:
                self._file.write(line + "\n")
        self._bar.update()

    def flush(self) -> None:
        """Hands what was written to the operating system."""
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
        self._bar.close()
        with self._errors():
            if self.path is None:
                self._file.flush()
            else:
                self._file.close()


def _cut_at_last_line(path: Path) -> int:
    """Cuts a line without an end off a file and returns the number of the others."""
    lines = whole = 0
    with path.open("rb+") as file:
        for line in file:
            if line.endswith(b"\n"):
                lines += 1
                whole += len(line)
        file.truncate(whole)
    return lines
