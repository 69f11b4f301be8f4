"""The phrasebook file of the package, and the grammar that makes it."""

import gzip
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tools.phrasebook import PATTERNS, generate_phrasebook
from tools.phrasebook.__main__ import FILE, phrasebook_text
from tools.phrasebook.alignment import GoldAlignment, align_words
from transformer_tf.text.corpora.phrasebook import load_phrasebook

ANNOTATED = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("alignments.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.fixture(scope="module")
def phrases():
    return load_phrasebook()


@pytest.mark.slow
def test_the_grammar_makes_exactly_the_file_of_the_package():
    assert gzip.decompress(FILE.read_bytes()).decode() == phrasebook_text()


def test_no_sentence_is_in_two_splits(phrases):
    assert len(phrases) == 24_000
    for side in ("source", "target"):
        assert len({getattr(phrase, side).casefold() for phrase in phrases}) == len(phrases)
    sizes = Counter(phrase.split for phrase in phrases)
    assert sizes.keys() == {"train", "validation", "test"}
    assert all(400 <= sizes[split] <= 600 for split in ("validation", "test"))


def test_each_held_out_pair_has_a_combination_that_no_other_split_has():
    pairs = generate_phrasebook()
    parts = defaultdict(set)
    for pair in pairs:
        parts[pair.split].update(pair.combination.split(" + "))
    for pair in pairs:
        for split in parts.keys() - {pair.split}:
            if pair.split != "train":
                assert set(pair.combination.split(" + ")) - parts[split]


def test_every_word_is_trained(phrases):
    for side in ("source", "target"):
        words = defaultdict(set)
        for phrase in phrases:
            words[phrase.split].update(re.findall(r"[^\W\d_]+", getattr(phrase, side)))
        assert words["validation"] | words["test"] <= words["train"]


def test_spelling(phrases):
    for phrase in phrases:
        for text in (phrase.source, phrase.target):
            assert re.fullmatch(r"[A-ZÄÖÜ].*[\w'][.?]", text), text
            assert not re.search(r"  | [,.?]|,\S|None|[|/_]", text), text
            assert not re.search(r"(?i)\b(\w+) \1\b", text.replace("sie sie", "")), text
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", phrase.source), phrase
        assert phrase.source[-1] == phrase.target[-1]
        assert re.findall(r"\d+", phrase.source) == re.findall(r"\d+", phrase.target)


def test_every_word_has_a_link(phrases):
    for phrase in phrases:
        assert phrase.sure and phrase.sure <= phrase.possible
        sources, targets = (set(side) for side in zip(*phrase.possible, strict=True))
        assert sources == set(range(len(phrase.source.split()))), phrase
        assert targets == set(range(len(phrase.target.split()))), phrase


def gold(german, annotation):
    """Returns the English sentence and the links of an annotation."""
    targets = [word.strip(".,?") for word in german.split()]
    english, sure, possible = [], set(), set()
    for i, (word, _, linked) in enumerate(entry.partition("=") for entry in annotation.split()):
        english.append(word)
        for link in linked.split(","):
            form, _, count = link.removeprefix("?").partition("/")
            places = [j for j, target in enumerate(targets) if target == form]
            possible.add((i, places[int(count or 1) - 1]))
            if not link.startswith("?"):
                sure.add((i, places[int(count or 1) - 1]))
    return " ".join(english), GoldAlignment(frozenset(sure), frozenset(possible))


@pytest.mark.parametrize(("_", "german", "annotation"), ANNOTATED, ids=[g for _, g, _ in ANNOTATED])
def test_alignments_annotated_by_hand(_, german, annotation):
    english, expected = gold(german, annotation)
    assert align_words(english, german) == expected


def test_every_pattern_is_annotated():
    assert {pattern for pattern, _, _ in ANNOTATED} == set(PATTERNS)
