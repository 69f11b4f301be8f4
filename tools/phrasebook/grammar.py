"""The German and English grammar that the phrasebook needs."""

from __future__ import annotations

import dataclasses
from typing import Literal

from tools.phrasebook.lexicon import (
    ADJECTIVES,
    POSSESSIVES,
    Case,
    Noun,
    Person,
    Subject,
    Verb,
)

Order = Literal["main", "question", "subordinate"]
Place = Literal["pronoun", "habit", "definite", "time", "object", "complement"]

# Endings by case, for masculine, feminine, neuter and plural.
_THE = {
    "nominative": {"m": "der", "f": "die", "n": "das", "pl": "die"},
    "accusative": {"m": "den", "f": "die", "n": "das", "pl": "die"},
    "dative": {"m": "dem", "f": "der", "n": "dem", "pl": "den"},
}
_WHICH = {
    "nominative": {"m": "welcher", "f": "welche", "n": "welches", "pl": "welche"},
    "accusative": {"m": "welchen", "f": "welche", "n": "welches", "pl": "welche"},
    "dative": {"m": "welchem", "f": "welcher", "n": "welchem", "pl": "welchen"},
}
_EIN = {
    "nominative": {"m": "", "f": "e", "n": "", "pl": "e"},
    "accusative": {"m": "en", "f": "e", "n": "", "pl": "e"},
    "dative": {"m": "em", "f": "er", "n": "em", "pl": "en"},
}
_WEAK = {
    "nominative": {"m": "e", "f": "e", "n": "e", "pl": "en"},
    "accusative": {"m": "en", "f": "e", "n": "e", "pl": "en"},
    "dative": {"m": "en", "f": "en", "n": "en", "pl": "en"},
}
_MIXED = {
    "nominative": {"m": "er", "f": "e", "n": "es", "pl": "en"},
    "accusative": {"m": "en", "f": "e", "n": "es", "pl": "en"},
    "dative": {"m": "en", "f": "en", "n": "en", "pl": "en"},
}
_STRONG = {
    "nominative": {"m": "er", "f": "e", "n": "es", "pl": "e"},
    "accusative": {"m": "en", "f": "e", "n": "es", "pl": "e"},
    "dative": {"m": "em", "f": "er", "n": "em", "pl": "en"},
}

_AUXILIARIES = {
    "haben": {"1": "habe", "2": "hast", "3": "hat", "pl": "haben"},
    "sein": {"1": "bin", "2": "bist", "3": "ist", "pl": "sind"},
    "war": {"1": "war", "2": "warst", "3": "war", "pl": "waren"},
    "hatte": {"1": "hatte", "2": "hattest", "3": "hatte", "pl": "hatten"},
    "can": {"1": "kann", "2": "kannst", "3": "kann", "pl": "können"},
    "have to": {"1": "muss", "2": "musst", "3": "muss", "pl": "müssen"},
    "want": {"1": "will", "2": "willst", "3": "will", "pl": "wollen"},
    "would like": {"1": "möchte", "2": "möchtest", "3": "möchte", "pl": "möchten"},
    "will": {"1": "werde", "2": "wirst", "3": "wird", "pl": "werden"},
}


@dataclasses.dataclass(frozen=True)
class Phrase:
    """A part of a sentence after subject and verb.

    Attributes:
        english: In English.
        german: In German.
        negated: In German if the sentence is negated, where `kein` takes the place of the
            article; None where `nicht` is wanted.
        place: Its place in German: `pronoun` objects stand first, then how often it happens
            (`habit`), `definite` objects, the `time`, other objects, and last, after `nicht`,
            what belongs to the verb (`complement`). In English the phrases stand in the order
            they are given.
        deniable: Whether a negated sentence with it makes sense.
    """

    english: str
    german: str
    negated: str | None = None
    place: Place = "object"
    deniable: bool = True


def inflect(adjective: str, ending: str) -> str:
    """A German adjective with its ending; `teuer` loses an e."""
    return ("teur" if adjective == "teuer" else adjective) + ending


def german_noun_phrase(
    noun: Noun,
    case: Case,
    determiner: str,
    adjective: str | None = None,
    plural: bool = False,
) -> str:
    """A German noun with article and adjective in a case.

    Args:
        noun: The noun.
        case: Nominative, accusative or dative.
        determiner: `der` for the definite article, `welcher` for the question, the stem of an
            ein-word (`ein`, `kein`, `mein` …), a number in digits, or "" for none.
        adjective: An English adjective, or None.
        plural: Whether it is plural.
    """
    gender = "pl" if plural else noun.gender
    if determiner in ("der", "welcher"):
        words, endings = [(_THE if determiner == "der" else _WHICH)[case][gender]], _WEAK
    elif determiner == "" or determiner.isdigit():
        words, endings = [determiner], _STRONG
    else:
        words, endings = [determiner + _EIN[case][gender]], _MIXED
    if adjective:
        words.append(inflect(ADJECTIVES[adjective], endings[case][gender]))
    if plural:
        form = noun.german_plural
        words.append(form + "n" if case == "dative" and form[-1] not in "ns" else form)
    else:
        words.append(noun.oblique if noun.oblique and case != "nominative" else noun.german)
    return " ".join(word for word in words if word)


def english_noun_phrase(
    noun: Noun, determiner: str, adjective: str | None = None, plural: bool = False
) -> str:
    """An English noun with determiner (`a` becomes `an` where it must) and adjective."""
    words = [adjective] if adjective else []
    words.append(noun.english_plural if plural else noun.english)
    if determiner == "a" and words[0][0] in "aeiou":
        determiner = "an"
    return " ".join(word for word in (determiner, *words) if word)


def german_determiner(english: str) -> str:
    """What `german_noun_phrase` calls an English determiner."""
    return {"the": "der", "which": "welcher", "a": "ein", **POSSESSIVES}.get(english, english)


def noun_phrase(
    noun: Noun,
    case: Case,
    determiner: str,
    adjective: str | None = None,
    plural: bool = False,
) -> Phrase:
    """An object in both languages.

    Args:
        noun: The noun.
        case: The German case.
        determiner: In English: `the`, `a`, a possessive, a number in digits, or "".
        adjective: An English adjective, or None.
        plural: Whether it is plural.
    """
    indefinite = determiner in ("a", "")
    counted = determiner.isdigit()
    return Phrase(
        english_noun_phrase(noun, determiner, adjective, plural),
        german_noun_phrase(noun, case, german_determiner(determiner), adjective, plural),
        german_noun_phrase(noun, case, "kein", adjective, plural) if indefinite else None,
        place="object" if indefinite or counted else "definite",
        deniable=not counted,
    )


def conjugate(verb: Verb, person: Person) -> str:
    """The German present tense, without a separable prefix."""
    forms = {"1": verb.first, "2": verb.second, "3": verb.third_german, "pl": verb.infinitive}
    return forms[person]


def german_clause(
    subject: Subject,
    verb: Verb,
    tense: str,
    phrases: tuple[Phrase, ...],
    negative: bool = False,
    order: Order = "main",
    front: str | None = None,
) -> str:
    """A German clause without capital and full stop.

    Args:
        subject: Who does it.
        verb: What is done.
        tense: `present`, `past` (the perfect, but `hatte`), `will`, `can`, `have to`, `want` or
            `would like`.
        phrases: Objects, times and complements, in any order.
        negative: Whether the clause is negated.
        order: `main` (subject, finite verb, …), `question` (finite verb, subject, …) or
            `subordinate` (finite verb last).
        front: What stands before everything: a question word, a conjunction, an adverb.
    """
    if tense == "present":
        finite, tail = conjugate(verb, subject.person), [verb.prefix]
    elif tense == "past" and verb.infinitive == "haben":
        finite, tail = _AUXILIARIES["hatte"][subject.person], []
    elif tense == "past":
        finite, tail = _AUXILIARIES[verb.auxiliary][subject.person], [verb.participle]
    else:
        finite, tail = _AUXILIARIES[tense][subject.person], [verb.prefix + verb.infinitive]
    if order == "subordinate" and tense == "present":
        finite, tail = verb.prefix + finite, []  # "anruft", in one word

    middle = german_middle(phrases, negative)
    if order == "main":
        words = [subject.german, finite, *middle, *tail]
    elif order == "question":
        words = [finite, subject.german, *middle, *tail]
    else:
        words = [subject.german, *middle, *tail, finite]
    return " ".join(word for word in (front, *words) if word)


def german_middle(phrases: tuple[Phrase, ...], negative: bool = False) -> list[str]:
    """The phrases in German order, with `kein` or else `nicht` if they are negated."""
    places: dict[Place, list[str]] = {
        "pronoun": [],
        "habit": [],
        "definite": [],
        "time": [],
        "object": [],
        "complement": [],
    }
    needs_nicht = negative
    for phrase in phrases:
        if negative and phrase.negated:
            places[phrase.place].append(phrase.negated)
            needs_nicht = False
        else:
            places[phrase.place].append(phrase.german)
    complement = places.pop("complement")
    middle = [german for place in places.values() for german in place]
    return [*middle, *(["nicht"] if needs_nicht else []), *complement]


def english_clause(
    subject: Subject,
    verb: Verb,
    tense: str,
    phrases: tuple[Phrase, ...],
    negative: bool = False,
    question: bool = False,
    front: str | None = None,
    adverb: str | None = None,
) -> str:
    """An English clause without capital and full stop; most arguments are as in German.

    Args:
        subject: Who does it.
        verb: What is done.
        tense: As in `german_clause`; `past` is the simple past.
        phrases: Objects, times and complements, in English order.
        negative: Whether the clause is negated.
        question: Whether it is a question.
        front: What stands before everything.
        adverb: What stands before the verb: "often".
    """
    third = subject.person == "3"
    helper, form = "", verb.base
    if tense in ("can", "will"):
        helper = tense
    elif tense == "would like":
        helper, form = "would", f"like to {verb.base}"
    else:
        if tense in ("want", "have to"):
            first = "want to" if tense == "want" else tense
            third_form, past, rest = ("wants to" if tense == "want" else "has to"), "", verb.base
        else:
            first, third_form, past, rest = verb.base, verb.third, verb.past, ""
        if negative or question:
            helper = "did" if tense == "past" else "does" if third else "do"
            form = f"{first} {rest}".strip()
        else:
            finite = past if tense == "past" else third_form if third else first
            form = f"{finite} {rest}".strip()
    if negative:
        helper = "cannot" if helper == "can" else f"{helper} not"
    start = [helper, subject.english] if question else [subject.english, helper]
    predicate = english_predicate(form, phrases)
    return " ".join(word for word in (front, *start, adverb, predicate) if word)


def english_predicate(form: str, phrases: tuple[Phrase, ...]) -> str:
    """A form of a verb with what follows; a pronoun goes before a particle ("pick me up")."""
    rest = [phrase.english for phrase in phrases]
    verb, _, particle = form.rpartition(" ")
    if particle in ("up", "on", "off") and phrases and phrases[0].place == "pronoun":
        return " ".join([verb, rest[0], particle, *rest[1:]])
    return " ".join([form, *rest])


def with_zu(verb: Verb) -> str:
    """The German infinitive with zu, inside the word after a separable prefix."""
    return f"{verb.prefix}zu{verb.infinitive}" if verb.prefix else f"zu {verb.infinitive}"


def to_be(subject: Subject, past: bool) -> tuple[str, str]:
    """The English and German forms of to be."""
    if past:
        english = "was" if subject.person == "3" or subject.english == "I" else "were"
        return english, _AUXILIARIES["war"][subject.person]
    english = {"1": "am", "2": "are", "3": "is", "pl": "are"}[subject.person]
    return english, _AUXILIARIES["sein"][subject.person]
