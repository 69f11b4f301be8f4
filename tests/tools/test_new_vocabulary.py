"""A checkpoint with the vocabulary of another language."""

import h5py
import numpy as np
import pytest

from tools.new_vocabulary import main, old_ids, replace_rows
from transformer_tf.errors import ConfigError
from transformer_tf.text.tokenization.tokenizer import Tokenizer

OLD = ["the red house is not new", "the red car is new", "a house and a car"] * 20
NEW = ["the red house is not new", "la casa roja no es nueva", "el coche rojo"] * 20


@pytest.fixture
def tokenizers(tmp_path):
    """The old and the new tokenizer."""
    return (
        Tokenizer.train(OLD, 310, tmp_path / "old.model", exact=False),
        Tokenizer.train(NEW, 330, tmp_path / "new.model", exact=False),
    )


def test_a_common_piece_keeps_its_row(tokenizers):
    old, new = tokenizers
    rows = old_ids(new, old)
    assert len(rows) == new.vocab_size
    common = 0
    for piece in range(new.processor.get_piece_size()):
        text = new.processor.id_to_piece(piece)
        there = old.processor.piece_to_id(text)
        if there != old.processor.unk_id() or piece == 0:
            assert rows[piece] == [there]
            common += 1
    assert common > 275  # the bytes, the reserved characters and some words
    assert rows[new.start_id] == [old.start_id] and rows[new.end_id] == [old.end_id]


def test_a_new_piece_is_spelled_with_old_ones(tokenizers):
    old, new = tokenizers
    rows = old_ids(new, old)
    piece = new.processor.piece_to_id("▁casa")
    assert len(rows[piece]) > 1
    assert old.processor.decode(rows[piece]) == "casa"
    assert all(0 <= id < old.vocab_size for ids in rows for id in ids) and all(rows)


def test_rows(tmp_path):
    path = tmp_path / "a.weights.h5"
    table, other = np.arange(8, dtype="float16").reshape(4, 2), np.ones((3, 2), "float32")
    with h5py.File(path, "w") as file:
        file["embedding/vars/0"], file["dense/vars/0"] = table, other
    assert replace_rows(path, [[0], [1, 3], [2]], size=4) == 1
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["embedding/vars/0"][()], [[0, 1], [4, 5], [4, 5]])
        assert file["embedding/vars/0"].dtype == "float16"
        np.testing.assert_array_equal(file["dense/vars/0"][()], other)


def test_rows_in_8_bits(tmp_path):
    path = tmp_path / "a.weights.h5"
    with h5py.File(path, "w") as file:
        file["embedding/vars/0"] = np.array([[1, -2], [3, 4], [5, 6]], "int8")
        file["embedding/vars/0_scale"] = np.array([[0.5], [1], [2]], "float32")
    assert replace_rows(path, [[0], [1, 2]], size=3) == 1
    with h5py.File(path) as file:
        assert set(file["embedding/vars"]) == {"0"}
        np.testing.assert_array_equal(file["embedding/vars/0"][()], [[0.5, -1], [6.5, 8]])


def test_a_checkpoint_with_two_vocabularies_is_refused(checkpoint, tmp_path):
    with pytest.raises(ConfigError, match="needs a shared tokenizer and tied embeddings"):
        main(checkpoint, checkpoint / "config.yaml", tmp_path / "new", [])
    assert not (tmp_path / "new").exists()
