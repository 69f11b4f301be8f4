"""Sentence patterns for any event: statements, questions, subordinate clauses."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

from tools.phrasebook.events import (
    Event,
    choose_event,
    choose_subject,
    in_tense,
    noun_subject,
    person_event,
    thing_phrase,
    timed,
    with_time,
)
from tools.phrasebook.grammar import (
    Phrase,
    english_noun_phrase,
    english_predicate,
    german_noun_phrase,
    to_be,
    with_zu,
)
from tools.phrasebook.lexicon import (
    BARE_PLURAL,
    CITIES,
    DAILY,
    DRINK,
    DUTIES,
    EASIER_TOGETHER,
    FEELINGS,
    FREQUENCIES,
    GO,
    HABIT_TIMES,
    HABITS,
    LAID,
    NOUN_SUBJECTS,
    PERSONAL,
    PLACES,
    POSSESSIVES,
    PRONOUN_SUBJECTS,
    THINGS,
    TRANSITIVE,
    TRAVEL,
    UNCOUNTED,
    WITH_ACCUSATIVE,
    WITH_DATIVE,
    Subject,
    Verb,
    words,
)


@dataclasses.dataclass(frozen=True)
class Sentence:
    """A pair of sentences.

    Attributes:
        english: In English.
        german: In German.
        keys: The words that are combined, one key for each clause that combines some.
    """

    english: str
    german: str
    keys: tuple[str, ...]


Pattern = Callable[[random.Random], "Sentence | None"]

MODALS = ("can", "have to", "want", "would like")
# Every verb has its own forms in the present, so that tense comes more often.
ANY_TENSE = ("present", "present", "present", "past", "past", "will", "can", "have to", "want")


def finish(english: str, german: str, mark: str, *keys: str) -> Sentence:
    """The sentences with a capital and a mark at the end."""
    return Sentence(
        english[0].upper() + english[1:] + mark, german[0].upper() + german[1:] + mark, keys
    )


def verb_named(base: str) -> Verb:
    """The verb with this English infinitive, of those that are done to things."""
    return next(verb for verb, _ in TRANSITIVE if verb.base == base)


# Statements


def _statement(*tenses: str) -> Pattern:
    def pattern(generator: random.Random) -> Sentence | None:
        subject = choose_subject(generator, indefinite=tenses in (("past",), ("will",)))
        event = choose_event(generator, tenses, subject)
        if event is None or event.is_ambiguous():
            return None
        return finish(event.english(), event.german(), ".", event.key)

    return pattern


def _timed_statement(generator: random.Random) -> Sentence | None:
    event = choose_event(generator, ("past", "past", "will", "can", "have to", "want"))
    if event is None:
        return None
    late = with_time(generator, event)
    return finish(late.english(), late.german(), ".", event.key) if late != event else None


def _fronted_time(generator: random.Random) -> Sentence | None:
    subject = choose_subject(generator, indefinite=True)
    event = choose_event(generator, ("past", "past", "will", "have to"), subject)
    if event is None:
        return None
    late = with_time(generator, event)
    if late == event:
        return None
    time = late.phrases[-1]
    return finish(
        event.english(front=time.english),
        event.german("question", front=time.german),
        ".",
        event.key,
    )


def _habit(generator: random.Random) -> Sentence | None:
    event = choose_event(generator, ("present",))
    if event is None or event.verb.base not in HABITS:
        return None
    if any(phrase.english[0].isdigit() for phrase in event.phrases):
        return None
    english, german = generator.choice((*FREQUENCIES, *HABIT_TIMES))
    if event.verb.base in DAILY and "week" in english:
        return None
    habit = timed(event, english, german, "habit")
    if (english, german) in HABIT_TIMES:
        return finish(habit.english(), habit.german(), ".", event.key)
    return finish(event.english(adverb=english), habit.german(), ".", event.key)


def _negation(*tenses: str) -> Pattern:
    def pattern(generator: random.Random) -> Sentence | None:
        event = choose_event(generator, tenses)
        if event is None or not all(phrase.deniable for phrase in event.phrases):
            return None
        event = with_time(generator, event, 0.2)
        return finish(event.english(negative=True), event.german(negative=True), ".", event.key)

    return pattern


# Questions


def _question(*tenses: str) -> Pattern:
    def pattern(generator: random.Random) -> Sentence | None:
        event = choose_event(generator, tenses)
        if event is None or knows_best(event):
            return None
        event = with_time(generator, event, 0.2)
        return finish(event.english(question=True), event.german("question"), "?", event.key)

    return pattern


def knows_best(event: Event) -> bool:
    """Whether only the speaker could answer a question about it."""
    return event.subject.pronoun in ("I", "we") and event.tense not in ("can", "have to")


_NEEDS_NO_REASON = frozenset({"see", "know", "like", "understand", "find"})


def _question_words(event: Event) -> list[tuple[str, str]]:
    words = [("why", "warum")]
    # Who asks when, has not said it.
    if event.tense in ("past", "will", "can") and not _tells_the_time(event):
        words.append(("when", "wann"))
    if event.verb.base in ("buy", "find", "lose", "meet", "sell", "forget"):
        words.append(("where", "wo"))
    return words


def _tells_the_time(event: Event) -> bool:
    return any("o'clock" in phrase.english or ":" in phrase.english for phrase in event.phrases)


def _wh_question(generator: random.Random) -> Sentence | None:
    event = choose_event(generator, ANY_TENSE)
    if event is None or event.verb.base in _NEEDS_NO_REASON or knows_best(event):
        return None
    english, german = generator.choice(_question_words(event))
    return finish(
        event.english(question=True, front=english),
        event.german("question", front=german),
        "?",
        event.key,
    )


def _who_question(generator: random.Random) -> Sentence | None:
    who = Subject("who", "wer", "3")
    event = choose_event(generator, (*ANY_TENSE, "would like"), who)
    if event is None:
        return None
    event = with_time(generator, event, 0.3)
    return finish(event.english(), event.german(), "?", event.key)


_WHAT_VERBS = words("buy sell read write eat see find need repair draw lose forget drink look_for")


def _what_question(generator: random.Random) -> Sentence | None:
    base = generator.choice(_WHAT_VERBS)
    verb = DRINK if base == "drink" else verb_named(base)
    bare = Event(choose_subject(generator), verb, (), f"{base}|what")
    event = in_tense(generator, bare, (*ANY_TENSE, "would like"))
    if event is None or knows_best(event):
        return None
    event = with_time(generator, event, 0.4)
    return finish(
        event.english(question=True, front="what"),
        event.german("question", front="was"),
        "?",
        event.key,
    )


def _which_question(generator: random.Random) -> Sentence | None:
    verb, names = generator.choice(TRANSITIVE)
    thing = THINGS[generator.choice(names)]
    if verb.base in ("have", "miss", "take"):
        return None
    subject = choose_subject(generator)
    event = in_tense(generator, Event(subject, verb, (), f"{verb.base}|{thing.english}"), ANY_TENSE)
    if event is None or knows_best(event):
        return None
    event = with_time(generator, event, 0.2)
    plural = verb.base in BARE_PLURAL and thing.english not in UNCOUNTED
    if plural and generator.random() < 0.3:
        english, german = f"how many {thing.english_plural}", f"wie viele {thing.german_plural}"
    else:
        plural = plural and generator.random() < 0.3
        english = english_noun_phrase(thing, "which", None, plural)
        german = german_noun_phrase(thing, "accusative", "welcher", None, plural)
    return finish(
        event.english(question=True, front=english),
        event.german("question", front=german),
        "?",
        event.key,
    )


def _where_question(generator: random.Random) -> Sentence | None:
    thing = THINGS[generator.choice((*LAID, "bag", "coat", "car", "bicycle", "dog", "cat"))]
    determiner = generator.choice(("the", *POSSESSIVES))
    adjective = generator.choice((None, *thing.adjectives))
    subject = noun_subject(thing, determiner, adjective, generator.random() < 0.3)
    be, sein = to_be(subject, past=generator.random() < 0.3)
    key = f"where|{determiner}|{thing.english}"
    return finish(f"where {be} {subject.english}", f"wo {sein} {subject.german}", "?", key)


# Subordinate clauses

THAT = (
    ("I think that", "ich glaube, dass"),
    ("I know that", "ich weiß, dass"),
    ("Peter says that", "Peter sagt, dass"),
    ("she says that", "sie sagt, dass"),
    ("my sister thinks that", "meine Schwester glaubt, dass"),
    ("they know that", "sie wissen, dass"),
)
_HOPE = (
    ("we hope that", "wir hoffen, dass"),
    ("I hope that", "ich hoffe, dass"),
    ("Maria hopes that", "Maria hofft, dass"),
)
WHETHER = (
    ("I do not know whether", "ich weiß nicht, ob"),
    ("we do not know whether", "wir wissen nicht, ob"),
)
_OTHERS_ASK = (
    ("she asks whether", "sie fragt, ob"),
    ("Tom wants to know whether", "Tom will wissen, ob"),
)
_MAY_ASK = (
    ("do you know whether", "weißt du, ob"),
    ("can you tell me whether", "kannst du mir sagen, ob"),
)


def after(
    generator: random.Random,
    event: Event | None,
    front: tuple[str, str],
    mark: str = ".",
    timeless: bool = False,
) -> Sentence | None:
    """A main clause with its conjunction, then the event as a subordinate clause."""
    english, german = front
    # A name would come back as a pronoun, and one knows about oneself.
    speaker = english.removeprefix("do ").removeprefix("can ")
    if event is None or speaker.casefold().startswith(f"{event.subject.english.casefold()} "):
        return None
    event = with_time(generator, event, 0.0 if timeless else 0.2)
    if event.is_ambiguous():
        return None
    return finish(
        event.english(front=english), event.german("subordinate", front=german), mark, event.key
    )


def _that_clause(generator: random.Random) -> Sentence | None:
    if generator.random() < 0.3:
        return after(generator, choose_event(generator, ("will", "can")), generator.choice(_HOPE))
    event = choose_event(generator, ANY_TENSE)
    return after(generator, event, generator.choice(THAT))


def _whether_clause(generator: random.Random) -> Sentence | None:
    event = choose_event(generator, ANY_TENSE)
    if event is None:
        return None
    if knows_best(event):
        return after(generator, event, generator.choice(_OTHERS_ASK))
    if generator.random() < 0.35:
        return after(generator, event, generator.choice(_MAY_ASK), "?")
    return after(generator, event, generator.choice((*WHETHER, *_OTHERS_ASK)))


def _indirect_question(generator: random.Random) -> Sentence | None:
    event = choose_event(generator, ANY_TENSE)
    if event is None or event.verb.base in _NEEDS_NO_REASON or knows_best(event):
        return None
    words, worte = generator.choice(_question_words(event))
    english, german, mark = generator.choice(
        (
            ("I do not know", "ich weiß nicht", "."),
            ("nobody knows", "niemand weiß", "."),
            ("do you know", "weißt du", "?"),
        )
    )
    front = (f"{english} {words}", f"{german}, {worte}")
    return after(generator, event, front, mark, timeless=words == "when")


_MOODS = (
    ("sad", ("past",), "lose forget sell miss"),
    ("happy", ("past",), "find buy see meet visit"),
    ("tired", ("past",), "repair clean carry wash dance work"),
)


def _because(generator: random.Random) -> Sentence | None:
    subject = choose_subject(generator)
    he = next(pronoun for pronoun in PRONOUN_SUBJECTS if pronoun.pronoun == subject.pronoun)
    if subject not in (*PRONOUN_SUBJECTS, *NOUN_SUBJECTS):
        return None
    if generator.random() < 0.5:
        mood, tenses, verbs = generator.choice(_MOODS)
        event = choose_event(generator, tenses, he)
        if event is None or event.verb.base not in verbs:
            return None
        be, sein = to_be(subject, past=False)
        clause = (f"{subject.english} {be} {mood}", f"{subject.german} {sein} {FEELINGS[mood]}")
        key = f"{subject.english}|{mood}"
    else:
        event = choose_event(generator, ("have to",), he)
        if event is None or event.verb.base not in DUTIES:
            return None
        kann = {"1": "kann", "2": "kannst", "3": "kann", "pl": "können"}[subject.person]
        clause = (f"{subject.english} cannot come", f"{subject.german} {kann} nicht kommen")
        key = f"{subject.english}|cannot come"
    if event is None or event.is_ambiguous() or subject.english in event.english():
        return None
    return finish(
        event.english(front=f"{clause[0]} because"),
        event.german("subordinate", front=f"{clause[1]}, weil"),
        ".",
        key,
        event.key,
    )


def _condition(generator: random.Random) -> Sentence | None:
    subject = choose_subject(generator)
    if subject.pronoun in ("I", "we"):
        return None
    event = choose_event(generator, ("have to", "want", "present"), subject)
    if event is None or event.verb.base not in EASIER_TOGETHER:
        return None
    if event.tense == "present" and event.verb.base not in ("need", "look for"):
        return None
    plural = subject.person == "pl"
    him, _, _, ihm = PERSONAL["they" if plural else subject.pronoun]
    if subject not in (*PRONOUN_SUBJECTS, *NOUN_SUBJECTS):
        return None
    english, german = generator.choice(
        (
            (f"I will help {him}", f"werde ich {ihm} helfen"),
            (f"I can help {him}", f"kann ich {ihm} helfen"),
            (f"we can help {him}", f"können wir {ihm} helfen"),
        )
    )
    return finish(
        f"if {event.english()}, {english}",
        f"{event.german('subordinate', front='wenn')}, {german}",
        ".",
        event.key,
    )


def _when_clause(generator: random.Random) -> Sentence | None:
    subject = generator.choice(PRONOUN_SUBJECTS)
    event = choose_event(generator, ("past",), subject)
    verbs = words("buy see meet visit lose find forget invite help talk drink eat sell miss take")
    if event is None or event.verb.base not in verbs:
        return None
    city = generator.choice(list(CITIES))
    be, sein = to_be(subject, past=True)
    return finish(
        f"when {subject.english} {be} in {city}, {event.english()}",
        f"als {subject.german} in {CITIES[city]} {sein}, {event.german('question')}",
        ".",
        f"be|{city}",
        event.key,
    )


def _purpose(generator: random.Random) -> Sentence | None:
    subject = choose_subject(generator)
    if generator.random() < 0.3:
        city = generator.choice(list(CITIES))
        going = Phrase(f"to {city}", f"nach {CITIES[city]}", place="complement")
        verb, base, where = TRAVEL, generator.choice(("visit", "meet", "help")), city
    else:
        where, base = generator.choice(
            (
                ("to the shop", "buy"),
                ("to the kitchen", "eat"),
                ("to the library", "read"),
                ("to the garden", "draw"),
                ("to the station", "pick up"),
                ("to the park", "meet"),
                ("home", "tidy up"),
            )
        )
        verb, going = GO, Phrase(where, PLACES[where][0], place="complement")
    if base in ("pick up", "meet", "visit", "help"):
        aim = next(v for v in (*WITH_ACCUSATIVE, *WITH_DATIVE) if v.base == base)
        person = person_event(generator, subject, aim)
        if person is None:
            return None
        phrase, key = person.phrases[0], person.key
    else:
        aim, names = next(entry for entry in TRANSITIVE if entry[0].base == base)
        if base == "buy" and generator.random() < 0.35:
            english, german = generator.choice(
                (("something to drink", "etwas zu trinken"), ("something to eat", "etwas zu essen"))
            )
            phrase, key = Phrase(english, german), f"buy|{english}"
        else:
            thing = THINGS[generator.choice(names)]
            if thing.english in ("car", "house", "bed", "office"):
                return None
            phrase, key = thing_phrase(generator, aim, thing), f"{base}|{thing.english}"
    tense = generator.choice(("past", "past", "will", "have to", "want", "would like"))
    event = Event(subject, verb, (going,), "", tense)
    return finish(
        f"{event.english()} to {english_predicate(base, (phrase,))}",
        f"{event.german()}, um {phrase.german} {with_zu(aim)}",
        ".",
        f"{verb.base}|{where}",
        key,
    )


CLAUSES: dict[str, Pattern] = {
    "present": _statement("present"),
    "perfect": _statement("past"),
    "future": _statement("will"),
    "modal": _statement(*MODALS),
    "time": _timed_statement,
    "time first": _fronted_time,
    "habit": _habit,
    "negated present": _negation("present"),
    "negated perfect": _negation("past"),
    "negated modal": _negation("will", "can", "have to", "want"),
    "question": _question("present"),
    "perfect question": _question("past"),
    "modal question": _question("will", *MODALS),
    "wh-question": _wh_question,
    "who question": _who_question,
    "what question": _what_question,
    "which question": _which_question,
    "where question": _where_question,
    "that clause": _that_clause,
    "whether clause": _whether_clause,
    "indirect question": _indirect_question,
    "because clause": _because,
    "if clause": _condition,
    "when clause": _when_clause,
    "purpose": _purpose,
}
