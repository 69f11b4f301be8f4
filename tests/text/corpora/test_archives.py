"""Text in compressed files and archives: complete, or an error of one line."""

import bz2
import gzip
import io
import lzma
import os
import random
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from transformer_tf.errors import DataError
from transformer_tf.text.corpora import archives
from transformer_tf.text.corpora.archives import open_text

TEXT = "".join(f"Zeile {i} {'ä' * (i % 41)}\n" for i in range(3011)).encode() + b"no line end"
OTHER = b"another text\n"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
ARCHIVES = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".TAR.GZ"]


def write_archive(path: Path, members: dict[str, bytes]) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, data in members.items():
                zipped.writestr(name, data)
        return path
    compression = {"": "", ".tgz": "gz"}.get(path.suffix, path.suffix[1:].lower())
    mode = "w" if compression == "tar" else f"w:{compression}"
    with tarfile.open(path, mode) as tarred:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tarred.addfile(info, io.BytesIO(data))
    return path


def noise(size: int) -> bytes:
    return random.Random(0).randbytes(size)


def read(path: Path | str) -> bytes:
    with open_text(path) as file:
        return file.read()


def error_of(action: Callable[[], object]) -> str:
    with pytest.raises(DataError) as caught:
        action()
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"deu.txt{suffix}"
    path.write_bytes(PACKERS[suffix](TEXT))

    assert read(str(path)) == TEXT
    with open_text(path) as file:
        assert list(file) == TEXT.splitlines(keepends=True)
    assert file.closed


@pytest.mark.parametrize("suffix", ARCHIVES)
def test_a_member(suffix: str, tmp_path: Path) -> None:
    members = {"first.txt": OTHER, "./dir/deu.txt": TEXT, "last.txt": noise(300_007)}
    path = write_archive(tmp_path / f"corpus{suffix}", members)

    assert read(path / "first.txt") == OTHER
    assert read(f"{path}/dir/deu.txt") == read(path / "deu.txt") == TEXT
    assert read(path / "last.txt") == noise(300_007)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", [".zip", ".tgz"])
def test_a_member_must_be_named(suffix: str, tmp_path: Path) -> None:
    members = {f"dir/{i}\n.txt": OTHER for i in range(7)}
    path = write_archive(tmp_path / f"corpus{suffix}", members)

    message = error_of(lambda: read(path))
    assert f"{path} is an archive: add the name" in message
    assert [f"{i}\\n.txt" in message for i in range(7)] == [True] * 5 + [False] * 2
    message = error_of(lambda: read(path / "dir" / "eng.txt"))
    assert f"{path} has no member dir/eng.txt" in message


@pytest.mark.parametrize("suffix", [".zip", ".tgz"])
def test_a_name_in_two_folders(suffix: str, tmp_path: Path) -> None:
    members = {"en/a.txt": OTHER, "de/a.txt": TEXT}
    path = write_archive(tmp_path / f"corpus{suffix}", members)

    assert read(path / "de" / "a.txt") == TEXT
    assert "has 2 members a.txt" in error_of(lambda: read(path / "a.txt"))


def test_links_in_a_tar_are_not_members(tmp_path: Path) -> None:
    path = tmp_path / "corpus.tar"
    with tarfile.open(path, "w") as tarred:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            info = tarfile.TarInfo("link")
            info.type, info.linkname = kind, "/etc/passwd"
            tarred.addfile(info)

    assert "has no member link" in error_of(lambda: read(path / "link"))


def test_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "deu.txt").write_bytes(TEXT)
    (tmp_path / "folder.zip").mkdir()
    (tmp_path / "folder.zip" / "deu.txt").write_bytes(OTHER)

    for name in ("eng.txt", "corpus.zip", "corpus.zip/eng.txt", "folder.zip/eng.txt", "eng.gz"):
        message = error_of(lambda name=name: read(tmp_path / name))  # type: ignore[misc]
        assert f"{tmp_path / name} does not exist" in message
    assert "is not an archive" in error_of(lambda: read(tmp_path / "deu.txt" / "eng.txt"))
    assert "is a folder" in error_of(lambda: read(tmp_path / "folder.zip"))
    assert "too long" in error_of(lambda: read(tmp_path / ("x" * 300)))
    assert read(tmp_path / "folder.zip" / "deu.txt") == OTHER


DAMAGE = {
    "cut to half": lambda data: data[: len(data) // 2],
    "cut to three bytes": lambda data: data[:3],
    "overwritten": lambda data: data[: len(data) // 2] + bytes(64) + data[len(data) // 2 + 64 :],
    "text": lambda data: b"this is no archive\n" * 1000,
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zip", ".tar.gz", ".tar.xz"])
def test_a_damaged_file(suffix: str, damage: str, tmp_path: Path) -> None:
    path = tmp_path / f"deu{suffix}"
    whole = noise(400_009)
    if suffix in PACKERS:
        path.write_bytes(PACKERS[suffix](whole))
        named = path
    else:
        named = write_archive(path, {"deu.txt": whole}) / "deu.txt"
    path.write_bytes(DAMAGE[damage](path.read_bytes()))

    message = error_of(lambda: read(named))
    assert f"{path} is damaged or has the wrong suffix" in message
    assert "delete it and run again" in message


def test_damage_found_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "deu.gz"
    path.write_bytes(gzip.compress(TEXT)[:-1000])
    lines: list[bytes] = []

    def collect() -> None:
        with open_text(path) as file:
            lines.extend(file)

    error_of(collect)
    assert lines[0] == b"Zeile 0 \n"


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(archives, "MIN_LIMIT_BYTES", 1 << 20)
    return 1 << 20


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zip", ".tar.gz"])
def test_a_decompression_bomb(suffix: str, low_limit: int, tmp_path: Path) -> None:
    path = tmp_path / f"deu{suffix}"
    zeros = bytes(20 * low_limit)
    named = path
    if suffix in PACKERS:
        path.write_bytes(PACKERS[suffix](zeros))
    else:
        named = write_archive(path, {"deu.txt": zeros}) / "deu.txt"
    limit = max(low_limit, 100 * path.stat().st_size)
    assert limit < len(zeros)
    count = 0

    def consume() -> None:
        nonlocal count
        with open_text(named) as file:
            while chunk := file.read(4096):
                count += len(chunk)

    assert f"{path} unpacks to more than {limit} bytes" in error_of(consume)
    assert low_limit // 2 < count <= limit


def test_the_limit_is_exact(low_limit: int, tmp_path: Path) -> None:
    path = tmp_path / "deu.gz"
    path.write_bytes(gzip.compress(bytes(low_limit)))
    assert len(read(path)) == low_limit
    path.write_bytes(gzip.compress(bytes(low_limit + 1)))
    error_of(lambda: read(path))


def test_the_limit_grows_with_the_file(low_limit: int, tmp_path: Path) -> None:
    data = noise(3 * low_limit)
    for suffix in ("", ".gz"):
        (tmp_path / f"deu{suffix}").write_bytes(PACKERS[suffix](data))
        assert read(tmp_path / f"deu{suffix}") == data


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()

    assert read(path) == TEXT
    writer.join()
