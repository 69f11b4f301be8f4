"""BPE-dropout, by hand and against SentencePiece."""

import subprocess
import sys
from collections import Counter

import pytest

from tests.conftest import ENGLISH, GERMAN
from transformer_tf.text.tokenization.merges import VARIANTS, MergeDropout
from transformer_tf.text.tokenization.tokenizer import Tokenizer

SCORES = {"▁": 0.0, "a": 0.0, "b": 0.0, "c": 0.0, "ab": -1.0, "bc": -2.0, "▁a": -3.0, "▁ab": -4.0}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("merges") / "source.model"
    return Tokenizer.train(ENGLISH + GERMAN, 370, path)


def test_without_dropout_the_earliest_merge_comes_first():
    assert MergeDropout(SCORES, 0.0, 0).cut(["▁", "a", "b", "c"]) == ["▁ab", "c"]


def test_byte_pieces_are_kept():
    """Bytes are kept even if the characters of their names are pieces."""
    scores = {**SCORES, **dict.fromkeys("<0xF>", 0.0)}
    assert MergeDropout(scores, 0.5, 0).cut(["▁", "<0xF0>"]) == ["▁", "<0xF0>"]


def test_without_dropout_as_sentencepiece(tokenizer):
    model = tokenizer.processor
    cutter = MergeDropout(tokenizer._piece_scores(), 0.0, 0)
    for sentence in ENGLISH + GERMAN + ["2026 Äpfel 漢字 x"]:
        pieces = model.encode(sentence, out_type=str)
        assert cutter.cut(pieces) == pieces


def test_probabilities_of_the_splits_of_a_word():
    """With a dropout of 1/2, the probabilities of the four splits of ▁ab are computed by hand."""
    draws = 4000
    counts = Counter(
        " ".join(MergeDropout(SCORES, 0.5, seed)._merge(["▁", "a", "b"])) for seed in range(draws)
    )
    # First step: ab 1/2; else ▁a 1/4; else nothing 1/4. After ab: ▁ab 1/2; after ▁a: ▁ab 1/2.
    for drawn, share in (("▁ab", 3 / 8), ("▁ ab", 1 / 4), ("▁a b", 1 / 8), ("▁ a b", 1 / 4)):
        assert counts[drawn] / draws == pytest.approx(share, abs=0.03)


def test_the_text_stays_the_same(tokenizer):
    for dropout in (0.1, 0.5, 0.9):
        for ids, text in zip(tokenizer.encode_sentences(GERMAN, dropout, 3), GERMAN, strict=True):
            assert tokenizer.decode(ids) == text


def test_a_frequent_word_is_drawn_a_bounded_number_of_times(tokenizer):
    cutter = MergeDropout(tokenizer._piece_scores(), 0.5, 0)
    ways = {tuple(cutter.cut(["▁cars"])) for _ in range(500)}
    assert 1 < len(ways) <= VARIANTS


def test_every_process_draws_the_same(tokenizer):
    code = (
        "import sys; from pathlib import Path; "
        "from transformer_tf.text.tokenization.tokenizer import Tokenizer;"
        "print(Tokenizer(Path(sys.argv[1])).encode_sentences(sys.argv[2:], 0.5, 7))"
    )
    command = [sys.executable, "-c", code, tokenizer.model_file, *GERMAN[:5]]
    drawn = {
        subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)
    }
    assert drawn == {f"{tokenizer.encode_sentences(GERMAN[:5], 0.5, 7)}\n"}
