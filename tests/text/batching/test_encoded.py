"""Encoded pairs: the same ids from memory and from the cache, whatever happens to it."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from transformer_tf.errors import DataError
from transformer_tf.text.batching import encoded as encoded_module
from transformer_tf.text.batching.encoded import EncodedPairs, cached_pairs, encode_pairs
from transformer_tf.text.corpora.pairs import PairWriter
from transformer_tf.text.tokenization.tokenizer import Tokenizer

SENTENCES = [
    f"{name} {verb} {number} {thing}."
    for name in ("Anna", "Jürgen", "Peter")
    for verb in ("kauft", "verliert")
    for number in range(11)
    for thing in ("Äpfel", "Straßenbahnkarten")
]
LIMIT = 22  # sub-words; some sentences are longer


def seen(folder):
    """Lists a cache folder without its locks."""
    return [path for path in folder.iterdir() if path.suffix != ".lock"]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizers")
    return tuple(Tokenizer.train(SENTENCES, size, folder / f"{size}.model") for size in (316, 326))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    with PairWriter(tmp_path_factory.mktemp("pairs")) as writer:
        for sentence in SENTENCES:
            writer.add((sentence, sentence[::-1]))
        return writer.finish()


def as_lists(encoded):
    return [
        (encoded.source[index].tolist(), encoded.target[index].tolist())
        for index in range(len(encoded))
    ]


def expected(pairs, tokenizers):
    """Encodes the pairs one by one."""
    ids = [
        (tokenizers[0].encode_sentence(source), tokenizers[1].encode_sentence(target))
        for source, target in pairs
    ]
    return [pair for pair in ids if max(map(len, pair)) <= LIMIT + 2]


def test_stored_pairs(pairs):
    assert len(pairs) == len(SENTENCES)
    assert pairs[5] == (SENTENCES[5], SENTENCES[5][::-1])
    assert [source for source, _ in pairs[3:20:4]] == SENTENCES[3:20:4]
    assert pairs.line(0) == f"{SENTENCES[0]}\t{SENTENCES[0][::-1]}\n".encode()
    assert list(pairs.select(np.array([7, 2])))[1][0] == SENTENCES[2]


def test_no_pairs(tmp_path):
    with PairWriter(tmp_path / "new" / "folder") as writer:
        assert list(writer.finish()) == []


def test_the_file_of_pairs_leaves_nothing_behind(tmp_path):
    with PairWriter(tmp_path) as writer:
        writer.add(("a", "b"))
        pairs = writer.finish()
    assert list(pairs) == [("a", "b")]
    assert seen(tmp_path) == []


@pytest.mark.parametrize("chunk", [7, 10_000])
def test_ids_are_those_of_the_tokenizers(pairs, tokenizers, chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(encoded_module, "_CHUNK", chunk)
    ids = expected(pairs, tokenizers)
    assert 0 < len(ids) < len(pairs)
    assert as_lists(encode_pairs(pairs, *tokenizers, LIMIT)) == ids
    for _ in range(2):  # written, then read
        assert as_lists(cached_pairs(pairs, *tokenizers, LIMIT, tmp_path)) == ids
    assert len(seen(tmp_path)) == 1


def test_the_cache_is_memory_mapped(pairs, tokenizers, tmp_path, monkeypatch):
    first = cached_pairs(pairs, *tokenizers, LIMIT, tmp_path)
    monkeypatch.setattr(Tokenizer, "encode_sentences", None)
    second = cached_pairs(pairs, *tokenizers, LIMIT, tmp_path)
    assert as_lists(first) == as_lists(second)
    assert isinstance(second.source.ids, np.memmap)
    assert second.source.ids.dtype == np.uint16


def test_the_key_depends_on_the_content(pairs, tokenizers, tmp_path):
    cached_pairs(pairs, *tokenizers, LIMIT, tmp_path)
    cached_pairs(pairs[:-1], *tokenizers, LIMIT, tmp_path)
    cached_pairs(pairs, *tokenizers[::-1], LIMIT, tmp_path)
    cached_pairs(pairs, *tokenizers, LIMIT + 1, tmp_path)
    lowercase = Tokenizer(tokenizers[0].model_file, lowercase=True)
    cached_pairs(pairs, lowercase, tokenizers[1], LIMIT, tmp_path)
    assert len(seen(tmp_path)) == 5


@pytest.mark.parametrize("damage", ["truncate", "index", "remove"])
def test_a_damaged_cache_is_rebuilt(pairs, tokenizers, tmp_path, damage):
    before = as_lists(cached_pairs(pairs, *tokenizers, LIMIT, tmp_path))
    (folder,) = seen(tmp_path)
    file = folder / ("index.json" if damage == "index" else "target.ids")
    if damage == "remove":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-3])
    assert as_lists(cached_pairs(pairs, *tokenizers, LIMIT, tmp_path)) == before
    assert seen(tmp_path) == [folder]


def test_an_interrupted_encoding_leaves_nothing(pairs, tokenizers, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Tokenizer, "encode_sentences", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cached_pairs(pairs, *tokenizers, LIMIT, tmp_path)
    assert seen(tmp_path) == []


def test_a_second_process_waits_for_the_encoding(pairs, tokenizers, tmp_path, monkeypatch):
    written = []
    write = encoded_module._write_folder

    def count(*arguments):
        written.append(arguments)
        write(*arguments)

    monkeypatch.setattr(encoded_module, "_write_folder", count)
    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(cached_pairs, pairs, *tokenizers, LIMIT, tmp_path) for _ in range(3)]
        found = [as_lists(job.result()) for job in jobs]
    assert found == 3 * [expected(pairs, tokenizers)]
    assert len(written) == len(seen(tmp_path)) == 1


def test_leftovers_of_a_killed_process_are_removed(pairs, tokenizers, tmp_path):
    cached_pairs(pairs, *tokenizers, LIMIT, tmp_path)
    (folder,) = seen(tmp_path)
    partial = folder.rename(tmp_path / f".{folder.name}.partial")
    cached_pairs(pairs, *tokenizers, LIMIT, tmp_path)
    assert seen(tmp_path) == [folder]
    assert not partial.exists()


def test_a_full_disk_is_reported_in_one_line(pairs, tokenizers, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DataError, match=r"No space left on device.*data.cache_directory") as error:
        cached_pairs(pairs, *tokenizers, LIMIT, tmp_path)
    assert len(str(error.value).splitlines()) == 1
    assert seen(tmp_path) == []


def test_many_ids_need_more_bytes(pairs, tokenizers, tmp_path, monkeypatch):
    monkeypatch.setattr(tokenizers[0], "vocab_size", 70_000)
    encoded = cached_pairs(pairs, *tokenizers, LIMIT, tmp_path)
    assert encoded.source.ids.dtype == np.int32
    assert encoded.target.ids.dtype == np.uint16
    assert as_lists(encoded) == expected(pairs, tokenizers)


def test_dropout_draws_other_sub_words_of_the_same_text(pairs, tokenizers):
    def draw(*seed):
        options = {"dropout": 0.3, "seed": seed}
        return as_lists(encode_pairs(pairs, *tokenizers, LIMIT, **options))

    plain = expected(pairs, tokenizers)
    first = draw(1, 0)
    assert first == draw(1, 0)
    assert first != draw(1, 1)
    assert first != draw(2, 0)
    changed = sum(a != b for a, b in zip(first, plain, strict=True))
    assert changed > len(plain) / 3
    for drawn, as_ever in zip(first, plain, strict=True):
        for tokenizer, ids, plain_ids in zip(tokenizers, drawn, as_ever, strict=True):
            assert len(ids) <= LIMIT + 2
            assert tokenizer.decode(ids) == tokenizer.decode(plain_ids)


def test_pairs_of_lists():
    encoded = EncodedPairs.from_lists([([1, 2, 3], [4]), ([5], [6, 7])])
    assert as_lists(encoded) == [([1, 2, 3], [4]), ([5], [6, 7])]
    assert encoded.target.lengths.tolist() == [1, 2]


def test_weights_follow_their_pairs(tokenizers, tmp_path):
    with PairWriter(tmp_path) as writer:
        for number, sentence in enumerate(SENTENCES):
            writer.add((sentence, sentence[::-1]), number / 8)
        weighted = writer.finish()
    lengths = [
        np.array([len(tokenizer.encode(pair[side])) for pair in weighted])
        for side, tokenizer in enumerate(tokenizers)
    ]
    kept = (np.flatnonzero(np.maximum(*lengths) <= LIMIT) / 8).tolist()
    assert 0 < len(kept) < len(SENTENCES)
    for _ in range(2):  # written, then read
        encoded = cached_pairs(weighted, *tokenizers, LIMIT, tmp_path / "cache")
        assert encoded.weights.tolist() == kept
    assert encode_pairs(weighted, *tokenizers, LIMIT, dropout=0.3).weights.tolist() == kept
    assert len(seen(tmp_path / "cache")) == 1
