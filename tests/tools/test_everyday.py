import re
import sys
from pathlib import Path

import pytest

from tools.everyday import WRITTEN_FILES, value_pairs, written_pairs
from tools.everyday.__main__ import main
from tools.everyday.templates import TEMPLATES
from tools.everyday.words import NOUNS, rare_words, word_pairs
from transformer_tf.text.corpora.cleaning import fold

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "count"),
    [("sentences", 52_000), ("careless", 2_100), ("spanish", 47_000)]
    + [("written", 6_200), ("written_spanish", 6_200)],
)
def test_no_sentence_is_written_twice_and_sides_end_alike(name, count):
    pairs = written_pairs(name)
    assert len({fold(source) for source, _ in pairs}) == len(pairs) > count
    different = [pair for pair in pairs if pair[0][-1] in ".?!" and pair[0][-1] != pair[1][-1]]
    assert len(different) < 20


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


def test_numbers_in_words():
    pairs = dict(value_pairs(100_000))
    assert pairs["My grandfather is ninety-one."] == "Mein Großvater ist einundneunzig."
    assert pairs["She is sixteen years old."] == "Sie ist sechzehn Jahre alt."
    assert pairs["She is seventy years old."] == "Sie ist siebzig Jahre alt."
    birthdays = [
        ("first", "ersten"), ("third", "dritten"), ("sixth", "sechsten"), ("seventh", "siebten"),
        ("eighth", "achten"), ("twelfth", "zwölften"), ("nineteenth", "neunzehnten"),
        ("fortieth", "vierzigsten"), ("twenty-first", "einundzwanzigsten"),
    ]  # fmt: skip
    for english, german in birthdays:
        assert pairs[f"Happy {english} birthday!"] == f"Alles Gute zum {german} Geburtstag!"


def test_no_sentence_of_the_challenge_is_trained():
    lines = (ROOT / "examples" / "challenge.tsv").read_text(encoding="utf-8").splitlines()
    challenge = {fold(line.split("\t")[1]) for line in lines if "\t" in line}
    pairs = [
        *value_pairs(15_000),
        *(pair for name in WRITTEN_FILES for pair in written_pairs(name)),
    ]
    trained = {fold(source) for source, _ in pairs}
    assert len(challenge) > 140
    assert not challenge & trained


def test_rare_words_are_used_and_not_yet_trained():
    dictionary = [
        ("dishwasher", "Tellerwäscher"),
        ("dishwasher", "Spülmaschine"),
        ("house", "Haus"),
        ("to rinse", "spülen"),
        ("axolotl", "Axolotl"),
    ]
    pairs = [("The house is big.", "Das Haus ist groß.")] * 40
    english = ["Rinse it in the dishwasher."] * 3
    german = ["Die Spülmaschine läuft."]
    words = list(rare_words(dictionary, pairs, english, german))
    assert words == [("dishwasher", "Spülmaschine"), ("to rinse", "spülen")]


def test_words_in_sentences():
    words = [("dishwasher", "Spülmaschine"), ("to rinse", "spülen"), ("icy", "eisig")]
    pairs = list(word_pairs([*words, ("lion", "Löwe")], {"Maschine": "f", "Löwe": "m"}))
    assert len(pairs) == 12  # none of the weak noun
    nouns = dict(word_pairs(words[:1], {"Maschine": "f"}, per_word=len(NOUNS)))
    assert nouns["He bought a new dishwasher."] == "Er hat eine neue Spülmaschine gekauft."
    assert nouns["The dishwasher is over there."] == "Die Spülmaschine ist da drüben."
    attic = dict(word_pairs([("attic", "Dachboden")], {"Boden": "m"}, per_word=len(NOUNS)))
    assert attic["I need an attic."] == "Ich brauche einen Dachboden."


def test_the_command_writes_all_files(tmp_path, monkeypatch):
    (tmp_path / "dictionary.tsv").write_text("dishwasher\tSpülmaschine\n")
    (tmp_path / "pairs.tsv").write_text("I see.\tIch sehe eine Maschine.\n")
    (tmp_path / "en.txt").write_text("dishwasher\n" * 3)
    (tmp_path / "de.txt").write_text("Ich will eine Maschine.\n")
    files = {
        "dictionary": "dictionary.tsv",
        "pairs": "pairs.tsv",
        "english": "en.txt",
        "german": "de.txt",
    }
    options = [word for name, file in files.items() for word in (f"--{name}", str(tmp_path / file))]
    monkeypatch.setattr(sys, "argv", ["everyday", str(tmp_path / "out"), *options])
    main()
    lines = (tmp_path / "out" / "words.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    assert all("Spülmaschine" in line for line in lines)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "phrases.tsv",
        "phrases_spanish.tsv",
        "expressions.tsv",
        "written.tsv",
        "written_spanish.tsv",
        "vocabulary.tsv",
        "vocabulary_spanish.tsv",
        "idioms.tsv",
        "idioms_spanish.tsv",
        "sentences.tsv",
        "careless.tsv",
        "spanish.tsv",
        "values.tsv",
        "words.tsv",
        "misspelt.tsv",
    }
