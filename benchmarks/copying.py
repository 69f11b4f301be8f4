"""Whether numbers, addresses and names survive a translation: the share that is copied exactly."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.everyday import number_in_words
from transformer_tf.config import load_saved_config
from transformer_tf.text.slots import Slots
from transformer_tf.translator import Translator

TEMPLATES: dict[str, tuple[str, ...]] = {
    "en": (
        "The ticket costs ${price}.",
        "I paid {price} euros for it.",
        "The bus leaves at {time}.",
        "The meeting is from {time} to {time}.",
        "He was born in {year}.",
        "The house was built in {year}.",
        "There are {count} people in the hall.",
        "We need {count} chairs.",
        "The train leaves from platform {small}.",
        "I live at number {small}.",
        "Please call me at {phone}.",
        "Write to {mail}, please.",
        "You will find it on {site}.",
        "My friend {name} is coming tomorrow.",
        "Mr. {name} is not here.",
        "I have never been to {name}.",
        "She met {name} in {name}.",
        "Have you seen {name}?",
        "He paid {price} dollars to {name} in {year}.",
        "The city of {name} has {count} inhabitants.",
    ),
    "de": (
        "Die Karte kostet {price} Euro.",
        "Ich habe {price} Dollar dafür bezahlt.",
        "Der Bus fährt um {time} Uhr ab.",
        "Er wurde {year} geboren.",
        "Das Haus wurde {year} gebaut.",
        "Im Saal sind {count} Menschen.",
        "Wir brauchen {count} Stühle.",
        "Der Zug fährt von Gleis {small} ab.",
        "Ich wohne in Nummer {small}.",
        "Bitte rufen Sie mich unter {phone} an.",
        "Schreiben Sie bitte an {mail}.",
        "Sie finden es auf {site}.",
        "Mein Freund {name} kommt morgen.",
        "Herr {name} ist nicht da.",
        "Ich war noch nie in {name}.",
        "Haben Sie {name} gesehen?",
    ),
}
# Larger numbers in words and half hours are translated, not copied.
IN_WORDS = (
    ("I bought {} stamps.", "Ich habe {} Briefmarken gekauft."),
    ("He waited {} days for the letter.", "Er hat {} Tage auf den Brief gewartet."),
    ("The village has {} houses.", "Das Dorf hat {} Häuser."),
    ("You have to pay {} pounds.", "Sie müssen {} Pfund bezahlen."),
    ("My aunt will be {} tomorrow.", "Meine Tante wird morgen {}."),
)
HALF_HOURS = (
    ("The supermarket closes at {}.", "Der Supermarkt schließt um {}."),
    ("I'll pick you up at {}.", "Ich hole dich um {} ab."),
    ("We'll meet at {} in front of the cinema.", "Wir treffen uns um {} vor dem Kino."),
)
_SYLLABLES = (
    *("ba", "do", "fi", "ga", "ho", "ki", "lu", "ma", "no", "pe", "ra", "si", "ta", "ul", "vo"),
    *("za", "len", "mar", "tin", "gor", "dal", "wick", "stad"),
)


def make_sentences(
    language: str, count: int, seed: int = 0
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yields sentences with random values.

    Args:
        language: `en` or `de`.
        count: Number of sentences.
        seed: Seed of the values.

    Yields:
        A sentence, and the kind and the text of each value in it.
    """
    draw = random.Random(seed)

    def name() -> str:
        return "".join(draw.choice(_SYLLABLES) for _ in range(draw.randint(2, 3))).capitalize()

    def value(kind: str) -> str:
        number = draw.randint(1000, 99_999)
        count, price = f"{number:,}", f"{draw.randint(10, 999)}.{draw.randint(1, 99):02}"
        if language == "de":
            count, price = count.replace(",", "."), price.replace(".", ",")
        values = {
            "price": price,
            "count": count,
            "time": f"{draw.randint(10, 23)}:{draw.randint(1, 59):02}",
            "year": str(draw.randint(1200, 2100)),
            "small": str(draw.randint(11, 99)),
            "phone": f"0{draw.randint(100, 999)} {draw.randint(10_000, 9_999_999)}",
            "mail": f"{name().lower()}@{name().lower()}.com",
            "site": f"www.{name().lower()}.org",
            "name": name(),
        }
        return values[kind]

    for number in range(count):
        template = TEMPLATES[language][number % len(TEMPLATES[language])]
        values: list[tuple[str, str]] = []

        def fill_in(place: re.Match[str], values: list[tuple[str, str]] = values) -> str:
            values.append((place[1], value(place[1])))
            return values[-1][1]

        yield re.sub(r"\{(\w+)\}", fill_in, template), values


def measure_copying(folder: Path, count: int, beam_size: int) -> Iterator[dict[str, Any]]:
    """Translates generated sentences and counts the values that are copied exactly.

    Args:
        folder: A checkpoint from English or German.
        count: Number of sentences.
        beam_size: Number of hypotheses of the search.

    Yields:
        For each kind of value, then for all: how many there are, and the share copied exactly,
        with the decimal and thousands marks of the target language. Between English and German,
        also the shares of numbers in words and of half hours that are translated rightly.
    """
    data = load_saved_config(folder / "config.yaml").data
    convert = Slots(data.source_language, data.target_language).convert
    sentences, values = zip(*make_sentences(data.source_language, count), strict=True)
    translator = Translator.load(folder)
    translations = translator.translate(list(sentences), beam_size=beam_size)
    copied: dict[str, list[bool]] = {}
    for translation, found in zip(translations, values, strict=True):
        for kind, text in found:
            pattern = rf"(?<![\w]){re.escape(convert(text))}(?!\d)"
            copied.setdefault(kind, []).append(re.search(pattern, translation) is not None)
    copied["all"] = [each for kind in copied.values() for each in kind]
    for kind, results in copied.items():
        yield {"value": kind, "number": len(results), "copied": sum(results) / len(results)}
    if {data.source_language, data.target_language} == {"en", "de"}:
        from_german = data.source_language == "de"
        yield measure_words(translator, from_german, beam_size)
        yield measure_half_hours(translator, from_german, beam_size)


def measure_words(translator: Translator, from_german: bool, beam_size: int) -> dict[str, Any]:
    """Counts the numbers from 13 to 99 that are right in words, each in one of five sentences."""
    asked = [
        (IN_WORDS[number % len(IN_WORDS)], number_in_words(number), str(number))
        for number in range(13, 100)
    ]
    return {"value": "in words", **_count_right(translator, from_german, beam_size, asked)}


def measure_half_hours(translator: Translator, from_german: bool, beam_size: int) -> dict[str, Any]:
    """Counts the half hours that are right, each of the twelve in three sentences."""
    asked = []
    for hour in range(1, 13):
        this, following = number_in_words(hour), number_in_words(hour % 12 + 1)
        words = f"half past {this[0]}", f"halb {following[1]}"
        asked += [(patterns, words, f"{hour}:30") for patterns in HALF_HOURS]
    return {"value": "half hours", **_count_right(translator, from_german, beam_size, asked)}


def _count_right(
    translator: Translator,
    from_german: bool,
    beam_size: int,
    asked: list[tuple[tuple[str, str], tuple[str, str], str]],
) -> dict[str, Any]:
    """Translates sentences, and counts the translations that have the value.

    Args:
        translator: Translates between English and German.
        from_german: The direction.
        beam_size: Number of hypotheses of the search.
        asked: For each sentence its English and German pattern, the value in the words of both
            languages, and the value in digits, which is right, too.
    """
    sentences = [patterns[from_german].format(words[from_german]) for patterns, words, _ in asked]
    translations = translator.translate(sentences, beam_size=beam_size)
    right = sum(
        re.search(rf"\b({words[not from_german]}|{digits})(?![\w-])", translation) is not None
        for translation, (_, words, digits) in zip(translations, asked, strict=True)
    )
    return {"number": len(asked), "copied": right / len(asked)}
