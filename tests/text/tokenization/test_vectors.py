"""BPEmb's vectors, from a file in the form and in the place of the official ones."""

import tarfile

import numpy as np
import pytest
from gensim.models import KeyedVectors

from transformer_tf.errors import DataError
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.text.tokenization.vectors import official_vectors, vectors_of_ids

SENTENCES = [f"he sees {n} {thing}s." for n in range(30) for thing in ("house", "tree", "car")]
MISSING = "▁he"
NAME = "en.wiki.bpe.vs320.d25.w2v.bin"


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer") / "en.wiki.bpe.vs320.model"
    return Tokenizer.train(SENTENCES, 320, path)


@pytest.fixture
def keyed(tokenizer, random):
    """A vector for each piece but one, as the official files have them, in the model's order."""
    pieces = ["<unk>", "<s>", "</s>", *tokenizer.tokens(range(3, 320))]
    pieces.remove(MISSING)
    vectors = KeyedVectors(vector_size=25)
    vectors.add_vectors(pieces, random.normal(3, 2, (319, 25)).astype("float32"))
    return vectors


def test_each_id_gets_the_vector_of_its_piece(tokenizer, keyed):
    rows = vectors_of_ids(tokenizer, keyed)

    assert rows.shape == (322, 25)
    missing = np.flatnonzero(np.isnan(rows).all(axis=1)).tolist()
    assert missing == [tokenizer.pad_id, tokenizer.processor.piece_to_id(MISSING)]
    found = rows[~np.isnan(rows[:, 0])]
    assert found.std() == pytest.approx(25**-0.5, rel=1e-5)

    def same_direction(row, piece):
        vector = keyed[piece]
        cosine = row @ vector / np.linalg.norm(row) / np.linalg.norm(vector)
        assert cosine == pytest.approx(1, abs=1e-5)

    for piece in ("▁sees", "."):
        same_direction(rows[tokenizer.processor.piece_to_id(piece)], piece)
    same_direction(rows[tokenizer.unk_id], "<unk>")
    same_direction(rows[tokenizer.start_id], "<s>")
    same_direction(rows[tokenizer.end_id], "</s>")


def test_vectors_from_the_archive_and_from_the_file(tokenizer, keyed, tmp_path):
    folder = tmp_path / "bpemb" / "en"
    folder.mkdir(parents=True)
    keyed.save_word2vec_format(str(tmp_path / NAME), binary=True)
    with tarfile.open(folder / f"{NAME}.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / NAME, f"data/en/{NAME}")

    rows = official_vectors(tokenizer, "en", 25, tmp_path)

    np.testing.assert_allclose(rows, vectors_of_ids(tokenizer, keyed))
    assert (folder / NAME).read_bytes() == (tmp_path / NAME).read_bytes()
    (folder / f"{NAME}.tar.gz").unlink()
    np.testing.assert_array_equal(official_vectors(tokenizer, "en", 25, tmp_path), rows)


def test_damaged_vectors(tokenizer, keyed, tmp_path):
    path = tmp_path / "bpemb" / "en" / NAME
    path.parent.mkdir(parents=True)
    keyed.save_word2vec_format(str(path), binary=True)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(DataError, match="delete it and run again") as error:
        official_vectors(tokenizer, "en", 25, tmp_path)
    assert len(str(error.value).splitlines()) == 1
    path.write_text("not vectors")
    with pytest.raises(DataError, match="delete it and run again"):
        official_vectors(tokenizer, "en", 25, tmp_path)


def test_vectors_of_another_model(tokenizer, random):
    other = KeyedVectors(vector_size=25)
    other.add_vectors([f"x{n}" for n in range(50)], random.normal(size=(50, 25)))
    with pytest.raises(DataError, match="Only 0 of 322 pieces have a vector"):
        vectors_of_ids(tokenizer, other)
