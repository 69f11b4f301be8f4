"""Files of one sentence a line, read with care and written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from transformer_tf.errors import DataError


def split_lines(content: bytes, name: str) -> list[str]:
    r"""The lines of a UTF-8 text, whatever ends them (`\n` or `\r\n`); a byte order mark is cut.

    Args:
        content: The text's bytes.
        name: What to call it in an error.

    Raises:
        DataError: One line that names the line that is not UTF-8.
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    decoded = []
    for number, line in enumerate(lines, start=1):
        try:
            decoded.append(line.removesuffix(b"\r").decode("utf-8"))
        except UnicodeDecodeError as error:
            raise DataError(
                f"{name}: line {number} is not UTF-8 (byte 0x{line[error.start]:02x}); convert "
                "the text first, from Latin-1 for instance with: iconv -f latin1 -t utf-8"
            ) from error
    return decoded


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
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(line + "\n")
        os.replace(partial, path)
    except OSError as error:
        raise DataError(f"Cannot write {path}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()
