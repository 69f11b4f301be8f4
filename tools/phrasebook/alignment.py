"""Aligns the words of phrasebook pairs: the gold standard of word alignment.

The links are sure or possible, as in Och & Ney 2003 ("A Systematic Comparison of Various
Statistical Alignment Models"): every annotator would make a sure link, some would make a possible
one. The conventions, with the English word first and `?` before a possible link:

- Words that translate each other have a sure link. Articles, adjectives, prepositions and numbers
  are linked to those of the translated noun. If one word translates several, all links are sure:
  "look for" ~ "suchen", "home" ~ "nach Hause", "in the" ~ "im", "more beautiful" ~ "schöner",
  "cannot" ~ "kann nicht", "not a" ~ "kein".
- Tense: in "bought" ~ "hat gekauft" both are sure. "did buy": did-hat, buy-gekauft, ?buy-hat.
  "do buy" ~ "kaufe": buy-kaufe, ?do-kaufe.
- Separable verbs: in "calls" ~ "ruft an" both are sure. "gets up" ~ "steht auf": gets-steht,
  up-auf, ?gets-auf, ?up-steht. "got up" ~ "ist aufgestanden": got-ist, both with aufgestanden,
  ?up-ist.
- Modals: "want to buy" ~ "will kaufen": want-will, buy-kaufen, ?to-will, ?to-kaufen; "have to" and
  "would like to" alike. "like to read" ~ "lese gern": like-gern, read-lese, ?like-lese, ?to-gern,
  ?to-lese.
- Purpose: "to buy" ~ "um zu kaufen": to-um, to-zu. "to call" ~ "um anzurufen": to-um,
  ?to-anzurufen.
- A word without a counterpart has possible links to the whole phrase: "by train" ~ "mit dem Zug":
  ?by-dem, ?train-dem; "for 5 minutes" ~ "5 Minuten": ?for-5, ?for-Minuten; "cup of tea" ~ "Tasse
  Tee": ?of-Tasse, ?of-Tee; "on Sundays" ~ "sonntags": ?on-sonntags; "14:30" ~ "14:30 Uhr":
  ?14:30-Uhr; "there is" ~ "steht": ?there-steht.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from typing import get_args

from tools.phrasebook import lexicon
from tools.phrasebook.grammar import (
    german_clause,
    german_noun_phrase,
    inflect,
    to_be,
    with_zu,
)

__all__ = ["GoldAlignment", "align_words"]

# What the lexicon has no table of; any form before "=" may translate any after it.
_FUNCTION_WORDS = {
    "adverb": "who=wer what=was where=wo why=warum how=wie much,many=viel,viele when=wann,als "
    "than=als that=dass whether=ob because=weil if=wenn please=bitte nobody=niemand "
    "something=etwas gladly=gern more= there=",
    "determiner": "Mr=Herr,Herrn Mrs=Frau this=heute last=letzte next=nächste every=jede,jeden",
    "noun": "cup,cups=Tasse,Tassen glass,glasses=Glas,Gläser ticket,tickets=Fahrkarte,Fahrkarten "
    "euros=Euro years=Jahre o'clock=Uhr",
    "verb": "know,knows=weiß,weißt,wissen think,thinks=glaube,glaubt say,says,tell=sagt,sagen "
    "hope,hopes=hoffe,hofft,hoffen cost,costs=kostet be=liegt,liegen,steht,stehen "
    "have=hatte,hattest,hatten",
    "helper": "do,does,did=",
    "infinitive": "to=um,zu",
    "preposition": "in,from,front,of,at,by,with,to,for,on,under,next=in,aus,an,auf,mit,nach,neben,"
    "um,unter,vor,zu,am,beim,im,ins,zum",
}
_DETERMINERS = (("the", "der"), ("which", "welcher"), ("a", "ein"), ("a", "kein"))
_MODALS = {
    "can": "can cannot",
    "will": "will",
    "want": "want wants",
    "would like": "would",
    "have to": "",  # what "have" means, the next word tells
}
_NEGATION = re.compile("nicht|kein(e|en|em|er)?")
_CONTRACTIONS = frozenset({"am", "beim", "im", "ins", "zum"})
# Determiners before these words only.
_DETERMINER_BEFORE = {
    "Frau": tuple(name.split()[-1] for name in lexicon.NAMED if " " in name),
    "heute": ("Abend", "Morgen"),
    "next": ("week",),
}
# A word is the first of these that it can be where it stands.
_PARTS_OF_SPEECH = (
    *("particle", "auxiliary", "infinitive", "determiner", "adjective", "noun", "pronoun"),
    *("verb", "helper", "adverb", "preposition"),
)
_MODIFIERS = frozenset({"determiner", "adjective", "preposition"})
# These translate nothing without the verb or noun that they belong to.
_DEPENDENT = frozenset({"particle", "auxiliary", "infinitive", "helper", "preposition"})

Links = set[tuple[int, int]]
Entries = dict[str, dict[str, frozenset[str]]]  # form: part of speech: what it may mean


@dataclasses.dataclass(frozen=True)
class GoldAlignment:
    """The links between the words of two sentences.

    Attributes:
        sure: Pairs of a source and a target word, both counted from 0, that every annotator
            would link.
        possible: These, and the pairs that a reasonable annotator might link.
    """

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def align_words(source: str, target: str) -> GoldAlignment:
    """Aligns the words of a phrasebook pair.

    Args:
        source: In English. Its words are what `split()` gives.
        target: In German.

    Returns:
        The links. A word that the phrasebook does not know has none.
    """
    aligner = _Aligner(_read(source, german=False), _read(target, german=True))
    aligner.link_negations()
    aligner.link_noun_phrases()
    aligner.link_verbs()
    aligner.link_infinitives()
    aligner.link_neighbors()
    return GoldAlignment(frozenset(aligner.sure), frozenset(aligner.sure | aligner.possible))


class _Dictionary:
    """English and German forms, with their meanings named in English."""

    def __init__(self) -> None:
        self.english: Entries = {}
        self.german: Entries = {}
        for part, lines in _FUNCTION_WORDS.items():
            for line in lines.split():
                english, german = line.replace(",", " ").split("=")
                self._add(part, english.split()[0], english, german)
        self._add_nouns()
        self._add_modifiers()
        self._add_verbs()
        for subject, (other, nominative, *cases) in lexicon.PERSONAL.items():
            self._add("pronoun", subject, subject, nominative)
            self._add("pronoun", other, other, " ".join(cases))

    def _add(self, part: str, meaning: str, english: str, german: str) -> None:
        for entries, forms in ((self.english, english), (self.german, german)):
            for form in forms.split():
                parts = entries.setdefault(form, {})
                parts[part] = parts.get(part, frozenset()) | {meaning}

    def _add_nouns(self) -> None:
        tables = (lexicon.THINGS, lexicon.DRINKS, lexicon.RELATIVES, lexicon.PEOPLE)
        for noun in (noun for table in tables for noun in table.values()):
            plural = f"{noun.german_plural} {noun.german_plural}n" if noun.german_plural else ""
            german = f"{noun.german} {noun.oblique or ''} {plural}"
            self._add("noun", noun.english, f"{noun.english} {noun.english_plural}", german)
        phrases = [
            *((subject.english, subject.german) for subject in lexicon.NOUN_SUBJECTS),
            *lexicon.CITIES.items(),
            *((where, wo) for _, where, wo in lexicon.PLACES.values()),
            *((units, einheiten) for *_, units, einheiten in lexicon.DURATIONS),
            *itertools.chain(*lexicon.TIMES.values(), lexicon.HABIT_TIMES, lexicon.FREQUENCIES),
        ]
        for english, german in phrases:
            word, wort = english.split()[-1].removesuffix("'s"), german.split()[-1]
            if "noun" not in self.english.get(word, {}):
                self._add("noun" if wort[0].isupper() else "adverb", word, word, wort)

    def _add_modifiers(self) -> None:
        for adjective, german in (*lexicon.ADJECTIVES.items(), *lexicon.FEELINGS.items()):
            endings = [inflect(german, ending) for ending in ("e", "er", "es", "en", "em")]
            self._add("adjective", adjective, adjective, " ".join([german, *endings]))
        for more, mehr in lexicon.COMPARATIVES.values():
            self._add("adjective", more, more.split()[-1], mehr)
        nouns = [lexicon.THINGS[name] for name in ("coat", "bag", "book")]  # one of each gender
        determiners = (*_DETERMINERS, *lexicon.POSSESSIVES.items())
        for (english, stem), noun, case, plural in itertools.product(
            determiners, nouns, get_args(lexicon.Case), (False, True)
        ):
            german = german_noun_phrase(noun, case, stem, plural=plural).split()[0]
            self._add("determiner", english, english, german)
        self._add("determiner", "a", "an", "")

    def _add_verbs(self) -> None:
        tables = (*lexicon.TRANSITIVE, *lexicon.DITRANSITIVE)
        people = (*lexicon.WITH_ACCUSATIVE, *lexicon.WITH_DATIVE, *lexicon.WITH_PREPOSITION)
        others = [value for value in vars(lexicon).values() if isinstance(value, lexicon.Verb)]
        for verb in (*(verb for verb, _ in tables), *people, *others):
            english = [form.split()[0] for form in (verb.base, verb.third, verb.past)]
            forms = (verb.infinitive, verb.first, verb.second, verb.third_german)
            joined = [verb.prefix + form for form in forms]
            zu = with_zu(verb).split()[-1]  # "abzuholen", or the infinitive again
            german = " ".join((*forms, *joined, zu, verb.participle, verb.imperative))
            self._add("verb", verb.base, " ".join(english), german)
            self._add("particle", verb.base, verb.base.partition(" ")[2], verb.prefix)
            self._add("participle", verb.base, "", verb.participle)
        for subject in lexicon.PRONOUN_SUBJECTS:
            for past in (False, True):
                self._add("verb", "be", *to_be(subject, past))
            for verb in (lexicon.GO, lexicon.DRINK):
                finite = german_clause(subject, verb, "past", ()).split()[1]
                self._add("auxiliary", verb.auxiliary, "", finite)
            for modal, english_forms in _MODALS.items():
                finite = german_clause(subject, lexicon.GO, modal, ()).split()[1]
                self._add("verb", modal, english_forms, finite)
        self._add("particle", "would like", "like", "")


@functools.cache
def _dictionary() -> _Dictionary:
    return _Dictionary()


@dataclasses.dataclass
class _Word:
    """A word as it is used in a sentence.

    Attributes:
        form: Without punctuation, and a first word without its capital.
        clause: The number of commas before it.
        part: Part of speech; "" if the word is unknown.
        meanings: What it may mean; words that share a meaning may translate one another.
        head: Position of the noun that a modifier belongs to, or of the verb of a particle.
    """

    form: str
    clause: int
    part: str = ""
    meanings: frozenset[str] = frozenset()
    head: int | None = None


def _read(text: str, german: bool) -> list[_Word]:
    """The words of a sentence, with what each may mean where it stands."""
    entries = _dictionary().german if german else _dictionary().english
    words: list[_Word] = []
    clause = 0
    for token in text.split():
        form = token.strip(".,?!").removesuffix("'s")
        words.append(_Word(form if words or form.lower() not in entries else form.lower(), clause))
        clause += token.endswith(",")
    for index in range(len(words)):
        _tag(words, index, entries, german)
    noun = None
    for index in reversed(range(len(words))):
        if words[index].part in _MODIFIERS:
            words[index].head = noun
        else:
            noun = index if words[index].part in ("noun", "pronoun") else None
    return words


def _tag(words: list[_Word], index: int, entries: Entries, german: bool) -> None:
    """Decides what a word is, when those before it are decided."""
    word, form = words[index], words[index].form
    before = words[index - 1] if index else _Word("", 0)
    after = words[index + 1].form if index + 1 < len(words) else ""
    known, coming = entries.get(form, {}), entries.get(after, {})
    if form[:1].isdigit():
        known = {"noun" if ":" in form else "determiner": frozenset({form})}
    clause = [other for other in words if other.clause == word.clause]
    verb = _verb_of_particle(words, index, known.get("particle", frozenset()), german)
    allowed = {
        "particle": verb is not None,
        "auxiliary": any("participle" in entries.get(w.form, {}) for w in clause if w is not word),
        "infinitive": before.clause < word.clause if form == "um" else "verb" in coming,
        # "her coat", but "her a coat".
        "determiner": after in _DETERMINER_BEFORE.get(form, (after,))
        and ("pronoun" not in known or "noun" in coming or "adjective" in coming),
    }
    parts = [part for part in _PARTS_OF_SPEECH if part in known and allowed.get(part, True)]
    word.part = parts[0] if parts else ""
    word.meanings = known.get(word.part, frozenset())
    if word.part == "particle":
        word.head = verb
    elif form in ("have", "has") and after == "to":
        word.meanings = frozenset({"have to"})
    elif form in ("like", "likes") and after == "to":
        word.part, word.meanings = "adverb", frozenset({"gladly"})
    elif form == "Uhr":
        word.meanings = frozenset({"o'clock" if before.form[:1].isdigit() else "watch"})


def _verb_of_particle(
    words: list[_Word], index: int, meanings: frozenset[str], german: bool
) -> int | None:
    """Position of the verb that a word would be a particle of, or None."""
    start = max(0, index - 2)  # "pick me up"
    if german:  # "lade ein Kind ein": the prefix is the last word
        clauses = [word.clause for word in words]
        start = clauses.index(words[index].clause)
        if words[index].clause in clauses[index + 1 :]:
            return None
    elif words[index].form == "like":
        start = 0  # "would my father like"
    elif index and words[index - 1].part == "particle":
        return None  # "turn it off on Monday"
    for host in range(start, index):
        if words[host].part == "verb" and words[host].meanings & meanings:
            return host
    return None


class _Aligner:
    """Links the words of two sentences.

    Attributes:
        english: The words of one.
        german: The words of the other.
        pairs: For an English word the German word that shares a meaning with it.
        sure: The sure links.
        possible: Links that are at least possible.
    """

    def __init__(self, english: list[_Word], german: list[_Word]) -> None:
        self.english = english
        self.german = german
        self.pairs: dict[int, int] = {}
        for i, word in enumerate(english):
            # What comes twice comes in the same order in both languages.
            for j, other in enumerate(german):
                free = j not in self.pairs.values() and word.head is other.head is None
                independent = not {word.part, other.part} & _DEPENDENT
                if free and independent and word.meanings & other.meanings:
                    self.pairs[i] = j
                    break
        self.sure: Links = set(self.pairs.items())
        self.possible: Links = set()

    def link_negations(self) -> None:
        """Links `not` with `nicht` or `kein`."""
        nots = [i for i, word in enumerate(self.english) if word.form in ("not", "cannot")]
        nichts = [j for j, word in enumerate(self.german) if _NEGATION.fullmatch(word.form)]
        self.sure |= set(zip(nots, nichts, strict=False))

    def link_noun_phrases(self) -> None:
        """Links what stands before a noun or pronoun with what stands before its counterpart."""
        for i, j in self.pairs.items():
            before = _dependents(self.english, i, _MODIFIERS)
            davor = _dependents(self.german, j, _MODIFIERS)
            self.sure |= {(k, m) for k in before for m in davor if self._same_role(k, m)}
            if self.english[i].form == "home":
                self.sure |= {(i, m) for m in davor}
            linked, verbunden = {k for k, _ in self.sure}, {m for _, m in self.sure}
            self.possible |= {(k, m) for k in before if k not in linked for m in (*davor, j)}
            self.possible |= {(k, m) for m in davor if m not in verbunden for k in (*before, i)}

    def _same_role(self, i: int, j: int) -> bool:
        word, other = self.english[i], self.german[j]
        if other.form in _CONTRACTIONS and word.form == "the":
            return True
        if word.part == other.part == "preposition":
            return True  # which one, the verb or the noun decides
        return bool(word.meanings & other.meanings)

    def link_verbs(self) -> None:
        """Links helpers and auxiliaries, particles and prefixes of the verbs that are paired."""
        helper = None
        for i, word in enumerate(self.english):
            if word.part == "helper":
                helper = i
            if word.part != "verb" or i not in self.pairs:
                continue
            j = self.pairs[i]
            particles = _dependents(self.english, i, {"particle"})
            prefixes = _dependents(self.german, j, {"particle"})
            self.sure |= {(k, m) for k in particles or [i] for m in prefixes}
            self.sure |= {(k, j) for k in particles if not prefixes}
            self.possible |= {(k, m) for k in (i, *particles) for m in (j, *prefixes)}
            auxiliaries = {
                m
                for m, other in enumerate(self.german)
                if other.part == "auxiliary" and other.clause == self.german[j].clause
            }
            self.sure |= {(i if helper is None else helper, m) for m in auxiliaries}
            self.possible |= {(k, m) for k in (i, *particles) for m in auxiliaries}
            if helper is not None and not auxiliaries:
                self.possible.add((helper, j))
            helper = None

    def link_infinitives(self) -> None:
        """Links `to` before a verb, by what it depends on: a modal, `like`, or a purpose."""
        um = [j for j, w in enumerate(self.german) if (w.form, w.part) == ("um", "infinitive")]
        for i, word in enumerate(self.english):
            j = self.pairs.get(i + 1)
            if word.part != "infinitive" or j is None:
                continue
            if j and self.german[j - 1].form == "zu":
                self.sure.add((i, j - 1))
            else:
                self.possible.add((i, j))
            if um and um[0] < j:
                self.sure.add((i, um.pop(0)))
            governor = self.english[i - 1] if i else word
            if governor.part == "verb" or governor.meanings & {"gladly", "would like"}:
                self.possible |= {(i, m) for k, m in self.sure if k == i - 1}
            if "gladly" in governor.meanings:
                self.possible.add((i - 1, j))

    def link_neighbors(self) -> None:
        """Links what can only go with the counterpart of a neighbor."""
        for i, word in enumerate(self.english):
            left, right = self.pairs.get(i - 1), self.pairs.get(i + 1)
            if word.form == "more" and right is not None:
                self.sure.add((i, right))
            if word.form == "of" and left is not None:
                self.possible.add((i, left))
            if word.part == "preposition" and word.head is None and right is not None:
                self.possible.add((i, right))  # "on Sundays", one word in German
            if word.form == "there":
                self.possible |= {(i, j) for j in (left, right) if j is not None}
        for i, j in self.pairs.items():
            if ":" in self.english[i].form and [w.form for w in self.german[j + 1 : j + 2]] == [
                "Uhr"
            ]:
                self.possible.add((i, j + 1))


def _dependents(words: list[_Word], head: int, parts: frozenset[str] | set[str]) -> list[int]:
    return [k for k, word in enumerate(words) if word.head == head and word.part in parts]
