"""German and English grammar, as much of it as the phrasebook needs."""

from __future__ import annotations

import dataclasses
from typing import Literal

from transformer_tf.text.phrasebook.lexicon import ADJECTIVES, POSSESSIVES, Noun, Subject, Verb

Case = Literal["nominative", "accusative", "dative"]
Order = Literal["main", "question", "subordinate"]

# Endings by case, for masculine, feminine, neuter and plural.
_THE = {
    "nominative": {"m": "der", "f": "die", "n": "das", "pl": "die"},
    "accusative": {"m": "den", "f": "die", "n": "das", "pl": "die"},
    "dative": {"m": "dem", "f": "der", "n": "dem", "pl": "den"},
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
    "can": {"1": "kann", "2": "kannst", "3": "kann", "pl": "können"},
    "must": {"1": "muss", "2": "musst", "3": "muss", "pl": "müssen"},
    "want": {"1": "will", "2": "willst", "3": "will", "pl": "wollen"},
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
        place: Its place in German: `pronoun` objects stand first, then `person`, then the
            `time` and other objects (what `nicht` denies before the time), and last, after
            `nicht`, what belongs to the verb (`complement`).
    """

    english: str
    german: str
    negated: str | None = None
    place: Literal["pronoun", "person", "time", "object", "complement"] = "object"


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
        determiner: `der` for the definite article, the stem of an ein-word (`ein`, `kein`,
            `mein` …), a number in digits, or "" for none.
        adjective: An English adjective, or None.
        plural: Whether it is plural.
    """
    gender = "pl" if plural else noun.gender
    if determiner == "der":
        words, endings = [_THE[case][gender]], _WEAK
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
    german = {"the": "der", "a": "ein", **POSSESSIVES}.get(determiner, determiner)
    indefinite = determiner in ("a", "")
    return Phrase(
        english_noun_phrase(noun, determiner, adjective, plural),
        german_noun_phrase(noun, case, german, adjective, plural),
        german_noun_phrase(noun, case, "kein", adjective, plural) if indefinite else None,
    )


def conjugate(verb: Verb, person: str) -> str:
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
        tense: `present`, `past` (German perfect), `can`, `must`, `want` or `will`.
        phrases: Objects, times and complements, in any order.
        negative: Whether the clause is negated.
        order: `main` (subject, finite verb, …), `question` (finite verb, subject, …) or
            `subordinate` (finite verb last).
        front: A question word or conjunction before everything.
    """
    if tense == "present":
        finite, tail = conjugate(verb, subject.person), [verb.prefix]
    elif tense == "past":
        finite, tail = _AUXILIARIES[verb.auxiliary][subject.person], [verb.participle]
    else:
        finite, tail = _AUXILIARIES[tense][subject.person], [verb.prefix + verb.infinitive]
    if order == "subordinate" and tense == "present":
        finite, tail = verb.prefix + finite, []  # "anruft", in one word

    names = ("pronoun", "person", "time", "object", "complement")
    places: dict[str, list[str]] = {name: [] for name in names}
    needs_nicht = negative
    for phrase in phrases:
        if negative and phrase.negated:
            places[phrase.place].append(phrase.negated)
            needs_nicht = False
        else:
            places[phrase.place].append(phrase.german)
    middle = [*places["pronoun"], *places["person"]]
    if needs_nicht:
        middle += [*places["object"], *places["time"], "nicht"]
    else:
        middle += [*places["time"], *places["object"]]
    middle += places["complement"]

    if order == "main":
        words = [subject.german, finite, *middle, *tail]
    elif order == "question":
        words = [finite, subject.german, *middle, *tail]
    else:
        words = [subject.german, *middle, *tail, finite]
    return " ".join(word for word in (front, *words) if word)


def english_clause(
    subject: Subject,
    verb: Verb,
    tense: str,
    phrases: tuple[Phrase, ...],
    negative: bool = False,
    question: bool = False,
    front: str | None = None,
) -> str:
    """An English clause without capital and full stop; the arguments are as in German."""
    third = subject.person == "3"
    helper, form = "", verb.base
    if tense in ("can", "must", "will"):
        helper = tense
    elif negative or question:
        helper = "did" if tense == "past" else "does" if third else "do"
        form = f"want to {verb.base}" if tense == "want" else verb.base
    elif tense == "present":
        form = verb.third if third else verb.base
    elif tense == "past":
        form = verb.past
    else:
        form = f"{'wants' if third else 'want'} to {verb.base}"
    if negative:
        helper = "cannot" if helper == "can" else f"{helper} not"
    start = [helper, subject.english] if question else [subject.english, helper]
    predicate = english_predicate(form, phrases)
    return " ".join(word for word in (front, *start, predicate) if word)


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
