"""Text out of compressed files and archives: every byte of it, one line of error, nothing else."""

import bz2
import gzip
import io
import lzma
import os
import random
import struct
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from transformer_tf.errors import DataError
from transformer_tf.text import archives
from transformer_tf.text.archives import open_text, unpack_member

TEXT = "".join(f"Zeile {i} {'ä' * (i % 41)}\n" for i in range(30011)).encode() + b"no line end"
OTHER = b"another text\n"
TAR_SUFFIXES = [".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".TAR.GZ"]
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
TAR_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tgz": gzip.compress,
    ".tbz2": bz2.compress,
    ".txz": lzma.compress,
    **PACKERS,
}


def write_tar(path: Path, members: dict[str, bytes], *special: tarfile.TarInfo) -> Path:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for info in special:
            tar.addfile(info)
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    path.write_bytes(TAR_PACKERS[path.suffix.lower()](packed.getvalue()))
    return path


def write_zip(
    path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED
) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def write_archive(path: Path, members: dict[str, bytes]) -> Path:
    return (write_zip if path.suffix == ".zip" else write_tar)(path, members)


def link(name: str, kind: bytes, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


def noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


def read(path: Path | str) -> bytes:
    with open_text(path) as file:
        return file.read()


def error_of(call: Callable[[], object]) -> str:
    """The message of the error that a call must raise, which is one line."""
    with pytest.raises(DataError) as caught:
        call()
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize("suffix", ["", ".txt", ".gz", ".bz2", ".xz", ".GZ"])
def test_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"deu{suffix}"
    path.write_bytes(PACKERS.get(suffix.lower(), bytes)(TEXT))

    assert read(path) == TEXT
    assert read(str(path)) == TEXT
    with open_text(path) as file:
        assert list(file) == TEXT.splitlines(keepends=True)
        assert file.readline() == b""
    assert file.closed


def test_file_of_several_streams(tmp_path: Path) -> None:
    for suffix in (".gz", ".bz2", ".xz"):
        path = tmp_path / f"deu{suffix}"
        path.write_bytes(PACKERS[suffix](TEXT) + PACKERS[suffix](OTHER))
        assert read(path) == TEXT + OTHER


@pytest.mark.parametrize("suffix", [".zip", *TAR_SUFFIXES])
def test_member(suffix: str, tmp_path: Path) -> None:
    members = {"first.txt": OTHER, "dir/deu.txt": TEXT, "last.txt": noise(300_007)}
    path = write_archive(tmp_path / f"corpus{suffix}", members)

    for name, data in members.items():
        assert read(path / name) == data
        assert read(f"{path}/{name}") == data
    with open_text(path / "dir/deu.txt") as file:
        assert list(file) == TEXT.splitlines(keepends=True)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    "compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_zip_compressions(compression: int, tmp_path: Path) -> None:
    path = write_zip(tmp_path / "corpus.zip", {"deu.txt": TEXT}, compression)

    assert read(path / "deu.txt") == TEXT


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tgz"])
def test_archive_of_one_file(suffix: str, tmp_path: Path) -> None:
    members = {
        "_about.txt": b"about",
        ".DS_Store": b"?",
        "./dir/deu.txt": TEXT,
        "__MACOSX/dir/deu.txt": b"?",
        "dir/._deu.txt": b"?",
    }
    assert read(write_archive(tmp_path / f"corpus{suffix}", members)) == TEXT


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tgz"])
def test_archive_of_several_files(suffix: str, tmp_path: Path) -> None:
    members = {f"dir/{i}\n.txt": OTHER for i in range(7)}
    path = write_archive(tmp_path / f"corpus{suffix}", members)
    message = error_of(lambda: read(path))

    assert f"{path} holds 7 files" in message
    assert f"like {path}/" in message
    assert [f"{i}\\n.txt" in message for i in range(7)] == [True] * 5 + [False] * 2


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tgz"])
def test_archive_without_files(suffix: str, tmp_path: Path) -> None:
    path = write_archive(tmp_path / f"corpus{suffix}", {})
    assert "holds 0 files" in error_of(lambda: read(path))
    path = write_archive(tmp_path / f"corpus{suffix}", {"_about.txt": OTHER})
    assert "_about.txt" in error_of(lambda: read(path))
    assert read(path / "_about.txt") == OTHER


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tgz"])
def test_missing_member(suffix: str, tmp_path: Path) -> None:
    path = write_archive(tmp_path / f"corpus{suffix}", {"deu.txt": OTHER})
    message = error_of(lambda: read(path / "dir/eng.txt"))

    for part in (str(path), "dir/eng.txt", "'deu.txt'"):
        assert part in message


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tgz"])
@pytest.mark.parametrize("name", ["../../secret.txt", "/secret.txt", "{root}/secret.txt"])
def test_names_that_lead_out_of_the_archive(suffix: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_bytes(b"secret")
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    name = name.format(root=tmp_path)
    path = write_archive(folder / f"corpus{suffix}", {"deu.txt": TEXT, "eng.txt": TEXT})
    error_of(lambda: read(f"{path}/{name}"))

    path = write_archive(folder / f"corpus{suffix}", {name: OTHER, "deu.txt": TEXT})
    assert read(f"{path}/{name}") == OTHER
    unpack_member(path, "secret.txt", folder / "unpacked")
    assert (folder / "unpacked").read_bytes() == OTHER
    assert (tmp_path / "secret.txt").read_bytes() == b"secret"
    assert sorted(os.listdir(folder)) == [path.name, "unpacked"]


@pytest.mark.parametrize("suffix", [".tar", ".tgz"])
@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE]
)
def test_special_tar_members_are_refused(suffix: str, kind: bytes, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_bytes(b"secret")
    special = link("link", kind, "secret.txt")
    path = write_tar(tmp_path / f"corpus{suffix}", {"secret.txt": b"inside"}, special)

    assert "not a file" in error_of(lambda: read(path / "link"))
    error_of(lambda: unpack_member(path, "link", tmp_path / "unpacked"))
    assert read(path) == b"inside"


def test_special_zip_members_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "corpus.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "deu.txt")
        archive.writestr("dir/", "")
        archive.writestr("deu.txt", TEXT)

    assert "not a file" in error_of(lambda: read(path / "link"))
    assert "not a file" in error_of(lambda: read(path / "dir"))
    assert read(path) == TEXT


def test_no_such_file(tmp_path: Path) -> None:
    (tmp_path / "deu.txt").write_bytes(TEXT)
    (tmp_path / "folder.zip").mkdir()
    (tmp_path / "folder.zip" / "deu.txt").write_bytes(OTHER)

    for name in ("eng.txt", "corpus.zip", "corpus.zip/eng.txt", "folder.zip/eng.txt", "eng.gz"):
        assert "There is no file" in error_of(lambda name=name: read(tmp_path / name))  # type: ignore[misc]
    assert "not an archive" in error_of(lambda: read(tmp_path / "deu.txt" / "eng.txt"))
    for folder in (tmp_path, tmp_path / "folder.zip"):
        assert "is a folder" in error_of(lambda folder=folder: read(folder))  # type: ignore[misc]
    assert "too long" in error_of(lambda: read(tmp_path / ("x" * 300)))
    assert read(tmp_path / "folder.zip" / "deu.txt") == OTHER


DAMAGED = {
    "truncated": lambda data: data[:-1000],
    "cut to half": lambda data: data[: len(data) // 2],
    "cut to three bytes": lambda data: data[:3],
    "empty": lambda data: b"",
    "overwritten": lambda data: data[: len(data) // 2] + bytes(64) + data[len(data) // 2 + 64 :],
    "text": lambda data: b"this is no archive\n" * 1000,
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zip", ".tar.gz", ".tar.bz2", ".tar.xz"])
def test_damaged(suffix: str, damage: str, tmp_path: Path) -> None:
    path = tmp_path / f"deu{suffix}"
    whole = noise(400_009)
    if suffix in PACKERS:
        path.write_bytes(PACKERS[suffix](whole))
        named = path
    else:
        named = write_archive(path, {"deu.txt": whole}) / "deu.txt"
    path.write_bytes(DAMAGED[damage](path.read_bytes()))

    for name in {path, named}:
        message = error_of(lambda name=name: read(name))  # type: ignore[misc]
        assert f"{path} is damaged or not what its name says" in message
        assert "delete it and run again" in message


@pytest.mark.parametrize("damage", ["cut to half", "empty", "text"])
def test_damaged_plain_tar(damage: str, tmp_path: Path) -> None:
    path = write_tar(tmp_path / "deu.tar", {"deu.txt": noise(400_009)})
    path.write_bytes(DAMAGED[damage](path.read_bytes()))

    for name in (path, path / "deu.txt"):
        assert "is damaged" in error_of(lambda name=name: read(name))  # type: ignore[misc]


def test_damage_that_only_the_checksum_tells(tmp_path: Path) -> None:
    """Stored, not compressed: a changed byte is a byte like any other, and the trailer is late."""
    path = tmp_path / "corpus.tar.gz"
    write_tar(tmp_path / "corpus.tar", {"deu.txt": TEXT, "eng.txt": noise(1_000_003)})
    packed = bytearray(gzip.compress((tmp_path / "corpus.tar").read_bytes(), compresslevel=0))
    packed[packed.index(b"Zeile 17 ")] = ord("z")
    path.write_bytes(packed)

    with open_text(path / "deu.txt") as file:
        assert file.readline().startswith(b"Zeile 0")
        assert "is damaged" in error_of(file.read)
    error_of(lambda: read(path))
    error_of(lambda: unpack_member(path, "deu.txt", tmp_path / "deu.txt"))
    assert not (tmp_path / "deu.txt").exists()


def test_error_while_reading_lines(tmp_path: Path) -> None:
    path = tmp_path / "deu.gz"
    path.write_bytes(gzip.compress(TEXT)[:-1000])
    lines: list[bytes] = []

    def collect() -> None:
        with open_text(path) as file:
            lines.extend(file)

    error_of(collect)
    assert lines[0] == b"Zeile 0 \n"


def change_zip_headers(path: Path, offset: int, value: int) -> None:
    """Set a two-byte field in the local and, two bytes later, in the central header."""
    data = bytearray(path.read_bytes())
    struct.pack_into("<H", data, data.index(b"PK\x03\x04") + offset, value)
    struct.pack_into("<H", data, data.index(b"PK\x01\x02") + offset + 2, value)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("offset", "value", "expected"),
    [(6, 1, "is encrypted"), (8, 9, "compressed in a way that Python cannot read")],
)
def test_zip_that_needs_another_program(
    offset: int, value: int, expected: str, tmp_path: Path
) -> None:
    path = write_zip(tmp_path / "corpus.zip", {"deu.txt": TEXT})
    change_zip_headers(path, offset, value)
    message = error_of(lambda: read(path))

    assert expected in message and str(path) in message and "unpack it yourself" in message


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(archives, "MIN_LIMIT_BYTES", 1 << 20)
    return 1 << 20


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zip", ".tar.gz", ".tar.bz2", ".tar.xz"])
def test_bomb(suffix: str, low_limit: int, tmp_path: Path) -> None:
    path = tmp_path / f"deu{suffix}"
    zeros = bytes(20 * low_limit)
    if suffix in PACKERS:
        path.write_bytes(PACKERS[suffix](zeros))
    else:
        write_archive(path, {"deu.txt": zeros})
    limit = max(low_limit, 100 * path.stat().st_size)
    assert limit < len(zeros)
    count = 0

    def consume() -> None:
        nonlocal count
        name = path if suffix in PACKERS else path / "deu.txt"
        with open_text(name) as file:
            while chunk := file.read(4096):
                count += len(chunk)

    assert f"{path} unpacks to more than {limit} bytes" in error_of(consume)
    assert low_limit // 2 < count <= limit
    error_of(lambda: read(path))


def test_limit_is_exact(low_limit: int, tmp_path: Path) -> None:
    path = tmp_path / "deu.gz"
    path.write_bytes(gzip.compress(bytes(low_limit)))
    assert len(read(path)) == low_limit
    path.write_bytes(gzip.compress(bytes(low_limit + 1)))
    error_of(lambda: read(path))


def test_limit_grows_with_the_file(low_limit: int, tmp_path: Path) -> None:
    data = noise(3 * low_limit)
    for suffix in (".gz", ".bz2", ".xz"):
        (tmp_path / f"deu{suffix}").write_bytes(PACKERS[suffix](data))
        assert read(tmp_path / f"deu{suffix}") == data
    (tmp_path / "deu.txt").write_bytes(data)
    assert read(tmp_path / "deu.txt") == data


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipe_of_any_length(low_limit: int, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    data = noise(2 * low_limit)
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()

    assert read(path) == data
    writer.join()


def test_members_before_the_wanted_one_count(low_limit: int, tmp_path: Path) -> None:
    members = {"zeros": bytes(20 * low_limit), "deu.txt": OTHER}
    path = write_tar(tmp_path / "corpus.tar.gz", members)
    assert "unpacks to more than" in error_of(lambda: read(path / "deu.txt"))

    path = write_zip(tmp_path / "corpus.zip", members)
    assert read(path / "deu.txt") == OTHER


def test_hole_in_a_tar_is_a_bomb(low_limit: int, tmp_path: Path) -> None:
    """A sparse member of a plain tar says that it has 64 MiB, and stores none of them."""
    info = tarfile.TarInfo("deu.txt")
    info.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[386:398] = header[398:410] = b"%011o " % 0
    header[483:495] = b"%011o " % (64 << 20)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    path = tmp_path / "corpus.tar"
    path.write_bytes(bytes(header) + bytes(1024))

    assert "unpacks to more than" in error_of(lambda: read(path / "deu.txt"))


def test_unwanted_members_of_a_plain_tar_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0

    class CountingFile(io.FileIO):
        def readinto(self, buffer: Any) -> int:
            nonlocal count
            size = super().readinto(buffer) or 0
            count += size
            return size

    path = write_tar(tmp_path / "corpus.tar", {"first.txt": noise(5_000_011), "deu.txt": TEXT})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda self, mode: io.BufferedReader(CountingFile(self, mode)))
        assert read(path / "deu.txt") == TEXT

    assert len(TEXT) <= count < len(TEXT) + 100_000


def test_plain_lines_come_fast(tmp_path: Path) -> None:
    path = tmp_path / "deu.txt"
    path.write_bytes((b"x" * 79 + b"\n") * 500_000)
    start = time.process_time()
    with open_text(path) as file:
        count = sum(1 for _ in file)

    assert count == 500_000
    assert 40 / (time.process_time() - start) > 100  # MB/s


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz"])
def test_unpack_member(suffix: str, tmp_path: Path) -> None:
    archive = write_archive(tmp_path / f"en{suffix}", {"data/en/en.bin": TEXT, "README": OTHER})
    destination = tmp_path / "out.bin"
    destination.write_bytes(b"old")
    unpack_member(archive, "en.bin", destination)

    assert destination.read_bytes() == TEXT
    assert sorted(os.listdir(tmp_path)) == [archive.name, "out.bin"]


def test_unpack_member_fails_without_a_trace(low_limit: int, tmp_path: Path) -> None:
    destination = tmp_path / "out.bin"
    archive = write_tar(tmp_path / "en.tar.gz", {"a/en.bin": TEXT, "b/en.bin": OTHER, "c": OTHER})
    assert "not 2" in error_of(lambda: unpack_member(archive, "en.bin", destination))
    assert "'a/en.bin'" in error_of(lambda: unpack_member(archive, "de.bin", destination))
    assert "Could not write" in error_of(lambda: unpack_member(archive, "c", tmp_path / "no" / "c"))

    write_tar(archive, {"en.bin": bytes(20 * low_limit)})
    assert "unpacks to more" in error_of(lambda: unpack_member(archive, "en.bin", destination))
    bomb = write_zip(tmp_path / "en.zip", {"en.bin": bytes(20 * low_limit)})
    assert "unpacks to more" in error_of(lambda: unpack_member(bomb, "en.bin", destination))

    text = tmp_path / "en.txt"
    text.write_bytes(TEXT)
    assert "not an archive" in error_of(lambda: unpack_member(text, "en.bin", destination))
    assert "no file" in error_of(lambda: unpack_member(tmp_path / "no.zip", "en.bin", destination))
    assert sorted(os.listdir(tmp_path)) == ["en.tar.gz", "en.txt", "en.zip"]
