"""Random events (who does what) from which the patterns make sentences."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

from tools.phrasebook.grammar import (
    Order,
    Phrase,
    Place,
    english_clause,
    german_clause,
    noun_phrase,
)
from tools.phrasebook.lexicon import (
    BARE_PLURAL,
    CITIES,
    COME,
    COUNTED,
    DAILY,
    DEFINITE_ONLY,
    DITRANSITIVE,
    DRINK,
    DRINKS,
    DURATIONS,
    GET_UP,
    GO,
    GROWN_UP_THINGS,
    GROWN_UP_VERBS,
    INDEFINITE_ONLY,
    LAID,
    LIVE,
    MANY,
    NAMED,
    NEVER_OWNED,
    NOBODYS,
    NOUN_SUBJECTS,
    PEOPLE,
    PERSONAL,
    PLACES,
    PLURAL,
    POSSESSIVES,
    PRONOUN_SUBJECTS,
    PUT,
    RELATIVES,
    SURFACES,
    THINGS,
    TIMELESS,
    TIMES,
    TRANSITIVE,
    TRANSPORT,
    TRAVEL,
    UNCOUNTED,
    VESSELS,
    WITH_ACCUSATIVE,
    WITH_DATIVE,
    WITH_PREPOSITION,
    WORK,
    Case,
    Noun,
    Subject,
    Verb,
)


@dataclasses.dataclass(frozen=True)
class Event:
    """Somebody does something to something: what most patterns make a sentence of.

    Attributes:
        subject: Who does it.
        verb: What is done.
        phrases: Objects, time and complements, in English order.
        key: What is combined: the verb and what it is done to.
        tense: When, or whether it can, must or shall be done.
    """

    subject: Subject
    verb: Verb
    phrases: tuple[Phrase, ...]
    key: str
    tense: str = ""

    def english(
        self,
        negative: bool = False,
        question: bool = False,
        front: str | None = None,
        adverb: str | None = None,
    ) -> str:
        """The English clause."""
        return english_clause(
            self.subject, self.verb, self.tense, self.phrases, negative, question, front, adverb
        )

    def german(
        self, order: Order = "main", negative: bool = False, front: str | None = None
    ) -> str:
        """The German clause."""
        return german_clause(
            self.subject, self.verb, self.tense, self.phrases, negative, order, front
        )

    def is_ambiguous(self) -> bool:
        """Whether English would not say if "I read", "you put" is present or past."""
        return (
            self.verb.past == self.verb.base
            and self.tense in ("present", "past")
            and self.subject.person != "3"
            and not any(phrase.place in ("time", "habit") for phrase in self.phrases)
        )


def choose_subject(generator: random.Random, indefinite: bool = False) -> Subject:
    """Pronouns as often as others, so that every form of a verb is seen.

    Args:
        generator: The source of randomness.
        indefinite: Whether it may be "a young woman" too.
    """
    share = generator.random()
    if share < 0.1:
        noun = PEOPLE[generator.choice([name for name in PEOPLE if name != "child"])]
        determiner = generator.choice(("the", "a")) if indefinite else "the"
        adjective = generator.choice(noun.adjectives)
        return noun_subject(noun, determiner, adjective)
    if share < 0.25:
        return generator.choice(PRONOUN_SUBJECTS[:2])  # I and you: their verb forms are their own
    return generator.choice(PRONOUN_SUBJECTS if share < 0.6 else NOUN_SUBJECTS)


def noun_subject(
    noun: Noun, determiner: str, adjective: str | None = None, plural: bool = False
) -> Subject:
    """A noun phrase as a subject, such as "the young woman"."""
    phrase = noun_phrase(noun, "nominative", determiner, adjective, plural)
    return Subject(
        phrase.english,
        phrase.german,
        "pl" if plural else "3",
    )


def choose_event(
    generator: random.Random, tenses: tuple[str, ...], subject: Subject | None = None
) -> Event | None:
    """An event in one of the tenses, or None: then try again."""
    kind = generator.choices(_KINDS, weights=_KIND_WEIGHTS)[0]
    return in_tense(generator, kind(generator, subject or choose_subject(generator)), tenses)


def in_tense(
    generator: random.Random, event: Event | None, tenses: tuple[str, ...]
) -> Event | None:
    """The event in one of the tenses, or None where it makes no sense."""
    if event is None:
        return None
    fitting = [tense for tense in tenses if tense in event.verb.tenses]
    young = any(word in event.subject.english.split() for word in ("children", "boy", "girl"))
    verb, _, thing = event.key.partition("|")
    if not fitting or (young and (verb in GROWN_UP_VERBS or thing in GROWN_UP_THINGS)):
        return None
    return dataclasses.replace(event, tense=generator.choice(fitting))


def with_time(generator: random.Random, event: Event, share: float = 1.0) -> Event:
    """Sometimes adds an adverb of time, where the event takes one."""
    base = event.verb.base
    if event.tense not in TIMES or base in TIMELESS or generator.random() >= share:
        return event
    if event.tense == "can" and base in ("see", "find"):  # what is there, is there today
        return event
    times = [time for time in TIMES[event.tense] if base not in DAILY or "week" not in time[0]]
    if base.endswith(" on"):  # not "try on on Monday"
        times = [time for time in times if not time[0].startswith("on ")]
    return timed(event, *generator.choice(times))


def timed(event: Event, english: str, german: str, place: Place = "time") -> Event:
    """Adds an adverb of time."""
    time = Phrase(english, german, place=place)
    return dataclasses.replace(event, phrases=(*event.phrases, time))


# A verb with few objects comes less often, that no combination is in every tenth sentence.
_VERB_WEIGHTS = [min(len(names), 8) for _, names in TRANSITIVE]


def thing_event(generator: random.Random, subject: Subject) -> Event:
    """Somebody buys a red coat."""
    verb, names = generator.choices(TRANSITIVE, weights=_VERB_WEIGHTS)[0]
    thing = THINGS[generator.choice(names)]
    return Event(
        subject, verb, (thing_phrase(generator, verb, thing),), f"{verb.base}|{thing.english}"
    )


def thing_phrase(generator: random.Random, verb: Verb, thing: Noun) -> Phrase:
    """The thing as an object of the verb, with an article and perhaps an adjective."""
    adjective = generator.choice((None, generator.choice(thing.adjectives or (None,))))
    owned = verb.base not in NEVER_OWNED and thing.english not in NOBODYS
    definite = ("the", "the", *POSSESSIVES) if owned else ("the",)
    if verb.base in COUNTED and thing.english not in UNCOUNTED and generator.random() < 0.15:
        number = generator.randint(2, 99 if (verb.base, thing.english) in MANY else 6)
        return noun_phrase(thing, "accusative", str(number), adjective, plural=True)
    if verb.base in BARE_PLURAL and thing.english not in UNCOUNTED and generator.random() < 0.15:
        return noun_phrase(thing, "accusative", "", adjective, plural=True)
    if verb.base in PLURAL and thing.english not in NOBODYS and generator.random() < 0.15:
        return noun_phrase(thing, "accusative", generator.choice(definite), adjective, plural=True)
    if verb.base in DEFINITE_ONLY or (
        verb.base not in INDEFINITE_ONLY and generator.random() < 0.5
    ):
        return noun_phrase(thing, "accusative", generator.choice(definite), adjective)
    return noun_phrase(thing, "accusative", "a", adjective)


def drink_event(generator: random.Random, subject: Subject) -> Event:
    """Somebody drinks cold water, or a cup of tea."""
    drink = DRINKS[generator.choice(list(DRINKS))]
    if generator.random() < 0.4:
        english, german = VESSELS[drink.english]
        phrase = Phrase(f"{english} {drink.english}", f"{german} {drink.german}", deniable=False)
    else:
        adjective = generator.choice((None, generator.choice(drink.adjectives)))
        phrase = noun_phrase(drink, "accusative", "", adjective)
    return Event(subject, DRINK, (phrase,), f"drink|{drink.english}")


def choose_person(
    generator: random.Random, subject: Subject, case: Case, indefinite: bool = True
) -> tuple[Phrase, str] | None:
    """Somebody else than the subject, and what names them; None: then try again."""
    kind = generator.randrange(4)
    if kind == 0:
        pronoun = generator.choice(list(PERSONAL))
        english, _, accusative, dative = PERSONAL[pronoun]
        # Nobody does it to himself, nor to "us" of whom he is one.
        if subject.pronoun == pronoun or {subject.pronoun, pronoun} == {"I", "we"}:
            return None
        german = accusative if case == "accusative" else dative
        return Phrase(english, german, place="pronoun"), english
    if kind == 1:
        name = generator.choice(list(NAMED))
        if name == subject.english:
            return None
        return Phrase(name, NAMED[name][1], place="definite"), name
    if kind == 2:
        noun = RELATIVES[generator.choice(list(RELATIVES))]
        if noun.english in subject.english:
            return None
        return noun_phrase(noun, case, generator.choice(list(POSSESSIVES))), noun.english
    noun = PEOPLE[generator.choice(list(PEOPLE))]
    if noun.english in subject.english:  # "child" is in "children" too
        return None
    adjective = generator.choice((None, generator.choice(noun.adjectives)))
    if indefinite and generator.random() < 0.25:
        phrase = noun_phrase(noun, case, "a", adjective)
        return dataclasses.replace(phrase, deniable=False), noun.english
    plural = generator.random() < 0.35
    return noun_phrase(noun, case, "the", adjective, plural), noun.english


_WITH_PEOPLE = (*WITH_ACCUSATIVE, *WITH_DATIVE, *WITH_PREPOSITION)


def person_event(
    generator: random.Random, subject: Subject, verb: Verb | None = None
) -> Event | None:
    """Somebody visits, helps or waits for somebody."""
    case: Case = "accusative"
    prepositions: list[str] = []
    verb = verb or generator.choice(_WITH_PEOPLE)
    if verb in WITH_DATIVE:
        case = "dative"
    elif verb in WITH_PREPOSITION:
        *prepositions, case = WITH_PREPOSITION[verb]
    person = choose_person(generator, subject, case, verb.base not in ("know", "believe"))
    if person is None:
        return None
    phrase, name = person
    if prepositions:
        phrase = dataclasses.replace(
            phrase,
            english=f"{prepositions[0]} {phrase.english}",
            german=f"{prepositions[1]} {phrase.german}",
            negated=None,
            place="complement",
        )
    return Event(subject, verb, (phrase,), f"{verb.base}|{name}")


def giving_event(generator: random.Random, subject: Subject) -> Event | None:
    """Somebody gives somebody a letter."""
    person = choose_person(generator, subject, "dative", indefinite=False)
    if person is None:
        return None
    verb, names = generator.choice(DITRANSITIVE)
    thing = THINGS[generator.choice(names)]
    adjective = generator.choice((None, None, generator.choice(thing.adjectives)))
    determiner = "the" if thing.english == "room" else generator.choice(("a", "the"))
    given = noun_phrase(thing, "accusative", determiner, adjective)
    return Event(subject, verb, (person[0], given), f"{verb.base}|{thing.english}|{person[1]}")


def putting_event(generator: random.Random, subject: Subject) -> Event:
    """Somebody puts the key on the table."""
    thing = THINGS[generator.choice(LAID)]
    where = generator.choice(list(SURFACES))
    adjective = generator.choice((None, None, generator.choice(thing.adjectives)))
    laid = noun_phrase(
        thing,
        "accusative",
        generator.choice(("the", "the", "the", *POSSESSIVES)),
        adjective,
        plural=generator.random() < 0.2,
    )
    place = Phrase(where, SURFACES[where][0], place="complement")
    return Event(subject, PUT, (laid, place), f"put|{thing.english}|{where}")


def travel_event(generator: random.Random, subject: Subject) -> Event:
    """Somebody travels to Berlin by train."""
    city = generator.choice(list(CITIES))
    means = generator.choice(list(TRANSPORT))
    phrase = Phrase(
        f"to {city} {means}", f"{TRANSPORT[means]} nach {CITIES[city]}", place="complement"
    )
    return Event(subject, TRAVEL, (phrase,), f"travel|{city}|{means}")


def going_event(generator: random.Random, subject: Subject) -> Event:
    """Somebody goes to the library."""
    place = generator.choice(list(PLACES))
    return Event(subject, GO, (Phrase(place, PLACES[place][0], place="complement"),), f"go|{place}")


def city_event(generator: random.Random, subject: Subject) -> Event:
    """Somebody lives or works in a city."""
    city = generator.choice(list(CITIES))
    verb = generator.choice((LIVE, WORK))
    phrase = Phrase(f"in {city}", f"in {CITIES[city]}", place="complement")
    return Event(subject, verb, (phrase,), f"{verb.base}|{city}")


def clock(generator: random.Random, first: int, last: int) -> tuple[str, str]:
    """A time of day in English and German, such as 14:30."""
    hour = generator.randint(first, last)
    if hour <= 12 and generator.random() < 0.5:
        return f"at {hour} o'clock", f"um {hour} Uhr"
    minute = generator.choice((5, 10, 15, 20, 30, 40, 45, 50))
    return f"at {hour}:{minute:02}", f"um {hour}:{minute:02} Uhr"


def hour_event(generator: random.Random, subject: Subject) -> Event:
    """Somebody gets up at 7 o'clock, or sleeps for 8 hours."""
    place: Place = "complement"
    kind = generator.randrange(3)
    if kind == 0:
        english, german = clock(generator, 5, 10)
        return Event(subject, GET_UP, (Phrase(english, german, place=place),), f"get up|{english}")
    if kind == 1:
        english, german = clock(generator, 4, 22)
        phrase = Phrase(f"home {english}", f"{german} nach Hause", place=place)
        return Event(subject, COME, (phrase,), f"come home|{english}")
    verb, first, last, step, units, einheiten = generator.choice(DURATIONS)
    number = generator.randrange(first, last + step, step)
    phrase = Phrase(f"for {number} {units}", f"{number} {einheiten}", place=place, deniable=False)
    return Event(subject, verb, (phrase,), f"{verb.base}|{number}")


_KINDS: tuple[Callable[[random.Random, Subject], Event | None], ...] = (
    thing_event,
    drink_event,
    person_event,
    giving_event,
    putting_event,
    travel_event,
    going_event,
    city_event,
    hour_event,
)
_KIND_WEIGHTS = (12, 2, 9, 4, 2, 2, 2, 2, 2)
