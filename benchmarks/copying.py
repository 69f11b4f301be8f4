"""Whether values survive a translation: times, money, dates, names, and numbers in words.

`values.txt` has the sentences, which nobody wrote the training data for or from. A value is right
if the translation has it in one of the ways in which the target language writes it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tools.everyday import number_in_words
from transformer_tf.config import load_saved_config
from transformer_tf.errors import ConfigError
from transformer_tf.translator import Translator

PATTERNS = Path(__file__).with_name("values.txt")
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
_SURNAMES = {
    "en": ("Smith", "Baker", "Miller", "Johnson", "Young", "Papadopoulos", "Brown", "Kowalski"),
    "de": ("Schmidt", "Müller", "Weber", "Fischer", "Wagner", "Klein", "Papadopoulos"),
}
_NAMES = ("Zoë", "Dvořák", "Škoda", "Łódź", "Pokémon", "H&M", "AT&T", "R2-D2", "São Paulo", "Çeşme")
_EMOJI = ("😀", "🎉", "👍🏽", "❤️", "👋")
_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "es": "enero febrero marzo abril mayo junio julio agosto "
    "septiembre octubre noviembre diciembre",
}
_CURRENCIES = {  # symbol: how each language may write it
    "$": {"de": r"(US-)?Dollar|\$", "es": r"dólar(es)?|\$", "en": r"\$|dollars?"},
    "£": {"de": "Pfund|£", "es": "libras?|£", "en": "£|pounds?"},
    "€": {"de": "Euro|€", "es": "euros?|€", "en": "€|euros?"},
    "¥": {"de": "Yen|¥", "es": "yen(es)?|¥", "en": "¥|yen"},
    "₹": {"de": "(indische )?Rupien?|₹", "es": "rupias?|₹", "en": "₹|rupees?"},
    "CHF": {"de": "(Schweizer )?Franken|CHF", "es": "francos?|CHF", "en": "CHF|(Swiss )?francs?"},
}
_UNITS = {  # symbol: the words for it, besides the symbol
    "km": {"de": "Kilometer", "es": "kilómetros?", "en": "kilomet(er|re)s?"},
    "m": {"de": "Meter", "es": "metros?", "en": "met(er|re)s?"},
    "cm": {"de": "Zentimeter", "es": "centímetros?", "en": "centimet(er|re)s?"},
    "kg": {"de": "Kilo(gramm)?", "es": "kilo(gramo)?s?", "en": "kilo(gram)?s?"},
    "g": {"de": "Gramm", "es": "gramos?", "en": "grams?"},
    "mg": {"de": "Milligramm", "es": "miligramos?", "en": "milligrams?"},
    "l": {"de": "Liter", "es": "litros?", "en": "lit(er|re)s?"},
    "ml": {"de": "Milliliter", "es": "mililitros?", "en": "millilit(er|re)s?"},
    "km/h": {"de": "Stundenkilometer", "es": "kilómetros por hora", "en": "kph"},
    "MB": {"de": "Megabyte", "es": "megabytes", "en": "megabytes"},
}
_ORDINALS = {
    "en": "first second third fourth fifth sixth seventh eighth ninth tenth",
    "de": "erst zweit dritt viert fünft sechst siebt acht neunt zehnt",
    "es": "primer segund tercer? cuart quint sext séptim octav noven décim",
}
_NUMBERS = {
    "en": "two three four five six seven eight nine",
    "de": "zwei drei vier fünf sechs sieben acht neun",
    "es": "dos tres cuatro cinco seis siete ocho nueve",
}
_TITLES = {
    "en": {
        "Mr.": {"de": "Herrn?", "es": "señor"},
        "Mrs.": {"de": "Frau", "es": "señora"},
        "Ms.": {"de": "Frau", "es": "señora|señorita"},
        "Dr.": {"de": r"Dr\.|Doktor", "es": r"Dra?\.|doctora?"},
    },
    "de": {"Herr": {"en": r"Mr\.?"}, "Frau": {"en": r"M(r?s|iss)\.?"}, "Dr.": {"en": r"Dr\.?"}},
}


def time(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A time: 7:05 PM, 19:05 Uhr."""
    hour, minute = draw.randrange(24), draw.choice((0, *range(60)))
    if source == "de":
        hour = hour or 1
    hour12 = (hour - 1) % 12 + 1
    if source == "en":
        half = ("am", "pm")[hour >= 12]
        half = draw.choice((half, f" {half}", half.upper(), f" {half.upper()}", f" {half[0]}.m."))
        mark = draw.choice("::.") if "M" not in half else ":"
        text = (
            f"{hour12}{mark}{minute:02}{half}"
            if minute or draw.random() < 0.3
            else f"{hour12}{half}"
        )
    else:
        mark = draw.choice("::.")
        text = f"{hour}{mark}{minute:02} Uhr" if minute else f"{hour} Uhr"
    minutes = rf"[:.]{minute:02}" if minute else "([:.]00)?"
    if target == "de":
        return text, rf"0?{hour}{minutes}( Uhr)?" + ("|Mitternacht" if hour + minute == 0 else "")
    if target == "es":
        half = (
            r"(a\. ?m|de la (mañana|madrugada))" if hour < 12 else r"(p\. ?m|de la (tarde|noche))"
        )
        return text, rf"0?{hour12}{minutes} {half}|0?{hour}{minutes}( h| horas)?(?! [ap]\.)"
    half = r"(a\.?m|in the morning)" if hour < 12 else r"(p\.?m|in the (afternoon|evening))"
    words = number_in_words(hour12)[0]
    plain = rf"|{words} o'clock|{words}" if minute == 0 and 1 <= hour <= 12 else ""
    return text, rf"{hour12}{minutes} ?{half}|0?{hour}{minutes}(?! ?[ap]\.?m){plain}"


def money(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """An amount of money: $45.90, 1.200 €."""
    symbol = draw.choice(tuple(_CURRENCIES))
    words = _CURRENCIES[symbol][target]
    kind = draw.randrange(4)
    if kind == 3:
        number, scale = f"{draw.randint(2, 9)}.{draw.randint(1, 9)}", draw.randrange(2)
        many = {
            "en": ("million", "billion"),
            "de": ("Millionen", "Milliarden"),
            "es": ("millones", "mil millones"),
        }
        written = re.escape(_decimal(number, target)) + f" {many[target][scale]}( de)?"
        number = f"{_decimal(number, source)} {many[source][scale]}"
    else:
        digits = (
            f"{draw.randint(2, 999)}",
            f"{draw.randint(1000, 90000):,}",
            f"{draw.randint(3, 99)}.{draw.randint(10, 99)}",
        )[kind]
        number, written = _decimal(digits, source), re.escape(_decimal(digits, target))
    if source == "en":
        text = f"CHF {number}" if symbol == "CHF" else f"{symbol}{number}"
    else:
        text = f"{number} {symbol}"
    return text, rf"{written} ?({words})|({words}) ?{written}"


def measure(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A measure: 5 km, 2,5 kg."""
    unit = draw.choice(tuple(_UNITS))
    number = draw.choice((f"{draw.randint(2, 900)}", f"{draw.randint(1, 20)}.{draw.randint(1, 9)}"))
    space = draw.choice((" ", " ", ""))
    written = re.escape(_decimal(number, target))
    return (
        f"{_decimal(number, source)}{space}{unit}",
        rf"{written} ?({unit}|{_UNITS[unit][target]})",
    )


def degrees(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A temperature: -4 °C, 90°F."""
    number, unit = draw.randint(-20, 110), draw.choice(("C", "F", "C", ""))
    names = {"C": "Celsius|centígrados", "F": "Fahrenheit", "": ""}[unit]
    space = draw.choice(("", " "))
    word = {"en": "degrees?", "de": "Grad", "es": "grados?"}[target]
    sign = "([-−–]|minus |menos )" if number < 0 else "(?<![-−–])"
    unit_ = rf" ?(°|{word}) ?({unit}|{names})" if unit else rf" ?(°|{word})"
    return f"{number}{space}°{unit}", f"{sign}{abs(number)}{unit_}"


def percent(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A share: 5%, 3,5 %."""
    number = draw.choice((f"{draw.randint(1, 99)}", f"{draw.randint(1, 20)}.{draw.randint(1, 9)}"))
    word = {"en": "per ?cent", "de": "Prozent", "es": "por ciento"}[target]
    text = _decimal(number, source) + draw.choice(("%", " %" if source == "de" else "%"))
    return text, rf"{re.escape(_decimal(number, target))} ?(%|{word})"


def date(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A day: March 14th, 2024; 14.03.2024."""
    day, month, year = draw.randint(1, 28), draw.randrange(12), draw.randint(1850, 2040)
    name = _MONTHS[source].split()[month]
    with_year = draw.random() < 0.6
    if source == "de":
        text = f"{day}. {name}" + f" {year}" * with_year
        if with_year and draw.random() < 0.4:
            text = f"{day:02}.{month + 1:02}.{year}"
    else:
        nth = f"{day}{_suffix(day)}"
        text = draw.choice(
            (f"{name} {day}", f"{name} {nth}", f"{day} {name}", f"the {nth} of {name}")
        )
        text += (f", {year}" if text.startswith(name) else f" {year}") * with_year
    to = _MONTHS[target].split()[month]
    end = rf"((,| del?)? {year})" if with_year else ""
    if target == "en":
        return text, rf"{to} {day}(st|nd|rd|th)?{end}|{day}(st|nd|rd|th)? (of )?{to}{end}"
    joint = r"\. " if target == "de" else " de "
    numeric = rf"|0?{day}\.0?{month + 1}\.{year}" if with_year else ""
    return text, f"{day}{joint}{to}{end}{numeric}"


def ordinal(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """An ordinal number: 22nd."""
    number = draw.randint(1, 60)
    text = f"{number}{_suffix(number)}" if source == "en" else f"{number}."
    word = rf"|{_ORDINALS[target].split()[number - 1]}" if number <= 10 else ""
    if target == "en":
        return text, f"{number}{_suffix(number)}{word}"
    if target == "de":
        return text, rf"{number}\.{word}\w*"
    return text, rf"{number}(\.?[ºª°o]|\.er)?{word}(o|a|er)?"


def title(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A title and a name: Mrs. Smith."""
    title, name = draw.choice(tuple(_TITLES[source])), draw.choice(_SURNAMES[source])
    return f"{title} {name}", rf"({_TITLES[source][title][target]}) {name}"


def herrn(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A German title that is no subject: Herrn Schmidt."""
    text, pattern = title(draw, source, target)
    return text.replace("Herr ", "Herrn "), pattern


def number(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A number of two to five digits; from 10 000 with a mark."""
    value = draw.choice(
        (draw.randint(11, 99), draw.randint(100, 2050), draw.randint(10_000, 99_999))
    )
    text = f"{value:,}" if value >= 10_000 else str(value)
    return _decimal(text, source), re.escape(_decimal(text, target))


def digit(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A number of one digit; it may become a word."""
    value = draw.randint(2, 9)
    word = _NUMBERS[target].split()[value - 2]
    return str(value), f"({value}|{word}|{word.capitalize()})(mal)?"


def item(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A number of a room or seat: #12, Nr. 12."""
    value = draw.randint(1, 400)
    text = f"#{value}" if source == "en" else f"Nr. {value}"
    mark = {
        "en": r"#|[Nn]o\. |[Nn]umber ",
        "de": r"Nr\. ?|#|Nummer ",
        "es": r"n\.? ?[º°o]\.? ?|#|número ",
    }
    return text, rf"({mark[target]})?{value}"


def phone(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A telephone number."""
    shapes = (
        "+49 30 #######",
        "+1 555 ### ####",
        "+44 20 #### ####",
        "0### ######",
        "555-01##",
        "(0##) ###-####",
        "+34 6## ### ###",
        "030/#######",
    )
    text = re.sub("#", lambda _: str(draw.randint(1, 9)), draw.choice(shapes))
    return text, re.escape(text)


def fraction(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A fraction: ½, 1/2."""
    sign, text = draw.choice((("½", "1/2"), ("¼", "1/4"), ("¾", "3/4"), ("⅓", "1/3")))
    return draw.choice((sign, text)), f"({sign}|{text})"


def symbol(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A name with letters or signs that no training data has."""
    text = draw.choice(_NAMES)
    return text, re.escape(text)


def emoji(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A picture."""
    text = draw.choice(_EMOJI)
    return text, re.escape(text)


def web(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """A web or mail address."""
    word = "".join(draw.choice("bdfglmnprst") + draw.choice("aeiou") for _ in range(3))
    text = draw.choice(
        (
            f"www.{word}.com",
            f"{word}@{word[:4]}.org",
            f"https://{word}.net/{word}",
            f"{word}.{word}@mail.{word[:4]}.de",
            f"{word}.de",
        )
    )
    return text, re.escape(text)


MAKERS: dict[str, Callable[[random.Random, str, str], tuple[str, str]]] = {
    make.__name__: make
    for make in (
        time,
        money,
        measure,
        degrees,
        percent,
        date,
        ordinal,
        title,
        herrn,
        number,
        digit,
        item,
        phone,
        fraction,
        symbol,
        emoji,
        web,
    )
}


def make_sentences(
    source: str, target: str, count: int, seed: int = 0
) -> Iterator[tuple[str, str, list[str]]]:
    """Yields sentences with random values.

    Args:
        source: The language of the sentences, `en` or `de`.
        target: The language of their translations.
        count: Number of sentences of each kind.
        seed: Seed of the values.

    Yields:
        The kind, a sentence, and for each of its values a regular expression that a right
        translation matches.
    """
    draw = random.Random(seed)
    for kind, patterns in _patterns(source).items():
        for index in range(count):
            sentence, right = patterns[index % len(patterns)], []
            while place := re.search(r"\{(\w*)\}", sentence):
                text, pattern = MAKERS[place[1] or kind](draw, source, target)
                sentence = sentence[: place.start()] + text + sentence[place.end() :]
                right.append(rf"(?<![\w.,:−–-])({pattern})(?!\w|[.,:]\d)")
            # The full stop of "p.m." at the end of a sentence also ends the sentence.
            yield kind, re.sub(r"m\.\.$", "m.", sentence), right


def _patterns(language: str) -> dict[str, list[str]]:
    """Reads the sentences of each kind."""
    blocks = re.split(r"\n(?=(?:en|de) \w+\n)", PATTERNS.read_text(encoding="utf-8").strip())
    lists = {head: lines for head, *lines in map(str.splitlines, blocks)}
    return {
        head.split()[1]: lines for head, lines in lists.items() if head.startswith(f"{language} ")
    }


def _decimal(number: str, language: str) -> str:
    return number if language == "en" else number.translate(str.maketrans(".,", ",."))


def _suffix(number: int) -> str:
    return "th" if 11 <= number % 100 <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def measure_copying(folder: Path, count: int, beam_size: int) -> Iterator[dict[str, Any]]:
    """Translates generated sentences and counts the values that are right.

    Args:
        folder: A checkpoint from English to German or Spanish, or from German to English.
        count: Number of sentences of each kind.
        beam_size: Number of hypotheses of the search.

    Raises:
        ConfigError: If the checkpoint has other languages.

    Yields:
        For each kind of value, then for all: how many sentences there are, and the share whose
        values are all right. Between English and German, also the shares of numbers in words and
        of half hours that are translated rightly.
    """
    data = load_saved_config(folder / "config.yaml").data
    languages = data.source_language, data.target_language
    if languages not in (("en", "de"), ("en", "es"), ("de", "en")):
        raise ConfigError(f"The patterns are English and German, unlike {folder}")
    kinds, sentences, patterns = zip(*make_sentences(*languages, count), strict=True)
    translator = Translator.load(folder)
    translations = translator.translate(list(sentences), beam_size=beam_size)
    results: dict[str, list[bool]] = {}
    for kind, right, translation in zip(kinds, patterns, translations, strict=True):
        good = all(re.search(pattern, translation) for pattern in right)
        results.setdefault(kind, []).append(good)
    results["all"] = [each for kind in results.values() for each in kind]
    for kind, found in results.items():
        yield {"value": kind, "number": len(found), "right": sum(found) / len(found)}
    if set(languages) == {"en", "de"}:
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
    return {"number": len(asked), "right": right / len(asked)}
