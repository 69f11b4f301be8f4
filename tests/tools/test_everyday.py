import re
from pathlib import Path

from tools.everyday import expressions, value_pairs
from tools.everyday.templates import TEMPLATES
from transformer_tf.text.corpora.cleaning import fold

ROOT = Path(__file__).parents[2]


def test_value_pairs_are_distinct_and_repeatable():
    pairs = list(value_pairs(2_000))
    assert len(set(pairs)) == len(pairs) > 1_500
    assert pairs == list(value_pairs(2_000))
    assert not any(
        "{" in side or not side[0].isupper() for pair in pairs for side in pair if side[0].isalpha()
    )


def test_both_sides_of_a_template_have_the_same_values():
    for source, target in TEMPLATES:
        places = re.findall(r"\{\w+\}", source)
        assert sorted(places) == sorted(re.findall(r"\{\w+\}", target)), source


def test_times_in_words_and_of_the_afternoon():
    times = dict(value_pairs(60_000))
    assert times["It is half past twelve."] == "Es ist halb eins."
    assert times["It is one o'clock."] == "Es ist ein Uhr."
    assert times["It is a quarter to one."] == "Es ist Viertel vor eins."
    assert times["It is ten past three."] == "Es ist zehn nach drei."
    assert times["Let's meet at 12 a.m."] == "Treffen wir uns um 0 Uhr."
    assert times["Let's meet at 12 pm."] == "Treffen wir uns um 12 Uhr."


def test_no_sentence_of_the_challenge_is_trained():
    lines = (ROOT / "examples" / "challenge.tsv").read_text(encoding="utf-8").splitlines()
    challenge = {fold(line.split("\t")[1]) for line in lines if "\t" in line}
    trained = {fold(source) for source, _ in (*expressions(), *value_pairs(12_000))}
    assert len(challenge) > 140
    assert not challenge & trained
