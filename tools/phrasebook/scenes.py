"""Sentence patterns with words of their own: shopping, qualities, ages, trains, places."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

from tools.phrasebook.clauses import (
    ANY_TENSE,
    THAT,
    WHETHER,
    Pattern,
    Sentence,
    after,
    finish,
    knows_best,
    verb_named,
)
from tools.phrasebook.events import (
    Event,
    choose_event,
    choose_subject,
    city_event,
    clock,
    drink_event,
    giving_event,
    going_event,
    in_tense,
    noun_subject,
    person_event,
    putting_event,
    travel_event,
    with_time,
)
from tools.phrasebook.grammar import (
    Phrase,
    english_predicate,
    german_middle,
    noun_phrase,
    to_be,
)
from tools.phrasebook.lexicon import (
    ADJECTIVES,
    AGES,
    ALL_TENSES,
    ARRIVE,
    CITIES,
    COMPARATIVES,
    COMPARED,
    DEPART,
    DRINK,
    DRINKS,
    FEELINGS,
    LAID,
    NOUN_SUBJECTS,
    PEOPLE,
    PLACES,
    POSSESSIVES,
    PRICES,
    PRONOUN_SUBJECTS,
    SURFACES,
    THINGS,
    VESSELS,
    Subject,
    words,
)

# Liking, asking for, shopping

_HOBBIES = {
    "read": words("book letter newspaper"),
    "eat": words("apple cake egg banana roll"),
    "write": words("letter postcard book"),
    "buy": words("book flower hat picture dress shirt"),
    "repair": words("bicycle radio computer watch car"),
    "draw": words("picture tree flower bird cat dog"),
}


def _liking(generator: random.Random) -> Sentence | None:
    subject = choose_subject(generator)
    if generator.random() < 0.3:
        verb, noun = DRINK, DRINKS[generator.choice(list(DRINKS))]
        phrase = noun_phrase(noun, "accusative", "")
    else:
        base = generator.choice(list(_HOBBIES))
        verb, noun = verb_named(base), THINGS[generator.choice(_HOBBIES[base])]
        phrase = noun_phrase(noun, "accusative", "", plural=True)
    likes = "likes" if subject.person == "3" else "like"
    rest = f"to {english_predicate(verb.base, (phrase,))}"
    key = f"{verb.base}|{noun.english}"
    gern = Phrase("", f"gern {phrase.german}")
    event = in_tense(generator, Event(subject, verb, (gern,), key), ("present",))
    if event is None:
        return None
    form = generator.randrange(1 if subject.pronoun in ("I", "we") else 0, 3)
    do = "does" if subject.person == "3" else "do"
    if form == 0:
        german = event.german("question")
        return finish(f"{do} {subject.english} like {rest}", german, "?", key)
    if form == 1:
        nicht = dataclasses.replace(event, phrases=(Phrase("", f"nicht gern {phrase.german}"),))
        return finish(f"{subject.english} {do} not like {rest}", nicht.german(), ".", key)
    return finish(f"{subject.english} {likes} {rest}", event.german(), ".", key)


def _request(generator: random.Random) -> Sentence | None:
    event = choose_event(generator, ALL_TENSES, PRONOUN_SUBJECTS[1])
    if event is None or not event.verb.imperative:
        return None
    negative = generator.random() < 0.3
    if negative and not all(phrase.deniable for phrase in event.phrases):
        return None
    verb = event.verb
    please = "please do not" if negative else "please"
    english = f"{please} {english_predicate(verb.base, event.phrases)}"
    middle = german_middle(event.phrases, negative)
    words = ["bitte", verb.imperative, *middle, verb.prefix]
    return finish(english, " ".join(word for word in words if word), ".", event.key)


def _order_at_the_counter(generator: random.Random) -> Sentence | None:
    form = generator.randrange(3)
    if form == 0:
        drink = DRINKS[generator.choice(list(DRINKS))]
        number = generator.randint(2, 9)
        english, german = VESSELS[drink.english]
        cups = "cups of" if english == "a cup of" else "glasses of"
        tassen = "Tassen" if german == "eine Tasse" else "Gläser"
        thing = (f"{number} {cups} {drink.english}", f"{number} {tassen} {drink.german}")
        key = f"order|{drink.english}"
    elif form == 1:
        city = generator.choice(list(CITIES))
        number = generator.randint(1, 9)
        tickets = ("a ticket", "eine Fahrkarte")
        if number > 1:
            tickets = (f"{number} tickets", f"{number} Fahrkarten")
        thing = (f"{tickets[0]} to {city}", f"{tickets[1]} nach {CITIES[city]}")
        key = f"ticket|{city}"
    else:
        names = words("apple cake egg banana roll postcard flower newspaper")
        noun = THINGS[generator.choice(names)]
        adjective = generator.choice((None, *noun.adjectives))
        number = generator.randint(2, 20)
        phrase = noun_phrase(noun, "accusative", str(number), adjective, plural=True)
        thing = (phrase.english, phrase.german)
        key = f"buy|{noun.english}"
    asking = generator.choice(
        (
            ("I would like {}, please", "ich möchte bitte {}", "."),
            ("we would like {}, please", "wir möchten bitte {}", "."),
            ("we need {}", "wir brauchen {}", "."),
            ("I bought {}", "ich habe {} gekauft", "."),
        )
    )
    return finish(asking[0].format(thing[0]), asking[1].format(thing[1]), asking[2], key)


def _price(generator: random.Random) -> Sentence | None:
    names, prices = generator.choices(PRICES, weights=[len(names) for names, _ in PRICES])[0]
    number = generator.randrange(*prices)
    noun = THINGS[generator.choice(names)]
    # What is dear or cheap the number says.
    fitting = [a for a in noun.adjectives if a not in ("expensive", "cheap")]
    adjective = generator.choice((None, generator.choice(fitting)))
    subject = noun_subject(noun, generator.choice(("the", "the", "my", "your")), adjective)
    form = generator.randrange(4)
    if form == 0:
        key = f"cost|how much|{noun.english}"
        return finish(
            f"how much does {subject.english} cost", f"wie viel kostet {subject.german}", "?", key
        )
    key = f"{noun.english}|cost|{number}"
    if form == 1:
        return finish(
            f"does {subject.english} cost {number} euros",
            f"kostet {subject.german} {number} Euro",
            "?",
            key,
        )
    return finish(
        f"{subject.english} costs {number} euros",
        f"{subject.german} kostet {number} Euro",
        ".",
        key,
    )


# Being


def _being(
    generator: random.Random, subject: Subject, english: str, german: str, key: str
) -> Sentence:
    be, sein = to_be(subject, past=generator.random() < 0.4)
    not_, nicht = ("not ", "nicht ") if generator.random() < 0.3 else ("", "")
    who, wer = subject.english, subject.german
    form = generator.randrange(5)
    myself = subject.pronoun in ("I", "we")
    if form == 0 and not myself:
        return finish(f"{be} {who} {english}", f"{sein} {wer} {german}", "?", key)
    if form == 1 and not myself:
        front = generator.choice(THAT[:2] if not_ else (*THAT[:2], *WHETHER))
        return finish(
            f"{front[0]} {who} {be} {not_}{english}",
            f"{front[1]} {wer} {nicht}{german} {sein}",
            ".",
            key,
        )
    return finish(f"{who} {be} {not_}{english}", f"{wer} {sein} {nicht}{german}", ".", key)


def _quality(generator: random.Random) -> Sentence | None:
    nouns = [noun for noun in (*THINGS.values(), *DRINKS.values()) if noun.adjectives]
    noun = generator.choice(nouns)
    adjective = generator.choice(noun.adjectives)
    determiner = generator.choice(("the", *POSSESSIVES))
    plural = noun.english_plural != "" and generator.random() < 0.4
    subject = noun_subject(noun, determiner, plural=plural)
    return _being(
        generator, subject, adjective, ADJECTIVES[adjective], f"{noun.english}|be|{adjective}"
    )


def _feeling(generator: random.Random) -> Sentence | None:
    subject = choose_subject(generator)
    feeling = generator.choice(list(FEELINGS))
    key = f"{subject.english}|{feeling}"
    return _being(generator, subject, feeling, FEELINGS[feeling], key)


def _whereabouts(generator: random.Random) -> Sentence | None:
    subject = choose_subject(generator)
    if generator.random() < 0.3:
        city = generator.choice(list(CITIES))
        english, german, key = f"in {city}", f"in {CITIES[city]}", f"be|{city}"
    else:
        _, english, german = PLACES[generator.choice(list(PLACES))]
        key = f"{subject.english}|be|{english}"
    return _being(generator, subject, english, german, key)


def _comparison(generator: random.Random) -> Sentence | None:
    if generator.random() < 0.25:
        one, two = generator.sample(NOUN_SUBJECTS, 2)
        adjective = generator.choice(("old", "young"))
        # Parents and children leave no question.
        if "pl" in (one.person, two.person):
            return None
    else:
        names = generator.choice(COMPARED)
        first = THINGS[generator.choice(names)]
        second = THINGS[generator.choice(names)] if len(names) < 6 else first
        shared = [a for a in first.adjectives if a in second.adjectives and a in COMPARATIVES]
        if not shared:
            return None
        adjective = generator.choice(shared)
        owners = generator.sample(("the", *POSSESSIVES), 2)
        if first == second and "the" in owners:
            return None
        one, two = noun_subject(first, owners[0]), noun_subject(second, owners[1])
    more, mehr = COMPARATIVES[adjective]
    be, sein = to_be(one, past=False)
    key = f"{one.english.split()[-1]}|{more}|{two.english.split()[-1]}"
    if generator.random() < 0.3:
        return finish(
            f"{be} {one.english} {more} than {two.english}",
            f"{sein} {one.german} {mehr} als {two.german}",
            "?",
            key,
        )
    return finish(
        f"{one.english} {be} {more} than {two.english}",
        f"{one.german} {sein} {mehr} als {two.german}",
        ".",
        key,
    )


def _age(generator: random.Random) -> Sentence | None:
    subject = choose_subject(generator)
    adult = not any(word in subject.english.split() for word in ("boy", "girl"))
    if any(word in subject.english.split() for word in ("old", "young", "small", "parents")):
        return None
    number = generator.randint(*AGES.get(subject.english, (18, 90) if adult else (3, 16)))
    be, sein = to_be(subject, past=False)
    key = f"{subject.english}|age|{number}"
    form = 2 if subject.pronoun in ("I", "we") else generator.randrange(3)
    who, wer = subject.english, subject.german
    if form == 0:
        return finish(
            f"{be} {who} {number} years old", f"{sein} {wer} {number} Jahre alt", "?", key
        )
    if form == 1:
        return finish(
            f"I know that {who} {be} {number} years old",
            f"ich weiß, dass {wer} {number} Jahre alt {sein}",
            ".",
            key,
        )
    return finish(f"{who} {be} {number} years old", f"{wer} {sein} {number} Jahre alt", ".", key)


# Trains, places


def _timetable(generator: random.Random) -> Sentence | None:
    city = generator.choice(list(CITIES))
    english_name, german_name = generator.choice((("train", "Zug"), ("bus", "Bus")))
    verb = generator.choice((ARRIVE, DEPART))
    towards = ("from", "aus") if verb is ARRIVE else ("to", "nach")
    subject = Subject(
        f"the {english_name} {towards[0]} {city}",
        f"der {german_name} {towards[1]} {CITIES[city]}",
        "3",
    )
    english, german = clock(generator, 1, 23)
    when = Phrase(english, german, place="complement")
    event = Event(
        subject, verb, (when,), f"{verb.base}|{city}|{english}", generator.choice(verb.tenses)
    )
    form = generator.randrange(4)
    if form == 0:
        return finish(event.english(question=True), event.german("question"), "?", event.key)
    if form == 1:
        return after(generator, event, generator.choice((*THAT, *WHETHER)))
    if form == 2:
        event = dataclasses.replace(event, phrases=(), key=f"{verb.base}|{city}|when")
        return finish(
            event.english(question=True, front="when"),
            event.german("question", front="wann"),
            "?",
            event.key,
        )
    event = with_time(generator, event, 0.3)
    return finish(event.english(), event.german(), ".", event.key)


_STANDING = {
    "car": (("in front of the house", "vor dem Haus"), ("in the park", "im Park")),
    "tree": (("in front of the house", "vor dem Haus"), ("in the garden", "im Garten")),
    "bicycle": (("in front of the house", "vor dem Haus"), ("in the garden", "im Garten")),
    "table": (("in the kitchen", "in der Küche"), ("in the office", "im Büro")),
    "chair": (("in the kitchen", "in der Küche"), ("in the garden", "im Garten")),
    "lamp": (("in the kitchen", "in der Küche"), ("on the table", "auf dem Tisch")),
    "computer": (("in the office", "im Büro"), ("on the table", "auf dem Tisch")),
    "radio": (("in the kitchen", "in der Küche"), ("on the table", "auf dem Tisch")),
}


def _there_is(generator: random.Random) -> Sentence | None:
    noun = THINGS[generator.choice(list(_STANDING))]
    adjective = generator.choice((None, *noun.adjectives))
    english, german = generator.choice(_STANDING[noun.english])
    determiner, be, steht = "a", "is", "steht"
    if generator.random() < 0.5:
        determiner, be, steht = str(generator.randint(2, 9)), "are", "stehen"
    phrase = noun_phrase(noun, "nominative", determiner, adjective, determiner != "a")
    key = f"stand|{noun.english}|{english}"
    if generator.random() < 0.4:
        return finish(
            f"{be} there {phrase.english} {english}", f"{steht} {german} {phrase.german}", "?", key
        )
    return finish(
        f"there {be} {phrase.english} {english}", f"{german} {steht} {phrase.german}", ".", key
    )


def _location(generator: random.Random) -> Sentence | None:
    name = generator.choice(LAID)
    where = generator.choice(list(SURFACES))
    german = SURFACES[where][1]
    thing = THINGS[name]
    adjective = generator.choice((None, *thing.adjectives))
    plural = generator.random() < 0.3
    determiner = generator.choice(("the", "the", *POSSESSIVES))
    subject = noun_subject(thing, determiner, adjective, plural)
    be, _ = to_be(subject, past=False)
    liegt = "liegen" if plural else "liegt"
    who, wer = subject.english, subject.german
    key = f"lie|{name}|{where}"
    form = generator.randrange(4)
    if form == 0:
        return finish(f"{be} {who} {where}", f"{liegt} {wer} {german}", "?", key)
    if form == 1:
        english, deutsch = generator.choice(THAT)
        return finish(
            f"{english} {who} {be} {where}", f"{deutsch} {wer} {german} {liegt}", ".", key
        )
    not_, nicht = generator.choice((("not ", "nicht "), ("", ""), ("", "")))
    return finish(f"{who} {be} {not_}{where}", f"{wer} {liegt} {nicht}{german}", ".", key)


def _person_with(generator: random.Random) -> Sentence | None:
    person = PEOPLE[generator.choice(list(PEOPLE))]
    thing = THINGS[generator.choice(words("bag umbrella dog cat hat coat book flower"))]
    adjective = generator.choice(thing.adjectives)
    holding = noun_phrase(thing, "dative", "the", adjective)
    bearer = noun_subject(person, "the")
    subject = Subject(
        f"{bearer.english} with {holding.english}", f"{bearer.german} mit {holding.german}", "3"
    )
    kinds = (city_event, going_event, travel_event, drink_event, person_event)
    event = in_tense(
        generator, generator.choice(kinds)(generator, subject), ("present", "past", "will", "want")
    )
    if event is None:
        return None
    key = f"{person.english}|with|{thing.english}"
    if generator.random() < 0.3:
        return finish(event.english(question=True), event.german("question"), "?", key, event.key)
    return finish(event.english(), event.german(), ".", key, event.key)


def _of(kind: Callable[[random.Random, Subject], Event | None], *tenses: str) -> Pattern:
    """Statements and questions of one kind of event."""

    def pattern(generator: random.Random) -> Sentence | None:
        event = in_tense(generator, kind(generator, choose_subject(generator)), tenses)
        if event is None:
            return None
        event = with_time(generator, event, 0.3)
        if generator.random() < 0.3 and not knows_best(event):
            return finish(event.english(question=True), event.german("question"), "?", event.key)
        if event.is_ambiguous():
            return None
        return finish(event.english(), event.german(), ".", event.key)

    return pattern


SCENES: dict[str, Pattern] = {
    "liking": _liking,
    "request": _request,
    "counter": _order_at_the_counter,
    "price": _price,
    "quality": _quality,
    "feeling": _feeling,
    "whereabouts": _whereabouts,
    "comparison": _comparison,
    "age": _age,
    "timetable": _timetable,
    "there is": _there_is,
    "location": _location,
    "person with": _person_with,
    "giving": _of(giving_event, *ANY_TENSE),
    "putting": _of(putting_event, *ANY_TENSE),
}
