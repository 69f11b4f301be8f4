"""Opens text files that are plain, compressed or members of an archive."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from transformer_tf.errors import DataError, one_line

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_DAMAGE: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error, lzma.LZMAError)
_DAMAGE += (tarfile.TarError, zipfile.BadZipFile, RuntimeError)  # a password is a RuntimeError


@contextlib.contextmanager
def open_text(path: Path | str) -> Iterator[IO[bytes]]:
    """Opens a text file for reading its bytes. Compressed files are unpacked while they are read.

    Args:
        path: A plain file, a compressed one (`.gz`, `.bz2`, `.xz`), or a member of an archive
            (`.zip`, `.tar`, or a compressed `.tar`), written like a file in a folder:
            `europarl.tgz/europarl.de-en.de`. The folders inside the archive can be left out if
            only one member has the name.

    Raises:
        DataError: If the file or member is missing, unreadable or damaged. The message is one
            line. Reading can raise it too.
    """
    path = Path(path)
    with contextlib.ExitStack() as opened:
        try:
            archive = next((parent for parent in path.parents if parent.is_file()), None)
            if archive is not None:
                member = path.relative_to(archive).as_posix()
                yield opened.enter_context(_open_member(archive, member, opened))
            elif path.name.lower().endswith(_ARCHIVES):
                raise DataError(f"{path} is an archive: name a file in it, {path}/NAME")
            else:
                opener = _OPENERS.get(path.suffix.lower(), open)
                yield opened.enter_context(opener(path, "rb"))
        except FileNotFoundError as error:
            raise DataError(f"Cannot read {path}: {error.strerror}") from error
        except _DAMAGE as error:
            reason = getattr(error, "strerror", None) or one_line(error) or type(error).__name__
            raise DataError(
                f"Cannot read {path} ({reason}). If it is damaged, delete it and run again to "
                "download it again, or get a complete copy"
            ) from error


def _open_member(archive: Path, name: str, opened: contextlib.ExitStack) -> IO[bytes]:
    """Opens a member of an archive, which is closed together with `opened`."""
    if archive.suffix.lower() == ".zip":
        zipped = opened.enter_context(zipfile.ZipFile(archive))
        return zipped.open(_find_member(archive, name, zipped.namelist()))
    tarred = opened.enter_context(tarfile.open(archive))  # noqa: SIM115
    names = [info.name for info in tarred if info.isreg()]
    while tarred.fileobj.read(1 << 16):  # the checksum at the end reveals damage
        pass
    file = tarred.extractfile(_find_member(archive, name, names))
    assert file is not None  # only links and folders have no content
    return file


def _find_member(archive: Path, name: str, names: Sequence[str]) -> str:
    """Returns the member with this name, or else the only one with this end of its name."""
    found = [member for member in names if member.removeprefix("./") == name]
    found = found or [member for member in names if member.endswith(f"/{name}")]
    if len(found) != 1:
        shown = ", ".join(map(repr, names[:5]))
        raise DataError(f"{archive} has {len(found)} members named {name}; it holds {shown}")
    return found[0]
