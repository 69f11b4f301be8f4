import os

import pytest

from transformer_tf.utils.files import atomic_write, atomic_write_bytes, remove_partial_files


def test_a_file_is_replaced_atomically(tmp_path):
    path = tmp_path / "last.weights.h5"
    path.write_bytes(b"old")
    with atomic_write(path) as partial:
        assert partial.name.endswith(".last.weights.h5")  # writers look at the suffixes
        partial.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_two_writers_of_one_file(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as first, atomic_write(path) as second:
        first.write_bytes(b"first")
        second.write_bytes(b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, step):
    def full(*_):
        raise OSError(28, "No space left on device", "somewhere else")

    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        atomic_write_bytes(path, b"new")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_without_a_number_keeps_its_message(tmp_path):
    # h5py raises OSError without errno and strerror.
    with pytest.raises(OSError, match="unable to lock") as caught, atomic_write(tmp_path / "file"):
        raise OSError("unable to\nlock")
    assert caught.value.strerror == "unable to lock"


def test_partial_files_of_killed_processes_are_removed(tmp_path):
    kept = [tmp_path / ".hidden.part", tmp_path / "a-file.part.txt", tmp_path / "config.yaml"]
    for path in kept:
        path.write_bytes(b"")
    with atomic_write(tmp_path / "config.yaml") as partial:
        (tmp_path / partial.name).write_bytes(b"half")
        remove_partial_files(tmp_path)
        assert not partial.exists()
        partial.write_bytes(b"new")
    assert sorted(tmp_path.iterdir()) == sorted(kept)
