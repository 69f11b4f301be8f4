from pathlib import Path

import pytest

from transformer_tf.commands.input_language import language_note
from transformer_tf.text.tokenization.tokenizer import Tokenizer

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("en-de", "English", "German"),
        ("de-en", "German", "English"),
        ("en-es", "English", "Spanish"),
    ],
)
def test_a_third_of_the_sentences_in_the_wrong_language_and_hardly_any_in_the_right_one(
    name, source, target
):
    known = Tokenizer.load(CHECKPOINTS / name / "tokenizers" / "source.model").known_words
    lines = (CHECKPOINTS / name / "test.tsv").read_text(encoding="utf-8").splitlines()
    columns = list(zip(*(line.split("\t")[:2] for line in lines), strict=True))
    right, wrong = (
        sum(language_note([text], source, target, known) is not None for text in column)
        for column in columns
    )
    assert right <= len(lines) / 500
    assert wrong > len(lines) / 3
    assert language_note(columns[0], source, target, known) is None
    assert target in language_note(columns[1], source, target, known)


def test_names_short_texts_and_unknown_languages_give_no_note():
    for text in ("", "Ich liebe dich.", "Björk Guðmundsdóttir, Halldór Laxness, Jón Kalman"):
        assert language_note([text], "English", "German", {"a", "tree"}) is None
    assert language_note(["Das ist nicht der Baum."], "xx", "yy") is None
    for text in ("puu on kaunis tänään", "هذا كتاب جديد جدا"):
        assert "unknown" in language_note([text], "English", "yy", {"a", "tree"})
