import numpy as np
import pytest

from transformer_tf.errors import CheckpointError
from transformer_tf.training import state


def test_a_damaged_state_is_skipped(tmp_path):
    folder = tmp_path
    weights = np.random.default_rng(0).normal(size=(40, 7))
    for step in (7, 14):
        state.save_state(folder, state.Progress(step=step), [("weights", weights)])
    newest, older = state.list_states(folder)
    content = newest.read_bytes()
    # In the archive's directory: an unknown version, and the flag of encryption.
    entry = content.index(b"PK\1\2")
    bad = [
        content[: entry + 6] + b"\x6d" + content[entry + 7 :],
        content[: entry + 8] + b"\1" + content[entry + 9 :],
    ]
    for damaged in (
        content[: len(content) // 2],
        content[:900] + b"\0\1\2\3" + content[904:],
        b"",
        *bad,
    ):
        newest.write_bytes(damaged)
        with pytest.warns(UserWarning, match=f"{newest.name} is damaged .*trying the previous one"):
            progress, _ = state.load_state(folder)
        assert progress.step == int(older.stem.split("-")[1])
    older.write_bytes(b"nothing")
    with (
        pytest.warns(UserWarning, match="is damaged"),
        pytest.raises(CheckpointError, match="All states in .* are damaged"),
    ):
        state.load_state(folder)


def test_a_full_disk_leaves_the_states_before(tmp_path, monkeypatch):
    arrays = [("a", np.arange(5.0))]
    state.save_state(tmp_path, state.Progress(step=3), arrays)

    def full(path, **content):
        path.write_bytes(b"PK half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(CheckpointError, match="No space left on device.*--resume"):
        state.save_state(tmp_path, state.Progress(step=4), arrays)
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["step-00000003.npz"]
    progress, loaded = state.load_state(tmp_path)
    assert progress.step == 3
    np.testing.assert_array_equal(loaded[0][1], np.arange(5.0))


def test_the_last_states_are_kept(tmp_path):
    for step in (1, 2, 30, 4):
        state.save_state(tmp_path, state.Progress(step=step), [])
    # 30 was damaged: else 4 would not follow it.
    assert [path.name for path in state.list_states(tmp_path)] == [
        "step-00000004.npz",
        "step-00000002.npz",
    ]
