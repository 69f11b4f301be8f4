import os

import pytest

from transformer_tf.config import DataConfig
from transformer_tf.errors import ConfigError
from transformer_tf.runs.folder import (
    check_unused,
    discard_start,
    drop_samples,
    find_run,
    lock_folder,
    make_folder,
    run_name,
)


def test_a_folder_with_other_files_is_refused(tmp_path):
    check_unused(tmp_path / "none")
    for name in ("config.yaml", "test.tsv", ".lock"):  # left by a start that failed
        (tmp_path / name).touch()
    check_unused(tmp_path)
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ConfigError, match="already holds files: .* --resume"):
        check_unused(tmp_path)


def test_a_lock_is_held_until_it_is_released(tmp_path):
    lock = lock_folder(tmp_path)
    with pytest.raises(ConfigError, match="Another trainer is using"):
        lock_folder(tmp_path)
    lock.release()
    lock_folder(tmp_path).release()


def test_samples_of_repeated_validations_are_dropped(tmp_path):
    drop_samples(tmp_path, {7})
    path = tmp_path / "samples.txt"
    blocks = [f"after step {step}\n  A tree.\n  → Ein Baum.\n" for step in (7, 14, 21)]
    path.write_text("".join(blocks)[:-5], "utf-8")
    drop_samples(tmp_path, {7, 14})
    assert path.read_text("utf-8") == "".join(blocks[:2])


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
        (DataConfig(corpus="files", files=((".hidden",),)), "files"),
        (DataConfig(corpus="files", files=(("my pairs (1).tsv",),)), "my-pairs-1"),
    ],
)
def test_the_name_of_a_run(data, name):
    assert run_name(data) == name


def start_in(folder):
    new = make_folder(folder)
    (folder / "tokenizers").mkdir()
    for name in ("config.yaml", "test.tsv", "tokenizers/source.model", ".lock"):
        (folder / name).touch()
    return new


def test_a_failed_start_leaves_nothing(tmp_path):
    folder = tmp_path / "runs" / "a"
    discard_start(folder, start_in(folder))
    assert list(tmp_path.iterdir()) == []
    new = start_in(folder)
    (tmp_path / "runs" / "b").mkdir()  # another run
    discard_start(folder, new)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["b"]
    mine = tmp_path / "mine"
    mine.mkdir()
    discard_start(mine, start_in(mine))
    assert mine.is_dir() and not list(mine.iterdir())


def test_a_run_with_weights_is_not_discarded(tmp_path):
    new = start_in(tmp_path / "run")
    (tmp_path / "run" / "last.weights.h5").touch()
    discard_start(tmp_path / "run", new)
    assert (tmp_path / "run" / "config.yaml").is_file()
