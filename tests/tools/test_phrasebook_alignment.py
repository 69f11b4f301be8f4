import random
from pathlib import Path

import pytest

from tools.phrasebook import PATTERNS, PhrasePair, generate_phrasebook
from tools.phrasebook import lexicon as words
from tools.phrasebook.alignment import GoldAlignment, align_words

ANNOTATED = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("alignments.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]

# All that may do without a sure link: what one language does not say.
WITHOUT_SURE = {"to", "do", "does", "did", "of", "for", "on", "there"}
OHNE_SURE = {"dem", "Uhr"}


def bare(word: str) -> str:
    return word.strip(".,?").removesuffix("'s")


def gold(german: str, annotation: str) -> tuple[str, GoldAlignment]:
    """Returns the English sentence and the links of an annotation."""
    targets = [bare(word) for word in german.split()]
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
def test_annotated_by_hand(_: str, german: str, annotation: str) -> None:
    english, expected = gold(german, annotation)
    assert align_words(english, german) == expected


def test_every_pattern_is_annotated() -> None:
    assert {pattern for pattern, _, _ in ANNOTATED} == set(PATTERNS)


Aligned = tuple[PhrasePair, GoldAlignment]


@pytest.fixture(scope="module")
def aligned() -> list[Aligned]:
    """About 300 pairs of every pattern."""
    pairs = generate_phrasebook(12_000, seed=5)
    return [(pair, align_words(pair.source, pair.target)) for pair in pairs]


def links_of(pair: PhrasePair, links: frozenset[tuple[int, int]]) -> list[tuple[str, list[str]]]:
    targets = [bare(word) for word in pair.target.split()]
    return [
        (bare(word), [targets[j] for source, j in sorted(links) if source == i])
        for i, word in enumerate(pair.source.split())
    ]


def test_no_word_is_left_out(aligned: list[Aligned]) -> None:
    for pair, links in aligned:
        sources, targets = pair.source.split(), pair.target.split()
        assert links.sure <= links.possible
        assert {i for i, _ in links.possible} == set(range(len(sources))), pair
        assert {j for _, j in links.possible} == set(range(len(targets))), pair
        sure_sources, sure_targets = {i for i, _ in links.sure}, {j for _, j in links.sure}
        left = {bare(word).lower() for i, word in enumerate(sources) if i not in sure_sources}
        assert left <= WITHOUT_SURE, pair
        left = {bare(word) for j, word in enumerate(targets) if j not in sure_targets}
        assert left <= OHNE_SURE, pair


def test_a_noun_has_one_counterpart(aligned: list[Aligned]) -> None:
    tables = (words.THINGS, words.DRINKS, words.RELATIVES, words.PEOPLE)
    forms: dict[str, set[str]] = {}
    for noun in (noun for table in tables for noun in table.values()):
        german = {noun.german, noun.oblique or "", noun.german_plural, f"{noun.german_plural}n"}
        forms |= {noun.english: german, noun.english_plural: german}
    forms |= {name.split()[-1]: {german} for name, german in words.CITIES.items()}
    forms |= {name.split()[-1]: {german.split()[-1]} for name, (german, *_) in words.NAMED.items()}
    nouns = 0
    for pair, links in aligned:
        for word, counterparts in links_of(pair, links.sure):
            if word in forms:
                assert len(counterparts) == 1 and counterparts[0] in forms[word], (pair, word)
                nouns += 1
        for j, word in enumerate(targets := pair.target.split()):
            if j and word[0].isupper() and not (":" in targets[j - 1] and bare(word) == "Uhr"):
                assert len([link for link in links.sure if link[1] == j]) == 1, (pair, word)
    assert nouns > 8000


def test_what_stands_before_a_noun_goes_with_it(aligned: list[Aligned]) -> None:
    """From a linked article, possessive or adjective on, both languages come to the same noun."""
    before = {"the", "a", "an", "which", "many", *words.POSSESSIVES, *words.ADJECTIVES}
    checked = 0
    for pair, links in aligned:
        sources = [bare(word).lower() for word in pair.source.split()]
        targets = [bare(word) for word in pair.target.split()]
        for i, j in links.sure:
            if sources[i] not in before or sources[i + 1 : i + 2] == ["than"]:
                continue
            noun = next((k for k in range(i, len(sources)) if sources[k] not in before), None)
            nomen = next((k for k in range(j + 1, len(targets)) if targets[k][0].isupper()), None)
            if noun is None or (noun, nomen) in links.sure:
                checked += 1
                continue
            # "is red", and "helps her": no noun follows.
            assert (sources[i] in words.ADJECTIVES and sources[i - 1] not in before) or (
                sources[i] == "her" and targets[j] in ("sie", "ihr")
            ), (pair, sources[i], targets[j])
    assert checked > 8000


def test_links_stay_in_their_clause(aligned: list[Aligned]) -> None:
    conjunctions = {"that", "whether", "because", "why", "when", "where", "to"}
    checked = 0
    for pair, links in aligned:
        sources, targets = pair.source.split(), pair.target.split()
        commas = [j + 1 for j, word in enumerate(targets) if word.endswith(",")]
        if not commas:
            continue
        starts = [i + 1 for i, word in enumerate(sources) if word.endswith(",")]
        if not starts:  # the first conjunction, or the `to` of a purpose, that leads over
            leads = [i for i, j in links.sure if j == commas[0]]
            starts = [i for i in leads if sources[i] in conjunctions]
        assert len(commas) == len(starts) == 1, pair
        for i, j in links.possible:
            assert (i >= starts[0]) == (j >= commas[0]), (pair, sources[i], targets[j])
        checked += 1
    assert checked > 2000


def test_adjectives_numbers_and_pronouns_have_one_counterpart(aligned: list[Aligned]) -> None:
    pronouns = {form for name, (other, *_) in words.PERSONAL.items() for form in (name, other)}
    for pair, links in aligned:
        for word, counterparts in links_of(pair, links.sure):
            if word in {*words.ADJECTIVES, *words.FEELINGS, *pronouns}:
                assert len(counterparts) == 1, (pair, word)
            if word[0].isdigit():
                assert counterparts == [word], pair


def test_verbs_have_as_many_counterparts_as_german_makes_of_them(aligned: list[Aligned]) -> None:
    """Two for a past that is a perfect, and for a prefix that stands apart, else one."""
    verbs = [verb for verb, _ in (*words.TRANSITIVE, *words.DITRANSITIVE)]
    verbs += [*words.WITH_ACCUSATIVE, *words.WITH_DATIVE, *words.WITH_PREPOSITION, words.DRINK]
    pasts = {v.past.split()[0] for v in verbs if v.past != v.base} - {"had"}
    bases = {form for v in verbs if not v.prefix for form in (v.base, v.third)} - {"read", "like"}
    apart = {form for v in verbs if v.prefix and " " not in v.base for form in (v.base, v.third)}
    prefixes = {v.prefix for v in verbs if v.prefix}
    counts = {1: 0, 2: 0}
    for pair, links in aligned:
        for word, counterparts in links_of(pair, links.sure):
            expected = 0
            if word in pasts:
                expected = 2
            elif word in bases - pasts:
                expected = 1
            elif word in apart:
                expected = 2 if prefixes & set(counterparts) else 1
                assert expected == 1 or bare(pair.target.split()[-1]) in prefixes, pair
            if expected:
                assert len(counterparts) == expected, (pair, word)
                counts[expected] += 1
    assert min(counts.values()) > 500


def test_unknown_words_stay_alone() -> None:
    links = align_words("Tom buys a zorp xyzzy.", "Tom kauft einen Zorp.")
    assert {(0, 0), (1, 1)} <= links.sure
    assert not [link for link in links.possible if link[0] in (3, 4) or link[1] == 3]


@pytest.mark.parametrize(
    ("source", "target"),
    [("", ""), ("Anna", ""), ("", "Anna"), (" , . ", "?"), ("to to", "zu um zu"), ("14:30", "Uhr")],
)
def test_any_text_has_an_alignment(source: str, target: str) -> None:
    assert align_words(source, target).sure <= align_words(source, target).possible


def test_words_in_any_order_have_an_alignment() -> None:
    generator = random.Random(0)
    pairs = generate_phrasebook(400)
    source = [word for pair in pairs for word in pair.source.split()]
    target = [word for pair in pairs for word in pair.target.split()]
    for _ in range(300):
        count, zahl = generator.randint(0, 9), generator.randint(0, 9)
        english, german = generator.sample(source, count), generator.sample(target, zahl)
        links = align_words(" ".join(english), " ".join(german))
        assert links.sure <= links.possible <= {(i, j) for i in range(count) for j in range(zahl)}
