import pytest

from transformer_tf.errors import ConfigError
from transformer_tf.training.run_folder import (
    check_unused,
    drop_samples,
    lock_folder,
    remove_leftovers,
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


def test_partial_files_of_a_killed_process_are_removed(tmp_path):
    (tmp_path / "state").mkdir()
    partial = [
        tmp_path / "state" / ".99-0123abcd.part.step-00000007.npz",
        tmp_path / ".99-0123abcd.part.last.weights.h5",
        tmp_path / ".99-0123abcd.part.config.yaml",
    ]
    for path in (*partial, tmp_path / "config.yaml"):
        path.write_bytes(b"half of it")
    remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["config.yaml", "state"]


def test_samples_of_repeated_validations_are_dropped(tmp_path):
    drop_samples(tmp_path, {7})
    path = tmp_path / "samples.txt"
    blocks = [f"after step {step}\n  A tree.\n  → Ein Baum.\n" for step in (7, 14, 21)]
    path.write_text("".join(blocks)[:-5], "utf-8")
    drop_samples(tmp_path, {7, 14})
    assert path.read_text("utf-8") == "".join(blocks[:2])
