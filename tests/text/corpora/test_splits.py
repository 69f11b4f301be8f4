import numpy as np

from transformer_tf.text.corpora.splits import Splitter, text_hash


def test_a_corpuss_own_split_is_cut_by_hash_and_keeps_its_order():
    source_hash = np.array([9, 5, 3, 7, 1, 0], dtype="uint64")
    pair_hash = np.arange(6)
    splitter = Splitter(np.array([0, 2, 2, 2, 2, 0]), source_hash, source_hash + 10, pair_hash, {})
    splitter.draw("test", 2)
    assert splitter.members["test"].tolist() == [2, 4]
    assert splitter.members["train"].tolist() == [0, 5]
    assert splitter.removed == {"over held_out_size (test)": 2}


def test_of_translations_of_one_sentence_the_first_stay():
    source_hash = np.array([5, 3] * 100, dtype="uint64")
    order = np.arange(200)
    splitter = Splitter(np.full(200, 2), source_hash, order, order, {})
    splitter.draw("test", 150)
    assert splitter.members["test"].tolist() == sorted([*range(1, 200, 2), *range(0, 100, 2)])


def test_hashes_are_those_of_blake2b():
    # b2sum --length=64
    assert text_hash("abc") == 0xD8BB14D833D59559
    assert text_hash("abc", seed=3) == text_hash("3\tabc") != text_hash("abc")
