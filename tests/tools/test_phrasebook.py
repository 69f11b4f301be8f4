import re
from collections import Counter, defaultdict

import pytest

from tools import phrasebook
from tools.phrasebook import PATTERNS, PhrasePair, generate_phrasebook
from tools.phrasebook import lexicon as words
from tools.phrasebook.events import Event
from tools.phrasebook.grammar import (
    Phrase,
    conjugate,
    german_noun_phrase,
    noun_phrase,
    to_be,
    with_zu,
)


@pytest.fixture(scope="module")
def pairs() -> list[PhrasePair]:
    return generate_phrasebook()


def all_verbs() -> list[words.Verb]:
    return [
        *(verb for verb, _ in (*words.TRANSITIVE, *words.DITRANSITIVE)),
        *words.WITH_ACCUSATIVE,
        *words.WITH_DATIVE,
        *words.WITH_PREPOSITION,
        *(words.DRINK, words.PUT, words.TRAVEL, words.GO, words.LIVE, words.WORK, words.SLEEP),
        *(words.GET_UP, words.COME, words.ARRIVE, words.DEPART),
    ]


def verb(base: str, infinitive: str | None = None) -> words.Verb:
    found = [v for v in all_verbs() if v.base == base and infinitive in (None, v.infinitive)]
    return found[0]


def subject(english: str) -> words.Subject:
    subjects = (*words.PRONOUN_SUBJECTS, *words.NOUN_SUBJECTS)
    return next(one for one in subjects if one.english == english)


def letters(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:'[a-z]+)?", text)


# The corpus


def test_many_different_pairs(pairs: list[PhrasePair]) -> None:
    assert len(pairs) == 24_000
    assert len({pair.source.casefold() for pair in pairs}) == len(pairs)
    assert len({pair.target.casefold() for pair in pairs}) == len(pairs)


def test_patterns_come_evenly(pairs: list[PhrasePair]) -> None:
    counts = Counter(pair.pattern for pair in pairs)
    assert counts.keys() == PATTERNS.keys()
    assert len(counts) >= 36
    assert max(counts.values()) < 2 * min(counts.values())


def test_too_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrasebook, "PATTERNS", {"there is": PATTERNS["there is"]})
    with pytest.raises(ValueError, match="Received: num_pairs=100000") as caught:
        generate_phrasebook(100_000)
    match = re.search(r"at most (\d+)", str(caught.value))
    assert match is not None
    assert len(generate_phrasebook(int(match[1]))) == int(match[1]) > 500


def test_lengths(pairs: list[PhrasePair]) -> None:
    for side in ("source", "target"):
        lengths = [len(getattr(pair, side).split()) for pair in pairs]
        assert 2 <= min(lengths) <= max(lengths) <= 14
        assert 6 < sum(lengths) / len(lengths) < 8
    for pair in pairs:
        assert 0.5 <= len(pair.source.split()) / len(pair.target.split()) <= 2


# The splits


def test_splits_hold_out_combinations(pairs: list[PhrasePair]) -> None:
    sizes = Counter(pair.split for pair in pairs)
    assert 400 <= sizes["validation"] <= 600
    assert 400 <= sizes["test"] <= 600
    assert sizes.keys() == {"train", "validation", "test"}
    for feature in ("source", "target", "combination"):
        seen: dict[str, set[str]] = defaultdict(set)
        for pair in pairs:
            seen[pair.split].add(getattr(pair, feature).casefold())
        assert not seen["train"] & seen["validation"]
        assert not seen["train"] & seen["test"]
        assert not seen["validation"] & seen["test"]


def test_each_held_out_pair_has_a_part_that_no_other_split_has(pairs: list[PhrasePair]) -> None:
    parts: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        parts[pair.split].update(pair.combination.split(" + "))
    for pair in pairs:
        for split in {"train", "validation", "test"} - {pair.split}:
            if pair.split != "train":
                assert set(pair.combination.split(" + ")) - parts[split]
    assert len(set.union(*parts.values())) > 1000


def test_held_out_objects_never_meet_their_verb_in_training(pairs: list[PhrasePair]) -> None:
    """Checks the rule on the sentences themselves instead of their keys."""
    trained = [
        set(letters(pair.source))
        for pair in pairs
        if pair.split == "train" and " + " not in pair.combination
    ]
    checked = 0
    for held_out in {pair.combination for pair in pairs if pair.split != "train"}:
        base, _, thing = held_out.partition("|")
        forms = {one.base: {one.base, one.third, one.past} for one, _ in words.TRANSITIVE}
        if base in set(forms) - {"have", "like"} and " " not in base and thing in words.THINGS:
            noun = words.THINGS[thing]
            things = {noun.english, noun.english_plural}
            assert not any(forms[base] & spoken and things & spoken for spoken in trained)
            checked += 1
    assert checked >= 3


def test_every_word_is_trained(pairs: list[PhrasePair]) -> None:
    for side in ("source", "target"):
        known = {word for p in pairs if p.split == "train" for word in letters(getattr(p, side))}
        held = {word for p in pairs if p.split != "train" for word in letters(getattr(p, side))}
        assert len(held) > 250
        assert held - known == set()


def test_every_lexeme_is_in_twenty_training_pairs(pairs: list[PhrasePair]) -> None:
    counts = Counter(
        word
        for pair in pairs
        if pair.split == "train"
        for word in {*letters(pair.source), *re.findall(r"\w+ \w+", pair.source)}
    )
    lexemes: dict[str, set[str]] = {adjective: {adjective} for adjective in words.ADJECTIVES}
    for adjective, (more, _) in words.COMPARATIVES.items():
        lexemes[adjective].add(more)
    for nouns in (words.THINGS, words.DRINKS, words.RELATIVES, words.PEOPLE):
        for noun in nouns.values():
            lexemes[noun.english] = {noun.english, noun.english_plural}
    for one in all_verbs():
        forms = (one.base, one.third, one.past)
        lexemes[f"to {one.base}"] = {form.split()[0] for form in forms}
    for word in (*words.CITIES, *words.FEELINGS):
        lexemes[word] = {word}
    assert 100 < len(lexemes) < 220
    for lexeme, forms_of_it in lexemes.items():
        assert sum(counts[form] for form in forms_of_it) >= 20, lexeme


def test_every_pattern_is_trained_and_most_are_tested(pairs: list[PhrasePair]) -> None:
    patterns: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        patterns[pair.split].add(pair.pattern)
    assert patterns["train"] == set(PATTERNS)
    assert len(patterns["validation"]) > 30
    assert len(patterns["test"]) > 30


# The spelling of all pairs


def test_spelling(pairs: list[PhrasePair]) -> None:
    for pair in pairs:
        for text in (pair.source, pair.target):
            assert re.fullmatch(r"[A-ZÄÖÜ].*[\w'][.?]", text), text
            assert text == " ".join(text.split())
            assert not re.search(r" [,.?]|,\S|None|[|/_]", text), text
            assert not re.search(r"(?i)\b(\w+) \1\b", text.replace("sie sie", "")), text
        assert pair.source[-1] == pair.target[-1]
        assert re.findall(r"\d+", pair.source) == re.findall(r"\d+", pair.target)


def test_english_articles(pairs: list[PhrasePair]) -> None:
    articles = 0
    for pair in pairs:
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", pair.source), pair
        articles += " an " in pair.source
    assert articles > 200


def test_english_verb_forms(pairs: list[PhrasePair]) -> None:
    bases = {one.base.split()[0] for one in all_verbs()}
    thirds = {one.third.split()[0] for one in all_verbs()}
    pasts = {one.past.split()[0] for one in all_verbs()}
    adverbs = {english for english, _ in words.FREQUENCIES}
    third = (
        "He|She|Anna|Peter|Tom|Maria|Lukas|Julia|(?:The|My|Our|A|Her|His) (?:boy|brother|mother)"
    )
    counts: Counter[str] = Counter()
    for pair in pairs:
        helper = r"(?:(?:do|does|did|will) not|cannot|wants? to|ha(?:s|ve) to|like to) (\w+)"
        for word in re.findall(helper, pair.source):
            assert word in bases | {"know", "have", "want", "like"}, pair
            counts["infinitive"] += 1
        if found := re.match(rf"(?:{third}) (?!with )(\w+)", pair.source):
            known = thirds | pasts | adverbs | {"can", "cannot", "will", "would", "does", "did"}
            known |= {"is", "was", "wants", "thinks", "says", "hopes"}
            assert found[1] in known, pair
            counts["third"] += 1
        if found := re.match(r"(?:I|You|We|They) (\w+)", pair.source):
            known = bases | pasts | adverbs | {"can", "cannot", "will", "would", "do", "did"}
            known |= {"am", "are", "was", "were", "have", "want", "know", "think", "hope"}
            assert found[1] in known, pair
            counts["other"] += 1
    assert min(counts.values()) > 500
    assert len(counts) == 3


def test_ambiguous_verbs_have_a_time_expression(pairs: list[PhrasePair]) -> None:
    """A time expression tells whether "read" is "lese" or "habe gelesen"."""
    plain = r"(^|that |whether |why |when |, )(I|you|we|they|my parents|the children) (read|put) "
    time = r"\b(every|on (Monday|Saturday|Sundays)|yesterday|today|this|last|when .* were)\b"
    seen = 0
    for pair in pairs:
        if re.search(plain, pair.source, re.IGNORECASE):
            seen += 1
            assert re.search(time, pair.source, re.IGNORECASE), pair
    assert seen > 20


def test_german_commas(pairs: list[PhrasePair]) -> None:
    seen: Counter[str] = Counter()
    for pair in pairs:
        for conjunction in ("dass", "weil", "ob", "um"):
            for found in re.finditer(rf"(?<!^)(.)\s{conjunction}\b(?! \d)", pair.target):
                seen[conjunction] += 1
                assert found[1] == ",", pair.target
        if pair.target.startswith(("Wenn ", "Als ")):
            seen["wenn"] += 1
            assert pair.target.count(",") == 1
        for clause in re.findall(
            r"(?:weiß|Weißt du|wissen)( nicht)?(,?) (?:warum|wann|wo)\b", pair.target
        ):
            seen["warum"] += 1
            assert clause[1] == ","
    assert all(count > 100 for count in seen.values()), seen
    assert set(seen) == {"dass", "weil", "ob", "um", "wenn", "warum"}


def test_german_negates_what_english_negates(pairs: list[PhrasePair]) -> None:
    negated = 0
    for pair in pairs:
        english = len(re.findall(r"\bnot\b|\bcannot\b", pair.source))
        german = len(re.findall(r"\bnicht\b|\bkein(?:e|en|em|er)?\b", pair.target))
        assert english == german, pair
        assert not re.search(r"nicht (ein|eine|einen|einem|einer) ", pair.target), pair
        negated += bool(english)
    assert negated > 2000


def test_german_nouns_have_capitals(pairs: list[PhrasePair]) -> None:
    tables = (words.THINGS, words.DRINKS, words.RELATIVES, words.PEOPLE)
    nouns = {
        form.casefold()
        for table in tables
        for noun in table.values()
        for form in (noun.german, noun.german_plural)
        if form
    } - {"junge", "jungen"}  # the boy, and young
    for pair in pairs:
        assert not nouns & {word for word in letters(pair.target) if word[0].islower()}, pair


# The grammar, against tables written by hand

# Masculine, feminine, neuter, plural; X stands for the stem of an ein-word.
DECLENSION = {
    ("der", "nominative"): "der alte Hut, die alte Tasche, das alte Buch, die alten Bücher",
    ("der", "accusative"): "den alten Hut, die alte Tasche, das alte Buch, die alten Bücher",
    ("der", "dative"): "dem alten Hut, der alten Tasche, dem alten Buch, den alten Büchern",
    ("X", "nominative"): "X alter Hut, Xe alte Tasche, X altes Buch, Xe alten Bücher",
    ("X", "accusative"): "Xen alten Hut, Xe alte Tasche, X altes Buch, Xe alten Bücher",
    ("X", "dative"): "Xem alten Hut, Xer alten Tasche, Xem alten Buch, Xen alten Büchern",
    ("", "nominative"): "alter Hut, alte Tasche, altes Buch, alte Bücher",
    ("", "accusative"): "alten Hut, alte Tasche, altes Buch, alte Bücher",
    ("", "dative"): "altem Hut, alter Tasche, altem Buch, alten Büchern",
}


@pytest.mark.parametrize(("kind", "case"), DECLENSION)
def test_declension(kind: str, case: words.Case) -> None:
    nouns = [("hat", False), ("bag", False), ("book", False), ("book", True)]
    stems = ("kein", "mein", "dein", "sein", "ihr", "unser") if kind == "X" else (kind,)
    for expected, (name, plural) in zip(DECLENSION[kind, case].split(", "), nouns, strict=True):
        for stem in stems:
            phrase = german_noun_phrase(words.THINGS[name], case, stem, "old", plural)
            assert phrase == expected.replace("X", stem)


@pytest.mark.parametrize(
    ("noun", "case", "determiner", "adjective", "plural", "expected"),
    [
        (words.THINGS["car"], "nominative", "ein", "expensive", False, "ein teures Auto"),
        (words.THINGS["car"], "dative", "25", "red", True, "25 roten Autos"),
        (words.THINGS["coat"], "accusative", "welcher", None, False, "welchen Mantel"),
        (words.THINGS["key"], "dative", "der", None, True, "den Schlüsseln"),
        (words.PEOPLE["child"], "dative", "der", "small", True, "den kleinen Kindern"),
        (words.PEOPLE["student"], "accusative", "ein", "young", False, "einen jungen Studenten"),
        (words.PEOPLE["student"], "nominative", "ein", "young", False, "ein junger Student"),
        (words.RELATIVES["neighbor"], "dative", "unser", None, False, "unserem Nachbarn"),
        (words.DRINKS["coffee"], "accusative", "kein", "hot", False, "keinen heißen Kaffee"),
        (words.DRINKS["water"], "dative", "", "warm", False, "warmem Wasser"),
    ],
)
def test_noun_phrases(
    noun: words.Noun,
    case: words.Case,
    determiner: str,
    adjective: str | None,
    plural: bool,
    expected: str,
) -> None:
    assert german_noun_phrase(noun, case, determiner, adjective, plural) == expected


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        ("travel", "fahre fährst fährt fahren"),
        ("read", "lese liest liest lesen"),
        ("eat", "esse isst isst essen"),
        ("take", "nehme nimmst nimmt nehmen"),
        ("help", "helfe hilfst hilft helfen"),
        ("give", "gebe gibst gibt geben"),
        ("wear", "trage trägst trägt tragen"),
        ("wash", "wasche wäschst wäscht waschen"),
        ("sleep", "schlafe schläfst schläft schlafen"),
        ("invite", "lade lädst lädt laden"),
        ("meet", "treffe triffst trifft treffen"),
        ("talk", "spreche sprichst spricht sprechen"),
        ("see", "sehe siehst sieht sehen"),
        ("work", "arbeite arbeitest arbeitet arbeiten"),
        ("find", "finde findest findet finden"),
        ("wait", "warte wartest wartet warten"),
        ("draw", "zeichne zeichnest zeichnet zeichnen"),
        ("dance", "tanze tanzt tanzt tanzen"),
        ("like", "mag magst mag mögen"),
        ("have", "habe hast hat haben"),
        ("know", "kenne kennst kennt kennen"),
    ],
)
def test_present_tense(base: str, forms: str) -> None:
    persons: tuple[words.Person, ...] = ("1", "2", "3", "pl")
    assert [conjugate(verb(base), person) for person in persons] == forms.split()


def the(name: str, determiner: str = "the", adjective: str | None = None, plural: bool = False):
    return noun_phrase(words.THINGS[name], "accusative", determiner, adjective, plural)


PHRASES = {
    "yesterday": Phrase("yesterday", "gestern", place="time"),
    "tomorrow": Phrase("tomorrow", "morgen", place="time"),
    "him": Phrase("him", "ihm", place="pronoun"),
    "me": Phrase("me", "mich", place="pronoun"),
    "mother": Phrase("his mother", "seine Mutter", place="definite"),
    "home": Phrase("home", "nach Hause", place="complement"),
    "to Berlin": Phrase("to Berlin by train", "mit dem Zug nach Berlin", place="complement"),
    "at two": Phrase("at 14:30", "um 14:30 Uhr", place="complement"),
    "table": Phrase("on the table", "auf den Tisch", place="complement"),
    "coat": the("coat", "a"),
    "red coat": the("coat", "a", "red"),
    "the red coat": the("coat", adjective="red"),
    "25 books": the("book", "25", plural=True),
    "eggs": the("egg", "", plural=True),
    "dog": the("dog", "a"),
    "a key": the("key", "a"),
    **{name: the(name) for name in ("window", "newspaper", "key", "car", "taxi")},
}

# Subject, verb, tense, kind (main, not, question or that) and phrases; then both sentences.
CLAUSES = """
he|call|present|main|mother|he calls his mother|er ruft seine Mutter an
he|call|past|main|mother|he called his mother|er hat seine Mutter angerufen
he|call|have to|main|mother|he has to call his mother|er muss seine Mutter anrufen
he|call|present|that|mother|that he calls his mother|dass er seine Mutter anruft
he|call|past|that|mother|that he called his mother|dass er seine Mutter angerufen hat
he|call|want|that|mother|that he wants to call his mother|dass er seine Mutter anrufen will
she|pick up|past|main|me,yesterday|she picked me up yesterday|sie hat mich gestern abgeholt
Tom|buy|past|main|red coat,yesterday|Tom bought a red coat yesterday|\
Tom hat gestern einen roten Mantel gekauft
she|buy|past|main|25 books|she bought 25 books|sie hat 25 Bücher gekauft
I|buy|past|not|coat,yesterday|I did not buy a coat yesterday|\
ich habe gestern keinen Mantel gekauft
I|buy|past|not|the red coat,yesterday|I did not buy the red coat yesterday|\
ich habe den roten Mantel gestern nicht gekauft
you|eat|present|not|eggs|you do not eat eggs|du isst keine Eier
Anna|open|present|not|window|Anna does not open the window|Anna macht das Fenster nicht auf
we|travel|past|not|to Berlin,yesterday|we did not travel to Berlin by train yesterday|\
wir sind gestern nicht mit dem Zug nach Berlin gefahren
you|travel|present|question|to Berlin|do you travel to Berlin by train|\
fährst du mit dem Zug nach Berlin
the children|go|past|question|home|did the children go home|sind die Kinder nach Hause gegangen
Mr. Klein|get up|past|main|at two|Mr. Klein got up at 14:30|Herr Klein ist um 14:30 Uhr aufgestanden
Maria|give|will|main|him,key,tomorrow|Maria will give him the key tomorrow|\
Maria wird ihm den Schlüssel morgen geben
Maria|give|past|main|him,a key,yesterday|Maria gave him a key yesterday|\
Maria hat ihm gestern einen Schlüssel gegeben
I|help|can|not|him|I cannot help him|ich kann ihm nicht helfen
they|put|past|not|key,table|they did not put the key on the table|\
sie haben den Schlüssel nicht auf den Tisch gelegt
my parents|have|past|not|dog|my parents did not have a dog|meine Eltern hatten keinen Hund
you|sell|would like|question|car|would you like to sell the car|möchtest du das Auto verkaufen
our neighbor|take|have to|not|taxi|our neighbor does not have to take the taxi|\
unser Nachbar muss das Taxi nicht nehmen
"""


@pytest.mark.parametrize("line", CLAUSES.strip().splitlines())
def test_clauses(line: str) -> None:
    who, base, tense, kind, names, *wanted = line.split("|")
    phrases = tuple(PHRASES[name] for name in names.split(","))
    event = Event(subject(who), verb(base), phrases, "", tense)
    if kind == "question":
        made = event.english(question=True), event.german("question")
    elif kind == "that":
        made = event.english(front="that"), event.german("subordinate", front="dass")
    else:
        made = event.english(kind == "not"), event.german("main", kind == "not")
    assert list(made) == wanted


def test_to_be() -> None:
    for past, expected in (
        (False, "am bin, are bist, is ist, is ist, are sind, are sind"),
        (True, "was war, were warst, was war, was war, were waren, were waren"),
    ):
        made = [" ".join(to_be(one, past=past)) for one in words.PRONOUN_SUBJECTS]
        assert ", ".join(made) == expected


def test_infinitive_with_zu() -> None:
    assert with_zu(verb("pick up")) == "abzuholen"
    assert with_zu(verb("buy")) == "zu kaufen"


# Written by hand, and so common in their pattern that some seed must make them.
SENTENCES = {
    "Anna is tired.": "Anna ist müde.",
    "Are you hungry?": "Bist du hungrig?",
    "He is at home.": "Er ist zu Hause.",
    "We are not in the kitchen.": "Wir sind nicht in der Küche.",
    "Please go home.": "Bitte geh nach Hause.",
    "Where is my key?": "Wo ist mein Schlüssel?",
    "What did you buy?": "Was hast du gekauft?",
    "How much does the coat cost?": "Wie viel kostet der Mantel?",
    "When does the train to Berlin leave?": "Wann fährt der Zug nach Berlin ab?",
    "I would like 2 cups of coffee, please.": "Ich möchte bitte 2 Tassen Kaffee.",
    "We need 3 tickets to Vienna.": "Wir brauchen 3 Fahrkarten nach Wien.",
    "There is a lamp on the table.": "Auf dem Tisch steht eine Lampe.",
    "Is there a tree in the garden?": "Steht im Garten ein Baum?",
    "The book is on the table.": "Das Buch liegt auf dem Tisch.",
    "Do you like to drink tea?": "Trinkst du gern Tee?",
    "He does not like to read letters.": "Er liest nicht gern Briefe.",
}


def test_sentences_written_by_hand() -> None:
    names = ["feeling", "whereabouts", "request", "where question", "what question", "price"]
    names += ["timetable", "counter", "there is", "location", "liking"]
    made: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phrasebook, "PATTERNS", {name: PATTERNS[name] for name in names})
        for pair in generate_phrasebook(14_000):
            made[pair.source] = pair.target
    found = {english: made[english] for english in SENTENCES if english in made}
    assert found == {english: SENTENCES[english] for english in found}
    assert len(found) >= len(SENTENCES) - 2
