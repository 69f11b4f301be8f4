"""Rare words in short sentences: a dictionary alone does not teach a model to use its words.

From the words of a dictionary file, those are taken that occur in English text, but are rare in the
training pairs. Nouns get their German article from German text, compounds that of their last part.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

Pair = tuple[str, str]

MIN_USED = 3
"""A word is used if it occurs in at least this many English sentences."""
MAX_TRAINED = 40
"""A word is rare if it occurs in fewer training pairs than this."""

_ENGLISH = re.compile(r"[a-z]+(?:[ -][a-z]+)?")
_NOUN = re.compile(r"[A-ZÄÖÜ][a-zäöüß]{2,}")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_WITH_ARTICLE = re.compile(r"\b([Dd](?:er|ie|as|en)|[Ee]in(?:e|en|er)?) ([A-ZÄÖÜ][a-zäöüß]{2,})\b")
# How much an article says for masculine, feminine and neuter.
_EVIDENCE = {
    "der": (1, 1, 0),
    "die": (0, 1, 0),
    "das": (0, 0, 3),
    "den": (2, 0, 0),
    "ein": (1, 0, 1),
    "eine": (0, 3, 0),
    "einen": (3, 0, 0),
    "einer": (0, 1, 0),
}
_ENDINGS = {
    **dict.fromkeys(("ung", "heit", "keit", "schaft", "tion", "tät", "enz", "erei"), "f"),
    **dict.fromkeys(("chen", "lein", "ment"), "n"),
    **dict.fromkeys(("ismus", "ling"), "m"),
}
# The accusative of these masculine nouns has another ending: Löwe, Löwen.
_WEAK = re.compile(r"(?:e|ent|ant|ist|at|oge|graf|nom)$")
_ADJECTIVE = re.compile(
    r"^[a-zäöüß]+(?:ig|lich|isch|sam|bar|los|haft|end|iv|al|ell|ant|ent|är|voll|reich)$"
)
_FORMS = {
    # the, the (accusative), a, a (accusative), this, new (after a, accusative), my
    "m": ("der", "den", "ein", "einen", "dieser", "neuen", "mein"),
    "f": ("die", "die", "eine", "eine", "diese", "neue", "meine"),
    "n": ("das", "das", "ein", "ein", "dieses", "neues", "mein"),
}
NOUNS: tuple[Pair, ...] = (
    ("Where is the {n}?", "Wo ist {the} {N}?"),
    ("I can't find the {n}.", "Ich kann {the4} {N} nicht finden."),
    ("The {n} is over there.", "{the} {N} ist da drüben."),
    ("Do you have a {n}?", "Haben Sie {a4} {N}?"),
    ("I need a {n}.", "Ich brauche {a4} {N}."),
    ("We saw a {n} yesterday.", "Wir haben gestern {a4} {N} gesehen."),
    ("He bought a new {n}.", "Er hat {a4} {new} {N} gekauft."),
    ("This {n} is not mine.", "{this} {N} gehört mir nicht."),
    ("They talked about the {n}.", "Sie sprachen über {the4} {N}."),
    ("Is that my {n}?", "Ist das {my} {N}?"),
    ("The {n} that I saw was old.", "{the} {N}, {the4} ich gesehen habe, war alt."),
    ("There was a {n} and nothing else.", "Da war {a} {N} und sonst nichts."),
)
VERBS: tuple[Pair, ...] = (
    ("I want to {v}.", "Ich will {V}."),
    ("Can you {v}?", "Kannst du {V}?"),
    ("She doesn't have to {v}.", "Sie muss nicht {V}."),
    ("We should {v} it.", "Wir sollten es {V}."),
    ("He will {v} tomorrow.", "Er wird morgen {V}."),
    ("You must not {v} here.", "Du darfst hier nicht {V}."),
)
ADJECTIVES: tuple[Pair, ...] = (
    ("It is very {a}.", "Es ist sehr {A}."),
    ("That's not {a}.", "Das ist nicht {A}."),
    ("I think it was {a}.", "Ich glaube, es war {A}."),
    ("Why is it so {a}?", "Warum ist es so {A}?"),
)


def find_genders(sentences: Iterable[str]) -> dict[str, str]:
    """Returns the gender of nouns (`m`, `f` or `n`), from the articles before them in German."""
    seen: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for sentence in sentences:
        for article, noun in _WITH_ARTICLE.findall(sentence):
            for index, points in enumerate(_EVIDENCE[article.lower()]):
                seen[noun][index] += points
    genders = {}
    for noun, evidence in seen.items():
        if max(evidence) >= 3 and max(evidence) > 0.6 * sum(evidence):
            genders[noun] = "mfn"[evidence.index(max(evidence))]
    return genders


def gender_of(noun: str, genders: Mapping[str, str]) -> str | None:
    """Returns the gender of a noun, or that of its last part or ending; None if unknown."""
    for begin in range(len(noun) - 2):
        part = noun[begin:].capitalize()
        if part in genders and (begin == 0 or len(part) > 3):
            return genders[part]
    return next((gender for end, gender in _ENDINGS.items() if noun.endswith(end)), None)


def rare_words(
    dictionary: Iterable[Pair], pairs: Iterable[Pair], english: Iterable[str], german: list[str]
) -> Iterator[Pair]:
    """Yields dictionary pairs whose English word is used, but rare in the training pairs.

    Of several translations the one is taken that is most frequent in German text.

    Args:
        dictionary: English words, and verbs with `to`, and their translations.
        pairs: The training pairs.
        english: English text.
        german: German text.
    """
    trained = Counter(word for source, _ in pairs for word in set(_WORD.findall(source.lower())))
    used = Counter(word for text in english for word in set(_WORD.findall(text.lower())))
    frequency = Counter(word for text in german for word in _WORD.findall(text))
    translations: dict[str, list[str]] = defaultdict(list)
    for word, translation in dictionary:
        word = re.sub(r"^an? ", "", word)
        bare = word.removeprefix("to ")
        parts = bare.split()
        if not _ENGLISH.fullmatch(bare) or not all(used[part] >= MIN_USED for part in parts):
            continue
        is_rare = min(trained[part] for part in parts) < MAX_TRAINED
        if is_rare and re.fullmatch(r"[^\W\d_]+", translation):
            translations[word].append(translation)
    for word, found in translations.items():
        yield word, max(found, key=frequency.__getitem__)


def word_pairs(
    words: Iterable[Pair], genders: Mapping[str, str], per_word: int = 4, seed: int = 0
) -> Iterator[Pair]:
    """Yields sentences with words.

    Args:
        words: English words, and verbs with `to`, and their translations.
        genders: What `find_genders` returned.
        per_word: Number of sentences for each word; an expression of two words gets one.
        seed: Seed of the choice of sentences.
    """
    draw = random.Random(seed)
    for word, translation in words:
        if re.match("to (?!be )", word) and translation.islower() and translation.endswith("n"):
            values = {"v": word[3:], "V": translation}
            templates = VERBS
        elif word.startswith("to "):
            continue
        elif _ADJECTIVE.search(translation) and not word.endswith("ly") and " " not in word:
            values, templates = {"a": word, "A": translation}, ADJECTIVES
        elif _NOUN.fullmatch(translation):
            gender = gender_of(translation, genders)
            is_weak = gender == "m" and _WEAK.search(translation) is not None
            if gender is None or is_weak or (word.endswith("s") and not word.endswith("ss")):
                continue
            names = ("the", "the4", "a", "a4", "this", "new", "my")
            values = {"n": word, "N": translation, **dict(zip(names, _FORMS[gender], strict=True))}
            templates = NOUNS
        else:
            continue
        is_one_word = len(word.removeprefix("to ").split()) == 1
        for source, target in draw.sample(templates, per_word if is_one_word else 1):
            source, target = source.format(**values), target.format(**values)
            # By letter, not by sound. u is left out because of "a university".
            source = re.sub(r"\ba (?=[aeio])", "an ", source)
            yield source[0].upper() + source[1:], target[0].upper() + target[1:]
