"""Encoded pairs: the ids of the tokenizers, without the pairs that are too long."""

import numpy as np
import pytest

from transformer_tf.text.batching import encoded as encoded_module
from transformer_tf.text.batching.encoded import encode_pairs
from transformer_tf.text.tokenization.tokenizer import Tokenizer

SENTENCES = [
    f"{name} {verb} {number} {thing}."
    for name in ("Anna", "Jürgen", "Peter")
    for verb in ("kauft", "verliert")
    for number in range(11)
    for thing in ("Äpfel", "Straßenbahnkarten")
]
PAIRS = [(sentence, sentence[::-1]) for sentence in SENTENCES]
LIMIT = 22  # sub-words; some sentences are longer


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizers")
    return tuple(Tokenizer.train(SENTENCES, size, folder / f"{size}.model") for size in (316, 326))


def as_lists(encoded):
    return [
        (encoded.source[index].tolist(), encoded.target[index].tolist())
        for index in range(len(encoded))
    ]


@pytest.mark.parametrize("chunk", [7, 10_000])
def test_ids_and_weights_are_those_of_the_pairs_that_fit(tokenizers, chunk, monkeypatch):
    monkeypatch.setattr(encoded_module, "_CHUNK", chunk)
    source, target = tokenizers
    ids = [(source.encode_sentence(a), target.encode_sentence(b)) for a, b in PAIRS]
    fits = [max(map(len, pair)) <= LIMIT + 2 for pair in ids]
    assert 0 < sum(fits) < len(PAIRS)

    weights = np.arange(len(PAIRS)) / 8
    encoded = encode_pairs(PAIRS, *tokenizers, LIMIT, weights)

    assert as_lists(encoded) == [pair for pair, fit in zip(ids, fits, strict=True) if fit]
    assert encoded.weights.tolist() == weights[fits].tolist()
    assert encode_pairs(PAIRS, *tokenizers, LIMIT).weights is None
    assert len(encode_pairs([], *tokenizers, LIMIT)) == 0


def test_a_large_vocabulary_needs_more_bytes(tokenizers, monkeypatch):
    monkeypatch.setattr(tokenizers[0], "vocab_size", 70_000)
    encoded = encode_pairs(PAIRS, *tokenizers, LIMIT)
    assert encoded.source.ids.dtype == np.int32
    assert encoded.target.ids.dtype == np.uint16
