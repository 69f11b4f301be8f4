import random

import pytest

from transformer_tf.text.corpora.phrasebook import load_phrasebook
from transformer_tf.text.corpora.suspicious import (
    columns_are_swapped,
    find_suspicious,
    seeming_language,
)
from transformer_tf.utils.languages import COMMON_WORDS, LANGUAGE_NAMES


@pytest.fixture(scope="module")
def pairs():
    phrases = [(phrase.source, phrase.target) for phrase in load_phrasebook()]
    return random.Random(0).sample(phrases, 1000)


def test_wrong_pairs_are_found(pairs):
    """Ten of each kind among 1 000 right pairs; no right pair is suspicious."""
    wrong = [
        *(((target, source), "swapped") for source, target in pairs[:10]),
        *(((target, target), "source looks like target") for _, target in pairs[10:20]),
        *(((source, source), "target looks like source") for source, _ in pairs[20:30]),
    ]
    found = find_suspicious([*(pair for pair, _ in wrong), *pairs[30:]])
    assert [(each.pair, each.reason) for each in found] == wrong


def test_right_pairs_are_not_suspicious(pairs):
    assert find_suspicious(pairs) == []
    assert find_suspicious([]) == []
    one_language = [(source, source) for source, _ in pairs]
    assert find_suspicious(one_language) == []


def test_swapped_columns_are_found(pairs):
    swapped = [(target, source) for source, target in pairs[800:]]
    assert columns_are_swapped(swapped, pairs[:800])
    assert not columns_are_swapped(pairs[800:], pairs[:800])
    assert not columns_are_swapped(swapped[:60] + pairs[800:], pairs[:800])  # a minority
    assert not columns_are_swapped([], pairs)
    assert not columns_are_swapped(swapped, pairs[:19])
    one_language = [(source, source) for source, _ in pairs]
    assert not columns_are_swapped(one_language[800:], pairs[:800])
    assert not columns_are_swapped(one_language[800:], one_language[:800])


def test_the_language_of_a_column(pairs):
    for side, code in enumerate(("en", "de")):
        texts = [pair[side] for pair in pairs[:100]]
        assert seeming_language(texts, code) == code
        assert seeming_language(texts, "fr") == code
        assert seeming_language(texts, "ja") == "ja"  # nothing is known of it
        assert seeming_language(texts[:1], "fr") == "fr"  # too few words


def test_each_named_language_has_its_own_common_words():
    assert set(COMMON_WORDS) == set(LANGUAGE_NAMES)
    for code, words in COMMON_WORDS.items():
        assert len(words) == len(set(words)) == 12
        assert seeming_language(50 * words, "en") == code
