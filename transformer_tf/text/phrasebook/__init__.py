"""English-German sentence pairs that a small grammar makes: the corpus of the quickstart.

Every English sentence has one German translation, which follows from the English alone: `you` is
always `du`, the simple past always the German perfect (`was` is `war`), `must` is `müssen`.

A pair's `combination` names who does what to what, whatever the tense, article or sentence form.
A hash of it decides the split: so a combination that is tested occurs in no training sentence,
while each of its words, and every pattern, does.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Callable

from transformer_tf.text.phrasebook.grammar import (
    Case,
    Order,
    Phrase,
    english_clause,
    english_noun_phrase,
    english_predicate,
    german_clause,
    german_noun_phrase,
    noun_phrase,
    to_be,
    with_zu,
)
from transformer_tf.text.phrasebook.lexicon import (
    ADJECTIVES,
    AGES,
    ARRIVE,
    CITIES,
    DAILY,
    DEFINITE_ONLY,
    DEPART,
    DITRANSITIVE,
    DRINK,
    DRINKS,
    FEELINGS,
    FORTUNATE,
    GIVEN,
    GO,
    IN_NUMBERS,
    LIVE,
    MAKING,
    NAMES,
    NEVER_OWNED,
    PEOPLE,
    PLACES,
    POSSESSIVES,
    PRICES,
    PRONOUNS,
    RELATIVES,
    SUBJECTS,
    THINGS,
    TIMELESS,
    TIMES,
    TRANSITIVE,
    TRANSPORT,
    TRAVEL,
    WITH_ACCUSATIVE,
    WITH_DATIVE,
    WITH_PREPOSITION,
    WORK,
    Noun,
    Subject,
    Verb,
)

__all__ = ["PhrasePair", "generate_phrasebook"]

HELD_OUT_SHARE = 0.02  # of the combinations, for test and for validation each


@dataclasses.dataclass(frozen=True)
class PhrasePair:
    """A sentence and its translation.

    Attributes:
        source: English.
        target: German.
        pattern: Name of the sentence pattern.
        combination: Who does what to what, such as `Anna|buy|coat`.
        split: `train`, `validation` or `test`.
    """

    source: str
    target: str
    pattern: str
    combination: str
    split: str


@dataclasses.dataclass(frozen=True)
class _Event:
    """Somebody does something to something: what most patterns make a sentence of."""

    subject: Subject
    verb: Verb
    tense: str
    phrases: tuple[Phrase, ...]
    combination: str


_Sentence = tuple[str, str, str]  # English, German, combination
_Pattern = Callable[[random.Random], "_Sentence | None"]


def generate_phrasebook(num_pairs: int = 24_000, seed: int = 0) -> list[PhrasePair]:
    """Makes distinct sentence pairs, evenly over the sentence patterns.

    Args:
        num_pairs: How many pairs.
        seed: Chooses which of all possible sentences are made, not the split they belong to.

    Returns:
        The pairs, in the order they were made. The same on every machine.

    Raises:
        ValueError: If the grammar cannot make so many.
    """
    generator = random.Random(seed)
    pairs: dict[str, PhrasePair] = {}
    living = dict(PATTERNS)
    failures = dict.fromkeys(PATTERNS, 0)
    while living and len(pairs) < num_pairs:
        for name, pattern in list(living.items()):
            sentence = pattern(generator)
            if sentence is None:
                continue
            english, german, combination = sentence
            key = english.casefold()
            if key in pairs:
                failures[name] += 1
                if failures[name] >= 300:  # in a row: this pattern has little more to say
                    del living[name]
                continue
            failures[name] = 0
            pairs[key] = PhrasePair(english, german, name, combination, _split(combination))
            if len(pairs) == num_pairs:
                break
    if len(pairs) < num_pairs:
        raise ValueError(
            f"`num_pairs` must be at most {len(pairs)}, all that the grammar can make with this "
            f"seed. Received: num_pairs={num_pairs}"
        )
    return list(pairs.values())


def _split(combination: str) -> str:
    digest = hashlib.blake2b(combination.encode(), digest_size=8).digest()
    share = int.from_bytes(digest, "big") / 2**64
    if share < HELD_OUT_SHARE:
        return "test"
    return "validation" if share < 2 * HELD_OUT_SHARE else "train"


# Events

_LATER = frozenset({"old", "expensive"})
_PRONOUN_SUBJECTS = frozenset({"ich", "du", "er", "sie", "wir"})


def _choose_event(generator: random.Random) -> _Event | None:
    kind = generator.choices(_EVENTS, weights=_EVENT_WEIGHTS)[0]
    return kind(generator)


def _subject(generator: random.Random) -> Subject:
    """Pronouns and others alike, so that every form of a verb is seen."""
    pronouns = [s for s in SUBJECTS if s.german in _PRONOUN_SUBJECTS]
    others = [s for s in SUBJECTS if s.german not in _PRONOUN_SUBJECTS]
    return generator.choice(generator.choice((pronouns, others)))


def _thing_event(generator: random.Random) -> _Event:
    verb, names = generator.choice(TRANSITIVE)
    thing = THINGS[generator.choice(names.split())]
    phrase = _thing_phrase(generator, verb, thing)
    return _event(generator, verb, (phrase,), thing.english)


def _thing_phrase(generator: random.Random, verb: Verb, thing: Noun) -> Phrase:
    # What is being made is not old yet.
    fitting = [a for a in thing.adjectives if verb.base not in MAKING or a not in _LATER]
    adjective = generator.choice((None, generator.choice(fitting)))
    if verb.base in DEFINITE_ONLY:
        determiner = "the"
    elif verb.base != "wear" and generator.random() < 0.1:
        number = generator.randint(2, 30 if verb.base in IN_NUMBERS else 6)
        return noun_phrase(thing, "accusative", str(number), adjective, plural=True)
    elif verb.base in NEVER_OWNED | MAKING:
        determiner = generator.choice(("a", "the"))
    else:
        determiner = generator.choice(("a", "the", "a", "the", *POSSESSIVES))
    return noun_phrase(thing, "accusative", determiner, adjective)


def _drink_event(generator: random.Random) -> _Event:
    drink = DRINKS[generator.choice(list(DRINKS))]
    adjective = generator.choice((None, generator.choice(drink.adjectives)))
    phrase = noun_phrase(drink, "accusative", "", adjective)
    return _event(generator, DRINK, (phrase,), drink.english)


def _person(
    generator: random.Random, subject: Subject, accusative: bool
) -> tuple[Phrase, str] | None:
    """Somebody else than the subject, in both languages, and what names them in both cases."""
    case: Case = "accusative" if accusative else "dative"
    kind = generator.randrange(4)
    if kind == 0:
        english = generator.choice(list(PRONOUNS))
        *forms, same = PRONOUNS[english]
        if same == subject.english or (same == "we" and subject.english == "I"):
            return None
        if same == "I" and subject.english == "we":
            return None
        return Phrase(english, forms[not accusative], place="pronoun"), english
    if kind == 1:
        name = generator.choice(NAMES)
        return (Phrase(name, name, place="person"), name) if name != subject.english else None
    if kind == 2:
        noun = RELATIVES[generator.choice(list(RELATIVES))]
        determiner = generator.choice(list(POSSESSIVES))
        if noun.english in subject.english:
            return None
        return _as_person(noun_phrase(noun, case, determiner)), noun.english
    noun = PEOPLE[generator.choice(list(PEOPLE))]
    if noun.english in subject.english:  # "child" is in "children" too
        return None
    adjective = generator.choice((None, generator.choice(noun.adjectives)))
    plural = generator.random() < 0.35
    return _as_person(noun_phrase(noun, case, "the", adjective, plural)), noun.english


def _as_person(phrase: Phrase) -> Phrase:
    return dataclasses.replace(phrase, place="person")


def _person_event(generator: random.Random) -> _Event | None:
    subject = _subject(generator)
    preposition = None
    kind = generator.randrange(3)
    if kind == 0:
        verb, accusative = generator.choice(WITH_ACCUSATIVE), True
    elif kind == 1:
        verb, accusative = generator.choice(WITH_DATIVE), False
    else:
        verb, english, german, case = generator.choice(WITH_PREPOSITION)
        preposition, accusative = (english, german), case == "accusative"
    person = _person(generator, subject, accusative)
    if person is None:
        return None
    phrase, name = person
    if preposition:
        phrase = Phrase(
            f"{preposition[0]} {phrase.english}",
            f"{preposition[1]} {phrase.german}",
            place="complement",
        )
    return _event(generator, verb, (phrase,), name, subject)


def _giving_event(generator: random.Random) -> _Event | None:
    subject = _subject(generator)
    person = _person(generator, subject, accusative=False)
    if person is None:
        return None
    verb = generator.choice(DITRANSITIVE)
    thing = THINGS[generator.choice(GIVEN.split())]
    adjective = generator.choice((None, generator.choice(thing.adjectives)))
    given = noun_phrase(thing, "accusative", generator.choice(("a", "the")), adjective)
    return _event(generator, verb, (person[0], given), f"{person[1]}|{thing.english}", subject)


def _travel_event(generator: random.Random) -> _Event:
    city = generator.choice(list(CITIES))
    means = generator.choice(list(TRANSPORT))
    phrase = Phrase(
        f"to {city} {means}", f"{TRANSPORT[means]} nach {CITIES[city]}", place="complement"
    )
    return _event(generator, TRAVEL, (phrase,), f"{city}|{means}")


def _going_event(generator: random.Random) -> _Event:
    place = generator.choice(list(PLACES))
    return _event(generator, GO, (Phrase(place, PLACES[place][0], place="complement"),), place)


def _city_event(generator: random.Random) -> _Event:
    city = generator.choice(list(CITIES))
    phrase = Phrase(f"in {city}", f"in {CITIES[city]}", place="complement")
    return _event(generator, generator.choice((LIVE, WORK)), (phrase,), city)


_EVENTS: tuple[Callable[[random.Random], _Event | None], ...] = (
    _thing_event,
    _drink_event,
    _person_event,
    _giving_event,
    _travel_event,
    _going_event,
    _city_event,
)
_EVENT_WEIGHTS = (10, 2, 8, 4, 2, 2, 2)


def _event(
    generator: random.Random,
    verb: Verb,
    phrases: tuple[Phrase, ...],
    name: str,
    subject: Subject | None = None,
) -> _Event:
    subject = subject or _subject(generator)
    tense = generator.choice(verb.tenses)
    return _Event(subject, verb, tense, phrases, f"{subject.english}|{verb.base}|{name}")


def _with_time(generator: random.Random, event: _Event, share: float) -> _Event:
    """Sometimes adds an adverb of time."""
    base = event.verb.base
    if event.tense not in TIMES or base in TIMELESS or generator.random() >= share:
        return event
    times = [t for t in TIMES[event.tense] if base not in DAILY or "week" not in t[0]]
    if base in FORTUNATE and event.tense != "past":
        times = [t for t in times if t[0] == "today"]
    english, german = generator.choice(times)
    time = Phrase(english, german, place="time")
    return dataclasses.replace(event, phrases=(*event.phrases, time))


# Patterns


def _finish(sentence: str, mark: str) -> str:
    return sentence[0].upper() + sentence[1:] + mark


def _english(event: _Event, **how: object) -> str | None:
    """The English clause, or None where present and past look alike ("I read")."""
    verb, how_asked = event.verb, how.get("negative") or how.get("question")
    if verb.base == verb.past and event.tense in ("present", "past") and not how_asked:
        timed = any(phrase.place == "time" for phrase in event.phrases)
        if event.subject.person != "3" and not (event.tense == "past" and timed):
            return None
    return english_clause(event.subject, verb, event.tense, event.phrases, **how)  # type: ignore[arg-type]


def _german(event: _Event, order: Order = "main", **how: object) -> str:
    return german_clause(
        event.subject,
        event.verb,
        event.tense,
        event.phrases,
        order=order,
        **how,  # type: ignore[arg-type]
    )


def _pair(event: _Event, english: str | None, german: str, mark: str = ".") -> _Sentence | None:
    if english is None:
        return None
    return _finish(english, mark), _finish(german, mark), event.combination


def _statement(generator: random.Random) -> _Sentence | None:
    event = _choose_event(generator)
    if event is None:
        return None
    return _pair(event, _english(event), _german(event))


def _timed_statement(generator: random.Random) -> _Sentence | None:
    event = _choose_event(generator)
    if event is None or event.tense not in TIMES or event.verb.base in TIMELESS:
        return None
    event = _with_time(generator, event, 1.0)
    return _pair(event, _english(event), _german(event))


def _negation(generator: random.Random) -> _Sentence | None:
    event = _choose_event(generator)
    # "Must not" forbids, "muss nicht" does not oblige; and who denies counts nothing.
    if event is None or event.tense == "must" or _counts(event):
        return None
    event = _with_time(generator, event, 0.2)
    return _pair(event, _english(event, negative=True), _german(event, negative=True))


def _counts(event: _Event) -> bool:
    return any(phrase.english[0].isdigit() for phrase in event.phrases)


def _question(generator: random.Random) -> _Sentence | None:
    event = _choose_event(generator)
    if event is None or (event.subject.english == "I" and event.tense == "want"):
        return None
    event = _with_time(generator, event, 0.2)
    return _pair(event, _english(event, question=True), _german(event, "question"), "?")


def _wh_question(generator: random.Random) -> _Sentence | None:
    event = _choose_event(generator)
    if event is None:
        return None
    words = [("why", "warum")]
    if event.tense in ("past", "will"):
        words.append(("when", "wann"))
    if event.verb.base in ("buy", "find", "lose", "meet", "sell", "see", "wait"):
        words.append(("where", "wo"))
    english, german = generator.choice(words)
    return _pair(
        event,
        _english(event, question=True, front=english),
        _german(event, "question", front=german),
        "?",
    )


def _who_question(generator: random.Random) -> _Sentence | None:
    event = _choose_event(generator)
    if event is None:
        return None
    rest = event.combination.partition("|")[2]
    who = Subject("who", "wer", "3")
    event = dataclasses.replace(event, subject=who, combination=f"who|{rest}")
    return _pair(event, _english(event), _german(event), "?")


_MAIN_CLAUSES = (
    ("I think that", "Ich glaube, dass"),
    ("I know that", "Ich weiß, dass"),
    ("we hope that", "Wir hoffen, dass"),
    ("it is good that", "Es ist gut, dass"),
    ("Peter says that", "Peter sagt, dass"),
    ("I do not know whether", "Ich weiß nicht, ob"),
    ("she asks whether", "Sie fragt, ob"),
    ("Maria is happy because", "Maria ist glücklich, weil"),
    ("he is sad because", "Er ist traurig, weil"),
    ("they are laughing because", "Sie lachen, weil"),
)


def _subordinate(generator: random.Random) -> _Sentence | None:
    event = _choose_event(generator)
    english, german = generator.choice(_MAIN_CLAUSES)
    # A name comes back as a pronoun, and nobody hopes or asks about his own doings like this.
    speaker = english.split()[0].casefold()
    if event is None or speaker in event.combination.casefold().split("|"):
        return None
    event = _with_time(generator, event, 0.2)
    return _pair(event, _english(event, front=english), _german(event, "subordinate", front=german))


def _condition(generator: random.Random) -> _Sentence | None:
    event = _choose_event(generator)
    if event is None:
        return None
    event = dataclasses.replace(event, tense="present")
    if "Peter" in event.combination.split("|") or "present" not in event.verb.tenses:
        return None
    clause = _english(event)
    if clause is None:
        return None
    german = _german(event, "subordinate", front="wenn")
    result = generator.choice(
        (
            ("I am happy", "bin ich glücklich"),
            ("we stay at home", "bleiben wir zu Hause"),
            ("Peter is sad", "ist Peter traurig"),
            ("she laughs", "lacht sie"),
        )
    )
    if event.subject.english == "we" and result[0].startswith("we"):
        return None
    return _pair(event, f"if {clause}, {result[0]}", f"{german}, {result[1]}")


def _purpose(generator: random.Random) -> _Sentence | None:
    place, verb_name = generator.choice(
        (
            ("to the shop", "buy"),
            ("to the kitchen", "eat"),
            ("to the library", "read"),
            ("to the garden", "paint"),
            ("to the station", "pick up"),
            ("to the park", "meet"),
        )
    )
    subject = _subject(generator)
    if verb_name in ("pick up", "meet"):
        verb = next(v for v in WITH_ACCUSATIVE if v.base == verb_name)
        person = _person(generator, subject, accusative=True)
        if person is None:
            return None
        phrase, name = person
    else:
        verb, names = next(v for v in TRANSITIVE if v[0].base == verb_name)
        if verb_name == "buy" and generator.random() < 0.25:
            name, german = generator.choice(
                (("something to drink", "etwas zu trinken"), ("something to eat", "etwas zu essen"))
            )
            phrase = Phrase(name, german)
        else:
            if verb_name == "buy":
                names = "coat hat dress shirt umbrella bag book newspaper lamp apple cake flower"
            thing = THINGS[generator.choice(names.split())]
            phrase, name = _thing_phrase(generator, verb, thing), thing.english
    going = Phrase(place, PLACES[place][0], place="complement")
    tense = generator.choice(GO.tenses)
    event = _Event(subject, GO, tense, (going,), f"{subject.english}|{verb.base}|{name}")
    english = f"{_english(event)} to {english_predicate(verb.base, (phrase,))}"
    german = f"{_german(event)}, um {phrase.german} {with_zu(verb)}"
    return _pair(event, english, german)


def _liking(generator: random.Random) -> _Sentence | None:
    subject = _subject(generator)
    if generator.random() < 0.4:
        verb, noun = DRINK, DRINKS[generator.choice(list(DRINKS))]
        english, german = noun.english, noun.german
    else:
        names = {
            "read": "book letter newspaper",
            "eat": "apple cake egg banana roll",
            "write": "letter postcard",
            "buy": "book flower hat picture",
            "repair": "bicycle radio computer watch",
            "paint": "picture tree flower bird",
        }
        base = generator.choice(list(names))
        verb = next(v for v, _ in TRANSITIVE if v.base == base)
        noun = THINGS[generator.choice(names[base].split())]
        english, german = noun.english_plural, noun.german_plural
    likes = "likes" if subject.person == "3" else "like"
    event = _Event(subject, verb, "present", (), f"{subject.english}|{verb.base}|{noun.english}")
    phrase = Phrase("", f"gern {german}")
    return _pair(
        event,
        f"{subject.english} {likes} to {verb.base} {english}",
        _german(dataclasses.replace(event, phrases=(phrase,))),
    )


def _request(generator: random.Random) -> _Sentence | None:
    event = _choose_event(generator)
    if event is None or not event.verb.imperative:
        return None
    if any("you" in phrase.english.split() for phrase in event.phrases):
        return None
    rest = event.combination.partition("|")[2]
    event = dataclasses.replace(event, combination=f"you|{rest}")
    places = ("pronoun", "person", "object", "complement")
    ordered = sorted(event.phrases, key=lambda phrase: places.index(phrase.place))
    pronouns = [phrase.german for phrase in ordered if phrase.place == "pronoun"]
    others = [phrase.german for phrase in ordered if phrase.place != "pronoun"]
    english = f"please {english_predicate(event.verb.base, event.phrases)}"
    german = " ".join([event.verb.imperative, *pronouns, "bitte", *others, event.verb.prefix])
    return _pair(event, english, german.rstrip())


def _quality(generator: random.Random) -> _Sentence | None:
    noun = THINGS[generator.choice(list(THINGS))]
    adjective = generator.choice(noun.adjectives)
    determiner = generator.choice(("the", *POSSESSIVES))
    german_determiner = "der" if determiner == "the" else POSSESSIVES[determiner]
    subject = Subject(
        english_noun_phrase(noun, determiner),
        german_noun_phrase(noun, "nominative", german_determiner),
        "3",
    )
    return _being(generator, subject, adjective, ADJECTIVES[adjective], noun.english)


def _feeling(generator: random.Random) -> _Sentence | None:
    subject = _subject(generator)
    feeling = generator.choice(list(FEELINGS))
    return _being(generator, subject, feeling, FEELINGS[feeling], subject.english)


def _whereabouts(generator: random.Random) -> _Sentence | None:
    subject = _subject(generator)
    _, english, german = PLACES[generator.choice(list(PLACES))]
    return _being(generator, subject, english, german, subject.english)


def _being(
    generator: random.Random, subject: Subject, english: str, german: str, name: str
) -> _Sentence:
    past = generator.random() < 0.4
    be, sein = to_be(subject, past)
    negative = ("not ", "nicht ") if generator.random() < 0.3 else ("", "")
    combination = f"{name}|be|{english}"
    who, wer = subject.english, subject.german
    form = generator.randrange(4)
    if form == 0:
        return (
            _finish(f"{be} {who} {negative[0]}{english}", "?"),
            _finish(f"{sein} {wer} {negative[1]}{german}", "?"),
            combination,
        )
    if form == 1:
        return (
            _finish(f"I think that {who} {be} {negative[0]}{english}", "."),
            _finish(f"ich glaube, dass {wer} {negative[1]}{german} {sein}", "."),
            combination,
        )
    return (
        _finish(f"{who} {be} {negative[0]}{english}", "."),
        _finish(f"{wer} {sein} {negative[1]}{german}", "."),
        combination,
    )


def _price(generator: random.Random) -> _Sentence | None:
    names = generator.choices(list(PRICES), weights=[len(n.split()) for n in PRICES])[0]
    number = generator.randrange(*PRICES[names])
    noun = THINGS[generator.choice(names.split())]
    # What is dear or cheap the number says.
    fitting = [a for a in noun.adjectives if a not in ("expensive", "cheap")]
    adjective = generator.choice((None, generator.choice(fitting)))
    english = english_noun_phrase(noun, "the", adjective)
    german = german_noun_phrase(noun, "nominative", "der", adjective)
    combination = f"{noun.english}|cost|{number}"
    if generator.random() < 0.3:
        return (
            _finish(f"does {english} cost {number} euros", "?"),
            _finish(f"kostet {german} {number} Euro", "?"),
            combination,
        )
    return (
        _finish(f"{english} costs {number} euros", "."),
        _finish(f"{german} kostet {number} Euro", "."),
        combination,
    )


def _age(generator: random.Random) -> _Sentence | None:
    subject = _subject(generator)
    number = generator.randint(*AGES.get(subject.english, (3, 90)))
    be, sein = to_be(subject, past=False)
    combination = f"{subject.english}|age|{number}"
    form = generator.randrange(3) if subject.english != "I" else 2  # I know how old I am
    if form == 0:
        return (
            _finish(f"{be} {subject.english} {number} years old", "?"),
            _finish(f"{sein} {subject.german} {number} Jahre alt", "?"),
            combination,
        )
    if form == 1:
        return (
            _finish(f"I know that {subject.english} {be} {number} years old", "."),
            _finish(f"ich weiß, dass {subject.german} {number} Jahre alt {sein}", "."),
            combination,
        )
    return (
        _finish(f"{subject.english} {be} {number} years old", "."),
        _finish(f"{subject.german} {sein} {number} Jahre alt", "."),
        combination,
    )


def _timetable(generator: random.Random) -> _Sentence | None:
    city = generator.choice(list(CITIES))
    english_name, german_name = generator.choice((("train", "Zug"), ("bus", "Bus")))
    verb = generator.choice((ARRIVE, DEPART))
    towards = ("from", "aus") if verb is ARRIVE else ("to", "nach")
    subject = Subject(
        f"the {english_name} {towards[0]} {city}",
        f"der {german_name} {towards[1]} {CITIES[city]}",
        "3",
    )
    hour = generator.randint(1, 12)
    clock = Phrase(f"at {hour} o'clock", f"um {hour} Uhr", place="complement")
    event = _Event(
        subject, verb, generator.choice(verb.tenses), (clock,), f"{verb.base}|{city}|{hour}"
    )
    form = generator.randrange(3)
    if form == 0:
        return _pair(event, _english(event, question=True), _german(event, "question"), "?")
    if form == 1:
        front = ("I think that", "ich glaube, dass")
        return _pair(
            event,
            _english(event, front=front[0]),
            _german(event, "subordinate", front=front[1]),
        )
    event = _with_time(generator, event, 0.3)
    return _pair(event, _english(event), _german(event))


def _there_is(generator: random.Random) -> _Sentence | None:
    noun = THINGS[generator.choice(("car", "table", "tree", "bicycle", "chair", "lamp"))]
    adjective = generator.choice((None, *noun.adjectives))
    places = {
        "car": (("in front of the house", "vor dem Haus"), ("in the park", "im Park")),
        "tree": (("in front of the house", "vor dem Haus"), ("in the garden", "im Garten")),
        "bicycle": (("in front of the house", "vor dem Haus"), ("in the garden", "im Garten")),
    }
    inside = (("in the kitchen", "in der Küche"), ("in the office", "im Büro"))
    english, german = generator.choice(places.get(noun.english, inside))
    thing = english_noun_phrase(noun, "a", adjective)
    ding = german_noun_phrase(noun, "nominative", "ein", adjective)
    combination = f"stand|{noun.english}|{adjective}|{english}"
    if generator.random() < 0.4:
        return f"Is there {thing} {english}?", _finish(f"steht {german} {ding}", "?"), combination
    return f"There is {thing} {english}.", _finish(f"{german} steht {ding}", "."), combination


PATTERNS: dict[str, _Pattern] = {
    "statement": _statement,
    "statement with time": _timed_statement,
    "negation": _negation,
    "question": _question,
    "wh-question": _wh_question,
    "who-question": _who_question,
    "subordinate clause": _subordinate,
    "condition": _condition,
    "purpose": _purpose,
    "liking": _liking,
    "request": _request,
    "quality": _quality,
    "feeling": _feeling,
    "whereabouts": _whereabouts,
    "price": _price,
    "age": _age,
    "timetable": _timetable,
    "there is": _there_is,
}
