"""Word alignments: from links to a source position for each target token."""

import numpy as np
import pytest

from tests.conftest import ENGLISH, GERMAN
from transformer_tf.attention_maps.words import group_words
from transformer_tf.errors import DataError
from transformer_tf.text.alignments import fits, moved, read_alignments
from transformer_tf.text.batching.batches import Batches
from transformer_tf.text.batching.encoded import encode_pairs
from transformer_tf.text.symbols import SLOTS, TAGS
from transformer_tf.text.tokenization.tokenizer import Tokenizer

ONE, TWO = SLOTS[:2]
# Seen digits are sub-words, all other words several ones.
PAIRS = [
    ("I see “12” dogs.", "Ich sehe 12 Hunde, oder?"),
    (f"{TAGS[0]} I see {ONE} - {TWO}", f"{ONE}: sehe ich {TWO}"),
    ("I see 3 trees.", "Ich sehe 3 Bäume."),
    ("Dogs!", "Hunde!"),
]
ALIGNMENTS = [bytes([1, 2, 3, 4]), bytes([4, 3, 2, 6]), b"", bytes([1])]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizers")
    return [
        Tokenizer.train(lines, 326, folder / f"{number}.model")
        for number, lines in enumerate((ENGLISH, GERMAN))
    ]


def test_links_of_a_file(tmp_path):
    path = tmp_path / "a.align"
    path.write_text("0-0 2-1 1-1 1-3\n\n3-0\n999-0\n")
    assert list(read_alignments(path)) == [bytes([1, 3, 0, 2]), b"", bytes([4]), bytes([255])]
    assert next(read_alignments(path, swap=True)) == bytes([1, 4, 2])
    path.write_text("0-0\n0-0 1:1\n")
    with pytest.raises(DataError, match="a.align: line 2"):
        list(read_alignments(path))


def test_an_alignment_fits_a_pair_that_has_its_words():
    pair = "One two three.", "Eins zwei."
    assert fits(b"", pair)
    assert fits(bytes([3, 0]), pair)
    assert not fits(bytes([4, 1]), pair)
    assert not fits(bytes([1, 1, 1]), pair)


def test_words_move_with_their_values():
    before = "It costs $45.90 at 8 pm.", "Um 20 Uhr kostet es 45,90 Dollar."
    after = f"It costs {ONE} euros at {TWO}.", f"Um {TWO} kostet es {ONE} Euro."
    alignment = bytes([4, 5, 6, 2, 1, 3, 3])
    # Um: at, <2>: <2>, kostet: costs, es: It, <1> and Euro: <1>
    assert moved(alignment, before, after) == bytes([5, 6, 2, 1, 3, 3])
    assert moved(alignment, before, before) is alignment
    assert moved(b"", before, after) == b""


def written(tokens, group):
    """The sub-words of a word that have letters, digits or a placeholder."""
    shown = {f"<{number}>" for number in range(1, 9)}
    return [i for i in group if tokens[i] in shown or any(map(str.isalnum, tokens[i]))]


def test_each_sub_word_of_a_word_has_the_first_one_of_its_source_word(tokenizers):
    """Compared with a loop over words; most words here have several sub-words."""
    encoded = encode_pairs(PAIRS, *tokenizers, 50, None, ALIGNMENTS)
    for index, alignment in enumerate(ALIGNMENTS):
        source, target = (
            tokenizer.tokens(ids[index])
            for tokenizer, ids in zip(tokenizers, (encoded.source, encoded.target), strict=True)
        )
        source_words, target_words = (
            [
                [i for i in group if tokens[i] not in ("<start>", "<end>")]
                for group in group_words(tokens)
            ]
            for tokens in (source, target)
        )
        source_words, target_words = (
            [*filter(None, words)] for words in (source_words, target_words)
        )
        expected = np.zeros(len(target), dtype=int)
        for number, group in zip(alignment, target_words, strict=False):
            if number:
                source_word = source_words[number - 1]
                expected[written(target, group)] = (written(source, source_word) or source_word)[0]
        assert encoded.alignment[index].tolist() == expected.tolist()
        assert expected.any() == bool(alignment)


def test_pairs_without_an_alignment_and_pairs_that_are_too_long(tokenizers):
    whole = encode_pairs(PAIRS, *tokenizers, 50, None, ALIGNMENTS)
    limit = int(whole.source.lengths[3]) - 2
    short = encode_pairs(PAIRS, *tokenizers, limit, None, ALIGNMENTS)
    assert 0 < len(short) < len(PAIRS)
    np.testing.assert_array_equal(short.alignment[len(short) - 1], whole.alignment[3])
    assert encode_pairs(PAIRS, *tokenizers, 50).alignment is None


def test_a_batch_pads_the_alignment_like_the_targets(tokenizers):
    encoded = encode_pairs(PAIRS, *tokenizers, 50, None, ALIGNMENTS)
    inputs, target_output = Batches(encoded, 300, max_buckets=1, shuffle=False)[0]
    alignment = inputs["alignment"]
    assert alignment.shape == (len(target_output), target_output.shape[1] + 1)
    for row, expected in zip(alignment, encoded.alignment, strict=False):
        assert row[: len(expected)].tolist() == expected.tolist()
        assert not row[len(expected) :].any()
    plain = encode_pairs(PAIRS, *tokenizers, 50)
    assert "alignment" not in Batches(plain, 300, max_buckets=1)[0][0]
