import numpy as np
import pytest

from transformer_tf.errors import CheckpointError
from transformer_tf.runs.state import load_state, save_state
from transformer_tf.training.progress import Progress


def test_a_new_state_replaces_the_old_one(tmp_path, random):
    arrays = [random.normal(size=(4, 7)), np.array(3)]
    assert load_state(tmp_path) is None
    for step in (1, 2):
        save_state(tmp_path, Progress(step=step, rows=[{"loss": 0.5}]), arrays)
    progress, loaded = load_state(tmp_path)
    assert progress == Progress(step=2, rows=[{"loss": 0.5}])
    for one, other in zip(arrays, loaded, strict=True):
        np.testing.assert_array_equal(one, other)
    assert [path.name for path in tmp_path.iterdir()] == ["state.npz"]


def test_a_damaged_state_is_an_error(tmp_path, random):
    save_state(tmp_path, Progress(), [random.normal(size=(40, 7))])
    path = tmp_path / "state.npz"
    content = path.read_bytes()
    half, altered = content[: len(content) // 2], content[:900] + b"\0\1\2\3" + content[904:]
    for damaged in (half, altered, b""):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"state.npz is damaged"):
            load_state(tmp_path)


def test_a_full_disk_leaves_the_state_before(tmp_path, monkeypatch):
    save_state(tmp_path, Progress(step=3), [np.arange(5.0)])

    def full(path, *arrays, **content):
        path.write_bytes(b"PK half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(CheckpointError, match="No space left on device.*--resume"):
        save_state(tmp_path, Progress(step=4), [np.arange(5.0)])
    assert [path.name for path in tmp_path.iterdir()] == ["state.npz"]
    progress, _ = load_state(tmp_path)
    assert progress.step == 3
