"""Opens text files that are plain, compressed or members of an archive."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from transformer_tf.errors import DataError, one_line

MAX_UNPACKED_RATIO = 100  # text compresses to 1/10 or more, a decompression bomb to 1/1000
MIN_LIMIT_BYTES = 64 << 20  # every file may unpack to this size

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_BUFFER_BYTES = 1 << 17
_LISTED_MEMBERS = 5
_DAMAGE: tuple[type[Exception], ...] = (EOFError, OSError, RuntimeError, ValueError)
_DAMAGE += (zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)


def open_text(path: Path | str) -> io.BufferedReader:
    """Opens a text file for reading its bytes. Compressed files are unpacked while they are read.

    Args:
        path: A plain file, a compressed one (`.gz`, `.bz2`, `.xz`), or a member of an archive
            (`.zip`, `.tar`, or a compressed `.tar`), written like a file in a folder:
            `europarl.tgz/europarl.de-en.de`. The folders inside the archive can be left out if
            only one member has the name.

    Raises:
        DataError: If the file or member is missing, unreadable or damaged, or unpacks to more than
            100 times its size and more than 64 MiB. The message is one line. Reading can raise it
            too.
    """
    path = Path(path)
    try:
        packed = next((each for each in (path, *path.parents) if each.exists()), path)
    except OSError as error:
        raise DataError(f"Cannot open {path} ({error.strerror})") from error
    if packed.is_dir():
        problem = "is a folder: give a file in it" if packed == path else "does not exist"
        raise DataError(f"{path} {problem}")
    is_archive = packed.name.lower().endswith(_ARCHIVES)
    if not is_archive and packed != path:
        raise DataError(f"{path} does not exist: {packed} is not an archive")
    limit = None
    with contextlib.ExitStack() as opened:
        try:
            if is_archive:
                source = _open_member(packed, path.relative_to(packed).as_posix(), opened)
            else:
                source = _OPENERS.get(packed.suffix.lower(), open)(packed, "rb")
            opened.enter_context(source)
            if is_archive or packed.suffix.lower() in _OPENERS:
                limit = max(MIN_LIMIT_BYTES, MAX_UNPACKED_RATIO * packed.stat().st_size)
        except _DAMAGE as error:
            raise _unreadable(packed, error) from error
        return io.BufferedReader(_Reader(source, packed, limit, opened.pop_all()), _BUFFER_BYTES)


def _open_member(archive: Path, name: str, opened: contextlib.ExitStack) -> IO[bytes]:
    """Opens a member of an archive, which is closed together with `opened`."""
    if archive.suffix.lower() == ".zip":
        zipped = opened.enter_context(zipfile.ZipFile(archive))
        names = [info.filename for info in zipped.infolist() if not info.is_dir()]
        return zipped.open(_choose(archive, name, names))
    tarred = opened.enter_context(tarfile.open(archive))  # noqa: SIM115
    names = [info.name for info in tarred if info.isreg()]
    # The checksum is at the end of the file: reading it detects damage.
    while cast(IO[bytes], tarred.fileobj).read(_BUFFER_BYTES):
        pass
    return cast(IO[bytes], tarred.extractfile(_choose(archive, name, names)))


def _choose(archive: Path, name: str, names: Sequence[str]) -> str:
    """Returns the member with this full name, or else the only one with this file name."""
    found = [each for each in names if PurePosixPath(each) == PurePosixPath(name)]
    found = found or [each for each in names if PurePosixPath(each).name == name]
    if len(found) == 1:
        return found[0]
    shown = ", ".join([repr(each) for each in names[:_LISTED_MEMBERS]])
    shown += ", ..." if len(names) > _LISTED_MEMBERS else ""
    if name == ".":
        raise DataError(f"{archive} is an archive: add the name of the file in it ({shown})")
    problem = f"{len(found)} members" if found else "no member"
    raise DataError(f"{archive} has {problem} {name}: give the full name ({shown})")


class _Reader(io.RawIOBase):
    """Reads an opened file up to a number of bytes, with errors that name the file."""

    def __init__(
        self, source: IO[bytes], path: Path, limit: int | None, opened: contextlib.ExitStack
    ):
        self._source = source
        self._path = path
        self._limit = limit
        self._opened = opened
        self._count = 0

    def readable(self) -> bool:
        """Returns True; `io.BufferedReader` requires this method."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Reads the next bytes into `buffer` and returns their number, 0 at the end."""
        try:
            data = self._source.read(len(buffer))
        except _DAMAGE as error:
            raise _unreadable(self._path, error) from error
        self._count += len(data)
        if self._limit is not None and self._count > self._limit:
            raise DataError(
                f"{self._path} unpacks to more than {self._limit} bytes, too many for its size: "
                "if you trust it, unpack it yourself and give the unpacked file"
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Closes the file."""
        self._opened.close()
        super().close()


def _unreadable(path: Path, error: Exception) -> DataError:
    if isinstance(error, OSError) and error.errno is not None:
        return DataError(f"Cannot read {path} ({error.strerror})")
    reason = one_line(error) or type(error).__name__
    return DataError(
        f"{path} is damaged or has the wrong suffix ({reason}): delete it and run again to "
        "download it again, or get a complete copy"
    )
