"""The generated corpus: its grammar against a grammar book's tables, its pairs against lints."""

import re
from collections import Counter, defaultdict

import pytest

from transformer_tf.text.phrasebook import PATTERNS, generate_phrasebook
from transformer_tf.text.phrasebook.grammar import (
    Phrase,
    conjugate,
    english_clause,
    german_clause,
    german_noun_phrase,
    noun_phrase,
    with_zu,
)
from transformer_tf.text.phrasebook.lexicon import (
    DITRANSITIVE,
    DRINK,
    PEOPLE,
    RELATIVES,
    SUBJECTS,
    THINGS,
    TRANSITIVE,
    WITH_ACCUSATIVE,
    WITH_DATIVE,
)


@pytest.fixture(scope="module")
def pairs():
    return generate_phrasebook()


def words(sentence):
    return re.findall(r"\w+", sentence)


# Declension, as a grammar book has it: masculine, feminine, neuter, plural.
TABLES = {
    ("der", "nominative"): ("der rote Hut", "die rote Blume", "das rote Auto", "die roten Autos"),
    ("der", "accusative"): ("den roten Hut", "die rote Blume", "das rote Auto", "die roten Autos"),
    ("der", "dative"): ("dem roten Hut", "der roten Blume", "dem roten Auto", "den roten Autos"),
    ("mein", "nominative"): (
        "mein roter Hut",
        "meine rote Blume",
        "mein rotes Auto",
        "meine roten Autos",
    ),
    ("mein", "accusative"): (
        "meinen roten Hut",
        "meine rote Blume",
        "mein rotes Auto",
        "meine roten Autos",
    ),
    ("mein", "dative"): (
        "meinem roten Hut",
        "meiner roten Blume",
        "meinem roten Auto",
        "meinen roten Autos",
    ),
    ("", "nominative"): ("roter Hut", "rote Blume", "rotes Auto", "rote Autos"),
    ("", "accusative"): ("roten Hut", "rote Blume", "rotes Auto", "rote Autos"),
    ("", "dative"): ("rotem Hut", "roter Blume", "rotem Auto", "roten Autos"),
}


@pytest.mark.parametrize(("determiner", "case"), TABLES)
def test_declension(determiner, case):
    nouns = [(THINGS["hat"], False), (THINGS["flower"], False), (THINGS["car"], False)]
    nouns.append((THINGS["car"], True))
    found = tuple(
        german_noun_phrase(noun, case, determiner, "red", plural) for noun, plural in nouns
    )
    assert found == TABLES[determiner, case]


def test_particular_nouns_and_adjectives():
    assert german_noun_phrase(PEOPLE["student"], "accusative", "der") == "den Studenten"
    assert german_noun_phrase(PEOPLE["student"], "nominative", "der") == "der Student"
    assert german_noun_phrase(RELATIVES["neighbor"], "dative", "unser") == "unserem Nachbarn"
    assert german_noun_phrase(PEOPLE["child"], "dative", "der", plural=True) == "den Kindern"
    assert german_noun_phrase(PEOPLE["woman"], "dative", "der", plural=True) == "den Frauen"
    assert german_noun_phrase(THINGS["car"], "accusative", "ein", "expensive") == "ein teures Auto"
    assert german_noun_phrase(THINGS["car"], "accusative", "12", "new", True) == "12 neue Autos"


SUBJECT = {subject.english: subject for subject in SUBJECTS}
VERB = {verb.base: verb for verb, _ in TRANSITIVE} | {v.base: v for v in WITH_ACCUSATIVE}
COAT = noun_phrase(THINGS["coat"], "accusative", "a")
THE_COAT = noun_phrase(THINGS["coat"], "accusative", "the", "old")
YESTERDAY = Phrase("yesterday", "gestern", place="time")
ME = Phrase("me", "mich", place="pronoun")

# subject, verb, tense, phrases, further arguments: English, German
CLAUSES = [
    (
        ("I", "buy", "present", (COAT,), {}),
        "I buy a coat",
        "ich kaufe einen Mantel",
    ),
    (
        ("she", "buy", "past", (COAT, YESTERDAY), {}),
        "she bought a coat yesterday",
        "sie hat gestern einen Mantel gekauft",
    ),
    (
        ("she", "buy", "past", (COAT,), {"negative": True}),
        "she did not buy a coat",
        "sie hat keinen Mantel gekauft",
    ),
    (
        ("Tom", "wash", "present", (THE_COAT,), {"negative": True}),
        "Tom does not wash the old coat",
        "Tom wäscht den alten Mantel nicht",
    ),
    (
        ("you", "try on", "present", (THE_COAT,), {}),
        "you try on the old coat",
        "du probierst den alten Mantel an",
    ),
    (
        ("you", "try on", "past", (THE_COAT,), {"negative": True}),
        "you did not try on the old coat",
        "du hast den alten Mantel nicht anprobiert",
    ),
    (
        ("my parents", "pick up", "want", (ME, YESTERDAY), {}),
        "my parents want to pick me up yesterday",
        "meine Eltern wollen mich gestern abholen",
    ),
    (
        ("her father", "read", "can", (COAT,), {"negative": True}),
        "her father cannot read a coat",
        "ihr Vater kann keinen Mantel lesen",
    ),
]


@pytest.mark.parametrize(("clause", "english", "german"), CLAUSES)
def test_main_clauses(clause, english, german):
    subject, verb, tense, phrases, more = clause
    arguments = (SUBJECT[subject], VERB[verb], tense, phrases)
    assert english_clause(*arguments, **more) == english
    assert german_clause(*arguments, **more) == german


def test_word_order():
    arguments = (SUBJECT["he"], VERB["call"], "present", (ME,))
    assert german_clause(*arguments) == "er ruft mich an"
    assert german_clause(*arguments, order="question") == "ruft er mich an"
    assert german_clause(*arguments, order="subordinate", front="dass") == "dass er mich anruft"
    past = (SUBJECT["he"], VERB["call"], "past", (ME,))
    assert german_clause(*past, order="subordinate", front="weil") == "weil er mich angerufen hat"
    must = (SUBJECT["he"], VERB["call"], "must", (ME,))
    assert german_clause(*must, order="question", front="wann") == "wann muss er mich anrufen"
    assert german_clause(*must, order="subordinate", front="ob") == "ob er mich anrufen muss"
    assert english_clause(*past, question=True, front="why") == "why did he call me"
    assert english_clause(*must, question=True) == "must he call me"


def test_people_before_times_before_things():
    anna = Phrase("Anna", "Anna", place="person")
    arguments = (SUBJECT["he"], DITRANSITIVE[0], "past", (anna, THE_COAT, YESTERDAY))
    assert german_clause(*arguments) == "er hat Anna gestern den alten Mantel gegeben"
    assert german_clause(*arguments, negative=True) == (
        "er hat Anna den alten Mantel gestern nicht gegeben"
    )


def test_verbs():
    assert [conjugate(VERB["eat"], p) for p in ("1", "2", "3", "pl")] == [
        "esse",
        "isst",
        "isst",
        "essen",
    ]
    assert with_zu(VERB["buy"]) == "zu kaufen"
    assert with_zu(VERB["pick up"]) == "abzuholen"
    assert WITH_DATIVE[0].third_german == "hilft"
    assert DRINK.participle == "getrunken"


# One sentence or more of each kind, translated by hand.
EXPECTED = {
    "I went to the shop to buy something to drink.": (
        "Ich bin in den Laden gegangen, um etwas zu trinken zu kaufen."
    ),
    "Anna likes to drink coffee.": "Anna trinkt gern Kaffee.",
    "Please wait for me.": "Warte bitte auf mich.",
    "Please help us.": "Hilf uns bitte.",
    "Is the picture expensive?": "Ist das Bild teuer?",
    "I think that he is in the park.": "Ich glaube, dass er im Park ist.",
    "Is there a big table in the kitchen?": "Steht in der Küche ein großer Tisch?",
}


def test_hand_translated_sentences():
    found = {pair.source: pair.target for pair in generate_phrasebook(80_000, seed=1)}
    assert {source: found.get(source) for source in EXPECTED} == EXPECTED


def test_enough_pairs_all_different(pairs):
    assert len(pairs) == 24_000
    assert len({pair.source.casefold() for pair in pairs}) == len(pairs)
    # Nor does a German sentence stand for two English ones.
    assert len({pair.target for pair in pairs}) == len(pairs)


def test_deterministic_and_seeded(pairs):
    assert generate_phrasebook(500) == pairs[:500]
    assert generate_phrasebook(500, seed=1) != pairs[:500]


def test_the_split_does_not_depend_on_the_seed(pairs):
    split = {pair.combination: pair.split for pair in pairs}
    for pair in generate_phrasebook(3000, seed=5):
        assert split.get(pair.combination, pair.split) == pair.split


def test_held_out_combinations_of_words_that_are_known(pairs):
    combinations, sentences, vocabulary = (defaultdict(set) for _ in range(3))
    for pair in pairs:
        combinations[pair.split].add(pair.combination)
        sentences[pair.split] |= {pair.source, pair.target}
        vocabulary[pair.split] |= {*words(f"{pair.source} {pair.target}".casefold())}
    for held_out in ("validation", "test"):
        assert len(combinations[held_out]) > 200
        assert not combinations[held_out] & combinations["train"]
        assert not sentences[held_out] & sentences["train"]
        unknown = vocabulary[held_out] - vocabulary["train"]
        assert {word for word in unknown if not word.isdigit()} == set()
    assert not combinations["validation"] & combinations["test"]
    counts = Counter(pair.split for pair in pairs)
    assert min(counts["validation"], counts["test"]) > 300


def test_every_pattern_and_tense_is_there(pairs):
    counts = Counter(pair.pattern for pair in pairs)
    assert set(counts) == set(PATTERNS)
    assert min(counts.values()) > 100
    train = {pair.pattern for pair in pairs if pair.split == "train"}
    assert train == set(PATTERNS)


def test_sentences_look_like_sentences(pairs):
    for pair in pairs:
        for text in (pair.source, pair.target):
            assert re.fullmatch(
                r"[A-ZÄÖÜ][^.?]*[.?]", text.replace("Mr.", "Mr").replace("Mrs.", "Mrs")
            )
            assert "  " not in text
            assert "None" not in text
            repeated = re.search(r"\b(\w+) \1\b", text.casefold())
            assert not repeated or repeated[1] == "sie", text  # they … her
        assert pair.source[-1] == pair.target[-1]
        assert 2 <= len(pair.source.split()) <= 18
        assert re.findall(r"\d+", pair.source) == re.findall(r"\d+", pair.target)


PASTS = [verb.past for verb in VERB.values() if verb.past != verb.base]


def test_english_articles_and_helpers(pairs):
    for pair in pairs:
        assert not re.search(r"\b[Aa] [aeiou]", pair.source), pair
        assert not re.search(r"\b[Aa]n [^aeiou]", pair.source), pair
        for past in PASTS:
            assert not re.search(rf"(did|does|do|can|must|will) (not )?{past}\b", pair.source), pair


def test_german_commas(pairs):
    for pair in pairs:
        for conjunction in ("dass", "weil", "ob", "um"):
            for match in re.finditer(rf" {conjunction} (?!\d)", pair.target):
                assert pair.target[match.start() - 1] == ",", pair
        if pair.target.startswith("Wenn "):
            assert "," in pair.target


def test_more_than_the_grammar_can_make(monkeypatch):
    for name in set(PATTERNS) - {"there is"}:
        monkeypatch.delitem(PATTERNS, name)
    with pytest.raises(ValueError, match="at most [0-9]+, all that the grammar"):
        generate_phrasebook(10_000)
