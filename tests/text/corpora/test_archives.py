"""Text in compressed files and archives: complete, or an error of one line."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from transformer_tf.errors import DataError
from transformer_tf.text.corpora.archives import open_text

TEXT = "".join(f"Zeile {i} {'ä' * (i % 41)}\n" for i in range(3011)).encode() + b"no line end"
OTHER = b"another text\n"
NOISE = random.Random(0).randbytes(30_011)
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
ARCHIVES = [".zip", ".tar", ".tgz", ".tar.bz2", ".TAR.XZ"]


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


def read(path: Path | str) -> bytes:
    with open_text(path) as file:
        return file.read()


def error_of(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read(path)
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
    members = {"first.txt": OTHER, "./dir/deu.txt": TEXT, "last.txt": NOISE}
    path = write_archive(tmp_path / f"corpus{suffix}", members)

    assert read(path / "first.txt") == OTHER
    assert read(f"{path}/dir/deu.txt") == read(path / "deu.txt") == TEXT
    assert read(path / "last.txt") == NOISE
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("suffix", [".zip", ".tgz"])
def test_a_member_must_be_named(suffix: str, tmp_path: Path) -> None:
    members = {"en/a.txt": OTHER, "de/a.txt": TEXT, "b\n.txt": OTHER}
    path = write_archive(tmp_path / f"corpus{suffix}", members)

    assert read(path / "de" / "a.txt") == TEXT
    assert str(path) in error_of(path)
    assert "2 members named a.txt" in error_of(path / "a.txt")
    assert "'en/a.txt'" in error_of(path / "dir" / "c.txt")


def test_links_in_a_tar_are_not_members(tmp_path: Path) -> None:
    path = tmp_path / "corpus.tar"
    with tarfile.open(path, "w") as tarred:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            info = tarfile.TarInfo("link")
            info.type, info.linkname = kind, "/etc/passwd"
            tarred.addfile(info)

    assert "0 members named link" in error_of(path / "link")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "deu.txt").write_bytes(TEXT)
    (tmp_path / "folder.zip").mkdir()
    (tmp_path / "folder.zip" / "deu.txt").write_bytes(OTHER)

    for name in ("eng.txt", "corpus.zip/eng.txt", "folder.zip/eng.txt", "deu.txt/eng.txt", "e.gz"):
        assert f"Cannot read {tmp_path / name}" in error_of(tmp_path / name)
    assert read(tmp_path / "folder.zip" / "deu.txt") == OTHER


DAMAGE = {
    "cut to half": lambda data: data[: len(data) // 2],
    "overwritten": lambda data: data[: len(data) // 2] + bytes(64) + data[len(data) // 2 + 64 :],
    "text": lambda data: b"this is no archive\n" * 1000,
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zip", ".tar.gz"])
def test_a_damaged_file_is_named(suffix: str, damage: str, tmp_path: Path) -> None:
    path = tmp_path / f"deu{suffix}"
    named = path if suffix in PACKERS else path / "deu.txt"
    if suffix in PACKERS:
        path.write_bytes(PACKERS[suffix](NOISE))
    else:
        write_archive(path, {"deu.txt": NOISE})
    path.write_bytes(DAMAGE[damage](path.read_bytes()))

    assert f"Cannot read {named}" in error_of(named)
