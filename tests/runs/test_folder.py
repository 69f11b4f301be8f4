import os

import pytest

from transformer_tf.config import DataConfig
from transformer_tf.errors import ConfigError
from transformer_tf.runs.folder import FolderLock, find_run, run_name


def test_a_new_run_needs_an_empty_folder(tmp_path):
    (tmp_path / ".hidden").touch()
    FolderLock(tmp_path, resume=False).release()
    (tmp_path / "mine.txt").touch()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ConfigError, match="--resume"):
        FolderLock(tmp_path, resume=False)
    assert sorted(tmp_path.iterdir()) == before


def test_a_lock_is_held_until_it_is_released(tmp_path):
    (tmp_path / ".99-0123abcd.part.state.npz").touch()  # left by a killed process
    lock = FolderLock(tmp_path, resume=True)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    with pytest.raises(ConfigError, match="Another process is training in"):
        FolderLock(tmp_path, resume=True)
    lock.release()
    FolderLock(tmp_path, resume=True).release()


def test_a_deleted_lock_lets_in_one_trainer(tmp_path):
    lock = FolderLock(tmp_path, resume=True)
    (tmp_path / ".lock").unlink()
    lock.check()  # locks again
    with pytest.raises(ConfigError, match="Another process"):
        FolderLock(tmp_path, resume=True)
    (tmp_path / ".lock").unlink()
    other = FolderLock(tmp_path, resume=True)
    (tmp_path / "theirs.txt").touch()
    with pytest.raises(ConfigError, match="Another process"):
        lock.check()
    lock.discard()
    assert (tmp_path / "theirs.txt").exists()
    other.release()


def write_run(folder, modified, *names):
    folder.mkdir(parents=True)
    for name in ("config.yaml", *names):
        (folder / name).touch()
        os.utime(folder / name, (modified, modified))


def test_the_run_to_resume(tmp_path, capsys):
    """A run by its folder, or the newest one of a folder of runs, even without a state."""
    runs = tmp_path / "runs"
    write_run(runs / "old", 1e9)
    write_run(runs / "new", 2e9)
    assert find_run(runs / "old") == runs / "old"
    assert capsys.readouterr().err == ""
    assert find_run(runs) == runs / "new"
    assert capsys.readouterr().err == f"Using {runs / 'new'}\n"


def test_folders_without_a_run_to_resume(tmp_path):
    write_run(tmp_path / "en-de", 1e9, "best.weights.h5")
    (tmp_path / "empty").mkdir()
    for name, message in [
        ("missing", "no such folder"),
        ("empty", "contains no run to resume"),
        ("en-de", f"training.start_from={tmp_path / 'en-de'}"),
    ]:
        with pytest.raises(ConfigError, match=message):
            find_run(tmp_path / name)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (DataConfig(corpus="tatoeba"), "tatoeba"),
        (DataConfig(corpus="tfds:ted_hrlr_translate/pt_to_en"), "ted_hrlr_translate-pt_to_en"),
        (DataConfig(corpus="files", files=(("some/mine.tsv.gz",), ("b.tsv",))), "mine"),
        (DataConfig(corpus="files", files=(("a.tgz/news.de-en.de", "x"),)), "news"),
        (DataConfig(corpus="files", files=(("my pairs (1).tsv",),)), "my-pairs-1"),
    ],
)
def test_the_name_of_a_run(data, name):
    assert run_name(data) == name


def start_in(folder):
    lock = FolderLock(folder, resume=False)
    (folder / "tokenizers").mkdir()
    for name in ("config.yaml", "test.tsv", "tokenizers/source.model"):
        (folder / name).touch()
    return lock


def test_a_failed_start_leaves_nothing(tmp_path):
    folder = tmp_path / "runs" / "a"
    start_in(folder).discard()
    assert list(tmp_path.iterdir()) == []
    lock = start_in(folder)
    (tmp_path / "runs" / "b").mkdir()  # another run
    lock.discard()
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["b"]
    mine = tmp_path / "mine"
    mine.mkdir()
    start_in(mine).discard()
    assert mine.is_dir() and not list(mine.iterdir())


def test_a_run_with_a_state_is_not_discarded(tmp_path):
    lock = start_in(tmp_path / "run")
    (tmp_path / "run" / "state.npz").touch()
    lock.discard()
    assert (tmp_path / "run" / "config.yaml").is_file()
