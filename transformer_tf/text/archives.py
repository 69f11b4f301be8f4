"""Read a text file where it lies: plain, compressed, or inside an archive, without unpacking it."""

import bz2
import contextlib
import functools
import gzip
import io
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple, cast

from transformer_tf.errors import DataError
from transformer_tf.files import whole_file

MAX_UNPACKED_RATIO = 100  # text packs to a third or a tenth; a file made to do harm to a thousandth
MIN_LIMIT_BYTES = 64 << 20  # a small file may unpack to this much, however well it was packed

_READ_BYTES = 1 << 17
# Of a bzip2 or LZMA member, `zipfile` unpacks at once all that one read takes from the archive.
_ZIP_READ_BYTES = 1 << 12
_LISTED_MEMBERS = 5

_ARCHIVE_SUFFIXES = {
    ".zip": "zip",
    ".tar": "tar",
    ".tar.gz": "gz",
    ".tgz": "gz",
    ".tar.bz2": "bz2",
    ".tbz2": "bz2",
    ".tar.xz": "xz",
    ".txz": "xz",
}
_COMPRESSED_SUFFIXES = {".gz": "gz", ".bz2": "bz2", ".xz": "xz"}
# What the standard library raises when it is given something else than it can read.
_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    IndexError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
)


class _Member(NamedTuple):
    """A name in an archive, which is only ever compared, and what it stands for."""

    name: str
    is_file: bool
    info: zipfile.ZipInfo | tarfile.TarInfo


def open_text(path: Path | str) -> BinaryIO:
    """Open a text file for reading its bytes, unpacked as they are read.

    Args:
        path: A plain file, a compressed one (`.gz`, `.bz2`, `.xz`), or a member of an archive
            (`.zip`, `.tar`, and `.tar` compressed), written like a file in a folder:
            `europarl.tgz/dir/europarl.de-en.de`. The archive's own name will do if it holds one
            file only, not counting those whose name, or whose folder's, starts with `_` or `.`.

    Returns:
        The bytes, as from `open(path, "rb")`; to be closed, or used as a context manager.

    Raises:
        DataError: If there is no such file or member, if it cannot be read, is damaged, or has
            another format than its name says, or if it unpacks to more than `MAX_UNPACKED_RATIO`
            times its size and more than `MIN_LIMIT_BYTES`. The message is one line. What shows
            only in reading is raised by the read.
    """
    path = Path(path)
    packed = _existing(path)
    kind, is_archive = _kind(packed)
    if not is_archive:
        if packed != path:
            raise DataError(
                f"There is no file {path}: {packed} is not an archive that has members; "
                "correct the name."
            )
        return _open_file(packed, kind)
    if packed == path:
        return _open_member(packed, _only_file(packed, _members(packed)))
    return _open_member(packed, path.relative_to(packed).as_posix())


def unpack_member(archive: Path, member_name: str, destination: Path) -> None:
    """Write one member of an archive to a file, which is there complete or not at all.

    Args:
        archive: A `.zip` or a `.tar`, compressed or not.
        member_name: The member's name without its folders.
        destination: The file to write, in a folder that exists; replaced if it is there.

    Raises:
        DataError: If the archive cannot be read, as in `open_text`, if not exactly one of its
            files has this name, or if the file cannot be written.
    """
    if not _kind(_existing(archive))[1]:
        raise DataError(f"{archive} is not an archive by its name: give a .zip or a .tar file.")
    members = _members(archive)
    named = [member for member in members if PurePosixPath(member.name).name == member_name]
    if len(named) != 1:
        raise DataError(
            f"{archive} should have one member {member_name}, not {len(named)} "
            f"({_some_names(members)}): delete it and run again, or get another copy."
        )
    try:
        with (
            whole_file(destination) as partial,
            _open_member(archive, named[0].name) as source,
            partial.open("xb") as file,
        ):
            shutil.copyfileobj(source, file, _READ_BYTES)
    except OSError as error:
        raise DataError(
            f"Could not write {destination}, unpacked from {archive} ({error.strerror or error}): "
            "check the folder and the space left."
        ) from error


def _existing(path: Path) -> Path:
    """Return `path`, or the file on the way to it of which the rest names a member."""
    try:
        if path.is_dir():
            raise DataError(f"{path} is a folder: give a file in it.")
        for candidate in (path, *path.parents):
            if candidate.exists() and not candidate.is_dir():
                return candidate
    except OSError as error:
        raise DataError(f"Cannot open {path} ({error.strerror}): give another file.") from error
    raise DataError(f"There is no file {path}: correct the name, or put the file there.")


def _kind(path: Path) -> tuple[str, bool]:
    """Return how a file is packed, `""` for not at all, and whether it has members."""
    name = path.name.lower()
    for suffixes, is_archive in ((_ARCHIVE_SUFFIXES, True), (_COMPRESSED_SUFFIXES, False)):
        for suffix, kind in suffixes.items():
            if name.endswith(suffix):
                return kind, is_archive
    return "", False


def _open_file(path: Path, kind: str) -> BinaryIO:
    """Open a file that is plain or compressed, or what a compressed archive was before."""
    source: io.RawIOBase | io.BufferedIOBase
    with _opening(path) as opened:
        if kind and path.is_file() and not path.stat().st_size:
            raise EOFError("it is empty")  # which `gzip` would take for a complete file
        if kind == "gz":
            source = gzip.GzipFile(path)
        elif kind == "bz2":
            source = bz2.BZ2File(path)
        elif kind == "xz":
            source = lzma.LZMAFile(path)  # noqa: SIM115 - closed by `opened`, as all of them
        else:
            source = path.open("rb", buffering=0)
        opened.callback(source.close)
        limit = _limit(path) if kind else None
        return io.BufferedReader(_Reader(source, path, limit, opened.pop_all()), _READ_BYTES)


def _open_member(path: Path, name: str) -> BinaryIO:
    """Open the member `name` of an archive."""
    kind, _ = _kind(path)
    at_end = None
    read_bytes = _READ_BYTES
    with _opening(path) as opened:
        if kind == "zip":
            archive = opened.enter_context(zipfile.ZipFile(path))
            member = _find(path, name, _zip_members(archive))
            source = _open_zip_member(path, archive, cast(zipfile.ZipInfo, member.info))
            read_bytes = _ZIP_READ_BYTES
        else:
            tar, stream = _open_tar(path, kind, opened)
            member = _find(path, name, _tar_members(tar))
            source = cast(io.BufferedIOBase, tar.extractfile(cast(tarfile.TarInfo, member.info)))
            if kind != "tar":
                # The checksum follows the members behind this one: without it, damage may be
                # taken for text.
                at_end = functools.partial(_drain, stream)
        opened.callback(source.close)
        reader = _Reader(source, path, _limit(path), opened.pop_all(), read_bytes, at_end)
        return io.BufferedReader(reader, _READ_BYTES)


def _open_zip_member(
    path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> io.BufferedIOBase:
    """Open a member of a zip unless it needs what the standard library does not have."""
    if info.flag_bits & 1:
        raise DataError(f"{path} is encrypted: unpack it yourself, and give the unpacked file.")
    try:
        return cast(io.BufferedIOBase, archive.open(info))
    except NotImplementedError as error:
        raise DataError(
            f"{path} is compressed in a way that Python cannot read ({error}): unpack it "
            "yourself, and give the unpacked file."
        ) from error


def _open_tar(
    path: Path, kind: str, opened: contextlib.ExitStack
) -> tuple[tarfile.TarFile, BinaryIO]:
    """Open a tar, and return with it the stream it is read from."""
    stream: BinaryIO
    if kind == "tar":  # seeks past the members that nobody wants
        stream = opened.enter_context(path.open("rb"))
        tar = tarfile.open(fileobj=stream, mode="r:")  # noqa: SIM115 - closed by `opened`
    else:
        stream = opened.enter_context(_open_file(path, kind))
        tar = tarfile.open(fileobj=stream, mode="r|", bufsize=_READ_BYTES)  # noqa: SIM115
    opened.callback(tar.close)
    return tar, stream


def _members(path: Path) -> list[_Member]:
    """List an archive."""
    kind, _ = _kind(path)
    with _opening(path) as opened:
        if kind == "zip":
            return list(_zip_members(opened.enter_context(zipfile.ZipFile(path))))
        tar, _ = _open_tar(path, kind, opened)
        return list(_tar_members(tar))


def _zip_members(archive: zipfile.ZipFile) -> Iterator[_Member]:
    for info in archive.infolist():
        unix_type = stat.S_IFMT(info.external_attr >> 16)  # 0 if packed by another system
        is_file = not info.is_dir() and unix_type in (0, stat.S_IFREG)
        yield _Member(info.filename, is_file, info)


def _tar_members(archive: tarfile.TarFile) -> Iterator[_Member]:
    for info in archive:
        yield _Member(info.name, info.isreg(), info)


def _find(path: Path, name: str, members: Iterable[_Member]) -> _Member:
    """Return the first member with a name, and look no further."""
    passed = []
    for member in members:
        if _plain_name(member.name) == _plain_name(name):
            if member.is_file:
                return member
            raise DataError(
                f"{name} in {path} is a folder or a link, not a file: name a file in it."
            )
        passed.append(member)
    raise DataError(
        f"{path} has no member {name}: name one that it has ({_some_names(passed)}), "
        "or get a whole copy."
    )


def _only_file(path: Path, members: Sequence[_Member]) -> str:
    """Return the name of an archive's one file."""
    files = [member for member in members if member.is_file]
    shown = [member for member in files if not _is_hidden(member.name)]
    if len(shown) == 1:
        return shown[0].name
    example = _plain_name((shown or files)[0].name) if files else "NAME"
    raise DataError(
        f"{path} holds {len(shown)} files, not one ({_some_names(shown or files)}): name the one "
        f"to read, like {path}/{example!r}."
    )


def _plain_name(name: str) -> str:
    """Return a member's name as it looks below a path: `./a//b` and `/a/b` are `a/b`."""
    return PurePosixPath(name.lstrip("/")).as_posix()


def _is_hidden(name: str) -> bool:
    """Tell files about files (`_about.txt`, `__MACOSX/...`, `.DS_Store`) from the text."""
    return any(part.startswith(("_", ".")) for part in PurePosixPath(_plain_name(name)).parts)


def _some_names(members: Sequence[_Member]) -> str:
    """List a few members on one line, whatever is in their names."""
    names = [repr(_plain_name(member.name)) for member in members if member.is_file]
    more = ["..."] if len(names) > _LISTED_MEMBERS else []
    return ", ".join([*names[:_LISTED_MEMBERS], *more]) or "no file at all"


class _Reader(io.RawIOBase):
    """The bytes of a source, limited in number, and with errors that name the file.

    Args:
        source: What is read from.
        path: The file on the disk, for messages.
        limit: How many bytes there may be, `None` for any number.
        opened: What is closed with the reader.
        read_bytes: The most that is asked of `source` at once.
        at_end: Called when all bytes were read; may find that they were wrong.
    """

    def __init__(
        self,
        source: io.RawIOBase | io.BufferedIOBase,
        path: Path,
        limit: int | None,
        opened: contextlib.ExitStack,
        read_bytes: int = _READ_BYTES,
        at_end: Callable[[], None] | None = None,
    ) -> None:
        self._source = source
        self._path = path
        self._limit = limit
        self._opened = opened
        self._read_bytes = read_bytes
        self._at_end = at_end
        self._count = 0

    def readable(self) -> bool:
        """Return `True`, as `io.BufferedReader` requires."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Put the next bytes into `buffer` and return their number, 0 at the end."""
        size = min(len(buffer), self._read_bytes)
        if self._limit is not None:
            # One byte more than is allowed tells a file that ends there from one that goes on.
            size = min(size, self._limit - self._count + 1)
        try:
            count = self._source.readinto(memoryview(buffer)[:size]) or 0
            if count == 0 and self._at_end is not None:
                self._at_end()
        except _DAMAGE as error:
            raise _unreadable(self._path, error) from error
        self._count += count
        if self._limit is not None and self._count > self._limit:
            raise DataError(
                f"{self._path} unpacks to more than {self._limit} bytes, too many for its size: "
                "if you trust it, unpack it yourself, and give the unpacked file."
            )
        return count

    def close(self) -> None:
        """Close the source and whatever it is read from."""
        if not self.closed:
            try:
                self._opened.close()
            finally:
                super().close()


def _limit(path: Path) -> int:
    """Return how many bytes a packed file may unpack to."""
    return max(MIN_LIMIT_BYTES, MAX_UNPACKED_RATIO * path.stat().st_size)


def _drain(stream: BinaryIO) -> None:
    """Read a stream to its end, where its checksum is."""
    while stream.read(_READ_BYTES):
        pass


@contextlib.contextmanager
def _opening(path: Path) -> Iterator[contextlib.ExitStack]:
    """Give a stack for what is opened, with errors that name `path`.

    The stack is closed at the end of the block, or by whoever has taken it over with `pop_all`.
    """
    with contextlib.ExitStack() as opened:
        try:
            yield opened
        except _DAMAGE as error:
            raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> DataError:
    """Return what to tell the user about an error in reading `path`."""
    if isinstance(error, OSError) and error.errno is not None:
        return DataError(f"Cannot read {path} ({error.strerror}): check that you may read it.")
    reason = " ".join(str(error).split()) or type(error).__name__
    return DataError(
        f"{path} is damaged or not what its name says ({reason}): delete it and run again to "
        "download it afresh, or get a whole copy."
    )
