"""Pairs that Tatoeba lacks, for training the translators in `checkpoints`.

Eight files were written for this project. `phrases.tsv` has what people type first, most of it
without a full stop: greetings, wishes and single words. `expressions.tsv` has idioms, requests and
errands. `sentences.tsv` has sentences of daily life, and `careless.tsv` further ones with typing
mistakes in the English. `spanish.tsv` has Spanish instead of German. `written.tsv` has sentences of
news, encyclopedias, instructions and letters, `vocabulary.tsv` sentences around English words that
hardly any training pair has, `idioms.tsv` sentences that cannot be translated word for word. These
three and `phrases.tsv` have all three languages.

`value_pairs` makes pairs with values: clock times and numbers in words, dates, prices, years and
names, often several in one sentence. No sentence of `examples/challenge.tsv` is among all these.
`tools.everyday.words` puts the rare words of a dictionary into sentences.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from tools.everyday.templates import (
    CITIES,
    MONTHS,
    NAMES,
    NUMBERS,
    ORDINALS,
    TEMPLATES,
    TENS,
    WEEKDAYS,
)

__all__ = ["WRITTEN_FILES", "number_in_words", "value_pairs", "written_pairs"]

WRITTEN_FILES = (
    *("phrases", "expressions", "sentences", "careless", "written", "vocabulary", "idioms"),
    *("phrases_spanish", "spanish", "written_spanish", "vocabulary_spanish", "idioms_spanish"),
)

Pair = tuple[str, str]

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnprstvwz"


def written_pairs(name: str) -> list[Pair]:
    """Returns the pairs of a name of `WRITTEN_FILES`; `_spanish` is the third column of a file."""
    file, column = name.removesuffix("_spanish"), 2 if name.endswith("_spanish") else 1
    lines = (Path(__file__).parent / f"{file}.tsv").read_text(encoding="utf-8").splitlines()
    return [(line.split("\t")[0], line.split("\t")[column]) for line in lines]


def value_pairs(num_draws: int, seed: int = 0) -> Iterator[Pair]:
    """Yields distinct pairs with random values.

    Args:
        num_draws: Number of draws, spread evenly over the templates. Repeated pairs are left out.
        seed: Seed of the values.
    """
    draw = random.Random(seed)
    seen: set[Pair] = set()
    for number in range(num_draws):
        source, target = TEMPLATES[number % len(TEMPLATES)]
        values = {
            place: _value(place.rstrip("0123456789"), draw)
            for place in sorted(set(re.findall(r"\{(\w+)\}", source)))
        }
        pair = (
            source.format(**{place: value[0] for place, value in values.items()}),
            target.format(**{place: value[1] for place, value in values.items()}),
        )
        # "Come at 3 p.m." ends with one full stop.
        source, target = (side[0].upper() + side[1:].replace("m..", "m.") for side in pair)
        pair = source, target
        if pair not in seen:
            seen.add(pair)
            yield pair


def _value(kind: str, draw: random.Random) -> Pair:
    """Returns a value as it is written in English and in German."""
    if kind == "clock":  # half past three
        return _clock(draw)
    if kind == "time":  # 17:42
        time = f"{draw.randint(0, 23)}:{draw.randrange(60):02}"
        return time, f"{time} Uhr"
    if kind == "ampm":  # 3 p.m.
        hour, minute = draw.randint(1, 12), draw.choice(("", "", ":15", ":30", ":45"))
        half_day = draw.choice("ap")
        spelt = draw.choice((f" {half_day}.m.", f" {half_day}m", f"{half_day}m"))
        return f"{hour}{minute}{spelt}", f"{hour % 12 + 12 * (half_day == 'p')}{minute} Uhr"
    if kind in ("date", "day"):  # with a year, without
        return _date(draw, year=kind == "date")
    if kind == "money":  # $19.99
        return _money(draw)
    if kind == "amount":  # 1,250
        amount = f"{draw.randint(11, 99_999):,}"
        return amount, amount.replace(",", ".")
    if kind == "small":
        return (str(draw.randint(11, 99)),) * 2
    if kind == "decimal":
        decimal = f"{draw.randint(1, 99)}.{draw.randint(1, 9)}"
        return decimal, decimal.replace(".", ",")
    if kind == "year":
        return (str(draw.randint(1750, 2049)),) * 2
    if kind == "name":
        return (draw.choice(NAMES) if draw.random() < 0.4 else _invented(draw),) * 2
    if kind == "surname":
        return (_invented(draw),) * 2
    if kind == "city":
        return draw.choice(CITIES) if draw.random() < 0.6 else (_invented(draw),) * 2
    if kind == "weekday":
        return draw.choice(WEEKDAYS)
    if kind == "number":  # two to twelve, in words
        return NUMBERS[draw.randint(2, 12)]
    if kind == "words":  # larger ones
        return number_in_words(draw.choice((draw.randint(13, 19), *[draw.randint(20, 99)] * 3)))
    if kind == "ordinal":  # without the German ending
        return _ordinal(draw.choice((draw.randint(1, 12), draw.randint(13, 99))))
    raise ValueError(f"unknown kind of value: {kind}")


def number_in_words(number: int) -> Pair:
    """Returns a number from 0 to 99 in English and in German words."""
    if number < len(NUMBERS):
        return NUMBERS[number]
    (english, german), (one, eins) = TENS[number // 10 - 2], NUMBERS[number % 10]
    if number % 10 == 0:
        return english, german
    return f"{english}-{one}", f"{eins.removesuffix('s') if one == 'one' else eins}und{german}"


def _ordinal(number: int) -> Pair:
    if number in ORDINALS:
        return ORDINALS[number]
    english, german = number_in_words(number)
    if number < len(NUMBERS):
        return f"{english}th", f"{german}t"
    tens, _, one = english.partition("-")
    if one:
        return f"{tens}-{_ordinal(number % 10)[0]}", f"{german}st"
    return f"{english.removesuffix('y')}ieth", f"{german}st"


def _clock(draw: random.Random) -> Pair:
    hour = draw.randint(1, 12)
    this_hour, next_hour = NUMBERS[hour], NUMBERS[hour % 12 + 1]
    kind = draw.choice(("half", "half", "quarter past", "quarter to", "past", "to", "full"))
    if kind == "half":
        return f"half past {this_hour[0]}", f"halb {next_hour[1]}"
    if kind == "full":
        return f"{this_hour[0]} o'clock", f"{'ein' if hour == 1 else this_hour[1]} Uhr"
    (english, german), preposition = (
        (next_hour, "vor") if kind.endswith("to") else (this_hour, "nach")
    )
    if "quarter" in kind:
        article = draw.choice(("a ", ""))
        return f"{article}{kind} {english}", f"Viertel {preposition} {german}"
    minutes = draw.choice((("five", "fünf"), ("ten", "zehn"), ("twenty", "zwanzig")))
    return f"{minutes[0]} {kind} {english}", f"{minutes[1]} {preposition} {german}"


def _date(draw: random.Random, year: bool) -> Pair:
    day, (month, german_month) = draw.randint(1, 28), draw.choice(MONTHS)
    ending = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}.get(day, "th")
    english = draw.choice(
        (
            f"{day} {month}",
            f"{month} {day}",
            f"{month} {day}{ending}",
            f"the {day}{ending} of {month}",
        )
    )
    german = f"{day}. {german_month}"
    if not year:
        return english, german
    the_year = draw.randint(1890, 2039)
    comma = "," if english.startswith(month) else ""
    return f"{english}{comma} {the_year}", f"{german} {the_year}"


def _money(draw: random.Random) -> Pair:
    cents = f".{draw.choice((50, 99, 95, 20, 75, draw.randint(1, 98))):02}"
    amount = f"{draw.randint(1, 999)}{cents if draw.random() < 0.7 else ''}"
    german = amount.replace(".", ",")
    return draw.choice(
        (
            (f"${amount}", f"{german} Dollar"),
            (f"£{amount}", f"{german} Pfund"),
            (f"€{amount}", f"{german} Euro"),
            (f"{amount} euros", f"{german} Euro"),
            (f"{amount} dollars", f"{german} Dollar"),
        )
    )


def _invented(draw: random.Random) -> str:
    syllables = range(draw.randint(2, 4))
    name = "".join(draw.choice(_CONSONANTS) + draw.choice(_VOWELS) for _ in syllables)
    return (name + draw.choice(("", "", "n", "r", "s", "k", "tz", "ski"))).capitalize()
