r"""Times, money, dates, names and other values as numbered placeholders, which the model copies.

A model that spells a price or a name sub-word by sub-word gets some of them wrong. With
`data.placeholders` it reads "The room costs <1> euros." instead of "The room costs $45.90.",
writes "Das Zimmer kostet <1> Euro.", and the value is put back as the target language writes it:
"Das Zimmer kostet 45,90 Dollar." Luong et al. (2015), "Addressing the Rare Word Problem in
Neural Machine Translation", do the same with unknown words.

`conventions/` has a table for each language, which the web page reads, too:

| key | meaning |
| --- | --- |
| `words` | for each field of a value, its meanings and how they are spelled |
| `written` | how a meaning is written, if not as the first spelling |
| `singular` | what is written after the number 1 |
| `parts` | parts of regular expressions, used as `{name}`; each field of `words` is one as well |
| `patterns` | for each kind of value regular expressions with named fields, the first kind wins |
| `write` | for each kind how it is written; what stands in brackets is left out with its field |
| `carriers` | for each kind the words that the model reads and writes around the placeholder |
| `around` | for each kind what the value replaces in a translation besides the placeholder |
| `fixes` | what is replaced in a translation with values |
| `nouns` | where a capitalized word ends that is a noun, if the language capitalizes nouns |
| `letters` | the language's own letters besides A to Z, which its vocabulary may lack |
| `rare` | a character that a vocabulary may have, but too rarely to be learned |

A carrier without a placeholder leaves the value to the model: "3rd" is read as "third". The
regular expressions are those that Python and JavaScript share, with `[\w]` for a letter or digit.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from transformer_tf.config import DataConfig
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.text.symbols import SLOTS, TAGS

if TYPE_CHECKING:
    from transformer_tf.text.tokenization.tokenizer import Tokenizer

CONVENTIONS = Path(__file__).parent / "conventions"
# They write 1,234.5, the others 1.234,5.
POINT_DECIMALS = frozenset(("en", "he", "hi", "ja", "ko", "th", "zh"))
MIN_COUNT = 3  # a rarer name is unknown if its pairs copy it
# Tatoeba pairs copy 58 % of rare capitalized words from English to German, 5 % from German.
MIN_COPIED = 0.4
_PLAIN_EVERY = 10  # one training pair in ten keeps its values, for exports without placeholders

# Largest number of placeholders of a source. `checkpoints/en-es` has hardly seen a fourth.
MAX_VALUES = 3
GLUE = "\u00a0"  # normalized texts have none
# Matching time may grow with the square of the length of a word, so longer ones have no values.
_LONG_WORD = re.compile(r"\S{201,}")
_SHORTEST_NOUN = 3  # letters of a noun that ends a compound
_LONGEST_NOUN = 40
_ENDING = re.compile("(?:e?s|n)$")  # of Drahtes, Motels and Häusern
_NEAR = 16  # characters before a word that show whether it begins a sentence

_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]+(?:-[^\W\d_]+)*")
_SENTENCE_START = re.compile(rf"(?:^|[.!?…:;]|[{''.join(TAGS)}])[\s\"“”„«»‘’'(–—-]*$")
_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St)\.? $")
_ANY_SLOT = re.compile(f"[{''.join(SLOTS)}]")
_SYMBOLS = "#$%&*+<=>@\\^_`{|}~"  # ASCII characters that are copied if the vocabulary lacks them
# A word with its inner signs, or a sign: AT&T, C#, 😀.
_RUN = re.compile(r"[\w]+(?:[&@#+*=_’'-]+[\w]+)*[#+]*|[^\w\s!-~]+|[!-~]")
_FIELD = re.compile(r"\[([^\[\]]*)\]|\{(\w+)\}")
_NUMBERS = {
    ".": re.compile(r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+)"),
    ",": re.compile(r"(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+)"),
}
# A value is no part of a word or of a longer number.
_BEFORE = r"(?<![\w])(?<![0-9][.,:/])"
_AFTER = r"(?:(?<![\w])|(?![\w]))(?![.,:/][0-9])"
_SINGLE = re.compile(r"1(?:[.,]0+)?")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclasses.dataclass(frozen=True)
class Value:
    """A value that a placeholder stands for.

    Attributes:
        kind: Its kind, such as `time`.
        source: The value as the source has it.
        target: The value as the target language writes it.
        alone: Whether the model reads and writes the placeholder alone, without words such as the
            "euros" of `<1> euros`, which the value repeats or replaces.
    """

    kind: str
    source: str
    target: str
    alone: bool = True


@dataclasses.dataclass(frozen=True)
class Found:
    """A value in a text.

    Attributes:
        begin: Where it begins.
        end: Where it ends.
        kind: Its kind, such as `time`.
        fields: What it means: times in 24 hours, numbers as in English, names of `words`.
    """

    begin: int
    end: int
    kind: str
    fields: Mapping[str, str]

    @property
    def key(self) -> str:
        """The meaning, equal for two spellings of a value in any two languages."""
        if "hour" in self.fields:
            return f"{self.fields['hour']}:{self.fields.get('minute', '00')}"
        fields = [self.fields[name] for name in sorted(self.fields) if name != "text"]
        return " ".join(fields).replace(",", "") if fields else self.fields["text"]


class Convention:
    """How a language writes values, and how they are recognized.

    Args:
        table: What `load_table` returns.
    """

    def __init__(self, table: Mapping[str, Any]):
        self.table = table
        self.plain = [(sign, *_replacement(*rule)) for sign, *rule in table["plain"]]
        self.fixes = [_replacement(*rule) for rule in table["fixes"]]
        self.rare = re.compile(table["rare"])

    @classmethod
    @functools.cache
    def of(cls, language: str) -> Convention:
        """Reads the convention of a language; one without a table has the common kinds."""
        return cls(load_table(language))

    @functools.cached_property
    def patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        """The patterns of each kind, in order of precedence."""
        return [(kind, _compiled(pattern)) for kind, pattern in self.table["patterns"]]

    @functools.cached_property
    def nouns(self) -> list[re.Pattern[str]]:
        """The patterns that end where a noun ends; none if the language does not capitalize it."""
        return [_compiled(pattern) for pattern in self.table["nouns"]]

    def is_noun(self, word: str, known: Set[str]) -> bool:
        """Returns whether an unknown word is an inflected known word or a compound with one.

        Args:
            word: The word, in lower case.
            known: The known words.
        """
        if not self.nouns:
            return False
        forms = (word, _ENDING.sub("", word))
        return any(
            form[-length:] in known
            for form in forms
            for length in range(_SHORTEST_NOUN, min(len(form), _LONGEST_NOUN) + 1)
            if length < len(word)
        )

    def read(self, text: str) -> list[Found]:
        """Returns all values of a text; they may overlap. The kinds are in order of precedence."""
        return [
            Found(match.start(), match.end(), kind, self._fields(match))
            for kind, pattern in self.patterns
            for match in pattern.finditer(text)
        ]

    def _fields(self, match: re.Match[str]) -> dict[str, str]:
        fields = {name: text for name, text in match.groupdict().items() if text is not None}
        for name, text in fields.items():
            if name in self.table["meanings"]:
                fields[name] = self.table["meanings"][name].get(text, text.lstrip("0"))
            elif name in ("number", "amount"):
                number = re.sub(r"[Mm]inus |−", "-", re.sub("[$€£¥₹]", "", text))
                fields[name] = convert_number(number, self.table["decimal"], ".")
            elif name == "day":
                fields[name] = str(int(text))
        if "cents" in fields:
            fields["amount"] += f".{fields.pop('cents')}"
        if fields.get("scale") == "thousand":
            name = "amount" if "amount" in fields else "number"
            fields[name] = _NUMBER.sub(_thousand_times, fields[name])
            del fields["scale"]
        return {**(_clock(fields) if "hour" in fields else fields), "text": match[0]}

    def can_write(self, found: Found) -> bool:
        """Returns whether this language has a form for a value, and a word for all it means."""
        template, written = self.table["write"].get(found.kind), self.table["written"]
        return template is not None and all(
            meaning in written[name]
            for name, meaning in found.fields.items()
            if name in written and f"{{{name}}}" in template
        )

    def write(self, kind: str, fields: Mapping[str, str]) -> str:
        """Writes a value as this language does."""
        return self._filled(self.table["write"].get(kind, "{text}"), fields)

    def _filled(self, template: str, fields: Mapping[str, str]) -> str:
        def replace(match: re.Match[str]) -> str:
            if match[2]:
                return self._written(match[2], fields)
            needed = re.findall(r"\{(\w+)\}", match[1])
            return self._filled(match[1], fields) if all(n in fields for n in needed) else ""

        return _FIELD.sub(replace, template)

    def _written(self, field: str, fields: Mapping[str, str]) -> str:
        number, table = fields.get("amount", fields.get("number", "")), self.table
        if field == "th":
            return _ordinal_suffix(int(number))
        meaning = fields[field]
        if field in ("number", "amount"):
            return convert_number(meaning, ".", table["decimal"])
        written = table["written"].get(field, {}).get(meaning, meaning)
        if _SINGLE.fullmatch(number) and (field == "scale" or "scale" not in fields):
            return table["singular"].get(written, written)
        return written


@dataclasses.dataclass(frozen=True)
class Placeholders:
    """The placeholders of a language pair.

    Attributes:
        source_language: Code of the source language, such as `en`.
        target_language: Code of the target language.
        known_words: The words of the training sources, in lower case; None if names stay.
        alphabet: The characters of the source vocabulary; None if unknown ones stay.
    """

    source_language: str
    target_language: str
    known_words: frozenset[str] | None = None
    alphabet: frozenset[str] | None = None

    @property
    def source(self) -> Convention:
        """The convention of the source language."""
        return Convention.of(self.source_language)

    @property
    def target(self) -> Convention:
        """The convention of the target language."""
        return Convention.of(self.target_language)

    def mask(self, text: str, most: int = MAX_VALUES) -> tuple[str, tuple[Value, ...]]:
        """Replaces the values of a source text with placeholders.

        Args:
            text: A normalized text.
            most: Maximum number of placeholders.

        Returns:
            The text as the model reads it, and the value of each placeholder, in order. Further
            values stay.
        """
        text = self._plain(text)
        edits: list[tuple[int, int, str]] = []
        values: list[Value] = []
        for found in self.find(text):
            carrier = self._carrier(self.source, found)
            if "{}" in carrier:
                if len(values) == most:
                    continue
                carrier = carrier.replace("{}", SLOTS[len(values)])
                values.append(self._value(found))
            edits.append((found.begin, found.end, carrier))
        return _replace(text, edits), tuple(values)

    def glue(self, text: str) -> str:
        """Replaces the spaces inside values with no-break spaces, so that no value is cut."""
        spans = [(found.begin, found.end) for found in self.find(text)]
        return _replace(text, [(*span, text[slice(*span)].replace(" ", GLUE)) for span in spans])

    def mask_pair(self, source: str, target: str) -> Pair:
        """Replaces each value that is on both sides of a training pair with a placeholder."""
        source = self._plain(source)
        in_source: list[tuple[int, int, str]] = []
        in_target: list[tuple[int, int, str]] = []
        there = _apart(self.target.read(target))
        slots = iter(SLOTS)
        for found in self.find(source):
            carrier = self._carrier(self.source, found)
            if "{}" not in carrier:
                in_source.append((found.begin, found.end, carrier))
                continue
            matches = [
                (other.begin, other.end, self._carrier(self.target, other))
                for other in there
                if other.key == found.key
            ]
            matches = [match for match in matches if "{}" in match[2]]
            value = self._value(found)
            for spelling in dict.fromkeys((value.target, value.source)):
                matches += [(*match.span(), "{}") for match in find_value(spelling, target)]
            match = next((m for m in matches if _is_free(m, in_target)), None)
            slot = next(slots, None) if match else None
            if match and slot:
                in_source.append((found.begin, found.end, carrier.replace("{}", slot)))
                in_target.append((*match[:2], match[2].replace("{}", slot)))
        return _replace(source, in_source), _replace(target, in_target)

    def unmask(self, text: str, values: Sequence[Value]) -> str:
        """Puts the values into a translation; a placeholder without a value disappears."""
        for slot, value in zip(SLOTS, values, strict=False):
            for pattern, written in self.target.table["around"].get(value.kind, ()):
                around, written = _replacement(pattern.replace("{}", slot), written)
                text = around.sub(written.replace("{}", slot), text)
        targets = [value.target for value in values]
        text = fill(text, targets)
        for pattern, written in self.target.fixes if values else ():
            text = pattern.sub(written, text)
        return text

    def find(self, text: str) -> list[Found]:
        """Returns the values of a source text, in order."""
        found = self.source.read(_LONG_WORD.sub(lambda match: " " * len(match[0]), text))
        if self.known_words is not None:
            found += self._names(text, self.known_words)
        if self.alphabet is not None:
            found += self._unknown(text, self.alphabet)
        carriers = self.source.table["carriers"]
        return _apart(
            f for f in found if self.target.can_write(f) or "{}" not in carriers.get(f.kind, "{}")
        )

    def _value(self, found: Found) -> Value:
        written = self.target.write(found.kind, found.fields)
        carried = (self.source.table["carriers"], self.target.table["around"])
        alone = all(found.kind not in kinds for kinds in carried)
        return Value(found.kind, found.fields["text"], written, alone)

    def _carrier(self, convention: Convention, found: Found) -> str:
        """Returns what the model reads for a value, with `{}` for the placeholder."""
        carrier = convention.table["carriers"].get(found.kind, "{}")
        if isinstance(carrier, dict):
            carrier = carrier.get(self.target_language, "{}")
        return convention._filled(carrier, found.fields)

    def _plain(self, text: str) -> str:
        """Replaces brackets, dashes and quotation marks that are not in the alphabet."""
        for sign, pattern, plain in self.source.plain:
            if self.alphabet is not None and sign not in self.alphabet:
                text = pattern.sub(plain, text)
        return text

    def _names(self, text: str, known: frozenset[str]) -> list[Found]:
        """Returns the unknown capitalized words, except at the beginning of a sentence.

        The first word of a sentence counts only before another: "Giorgos Papadopoulos called."
        """
        words = [match for match in _WORD.finditer(text) if _is_name(match[0])]
        nouns = {match.end() for each in self.source.nouns for match in each.finditer(text)}
        unknown = [
            match
            for match in words
            if match[0].lower() not in known
            and match.end() not in nouns
            and not self.source.is_noun(match[0].lower(), known)
        ]
        first = {m.start() for m in unknown if _starts_sentence(text, m.start())}
        begins = {match.start() for match in unknown} - first
        return [
            Found(*match.span(), "name", {"text": match[0]})
            for match in unknown
            if match.start() in begins or match.end() + 1 in begins
        ]

    def _unknown(self, text: str, alphabet: frozenset[str]) -> list[Found]:
        """Returns the words and symbols with a character that is rare or not in the vocabulary.

        The letters of the source language itself never count: "Öffnen" is spelled, not copied.
        """

        def is_unknown(character: str) -> bool:
            known = character in alphabet and not self.source.rare.match(character)
            known = known or character in self.source.table["letters"]
            known = known or character == " " or "\ue000" <= character <= "\uf8ff"
            ascii_ = character.isascii() and not (character in _SYMBOLS or character.isdigit())
            return not (known or ascii_)

        return [
            Found(*match.span(), "copy", {"text": match[0]})
            for match in _RUN.finditer(text)
            if any(map(is_unknown, match[0]))
        ]


def load_table(language: str) -> dict[str, Any]:
    """Reads the table of a language, completed with what all languages share.

    Returns:
        The table, with whole regular expressions in `patterns` and `fixes`, the meaning of
        each spelling in `meanings`, and one spelling of each meaning in `written`.
    """
    paths = CONVENTIONS / f"{language}.yaml", CONVENTIONS / "common.yaml"
    table, common = (
        yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {} for path in paths
    )
    decimal = "." if language in POINT_DECIMALS else ","
    point, comma = (r"\.", ",") if decimal == "." else (",", r"\.")
    parts = {**common["parts"], **table.get("parts", {}), "point": point, "comma": comma}
    meanings: dict[str, dict[str, str]] = {}
    written: dict[str, dict[str, str]] = {}
    for words in (table.get("words", {}), common["words"]):
        for field, spellings_of in words.items():
            meant, names = meanings.setdefault(field, {}), written.setdefault(field, {})
            for meaning, spellings in spellings_of.items():
                meant.update(dict.fromkeys(spellings, str(meaning)))
                names.setdefault(str(meaning), spellings[0])
    for field, names in table.get("written", {}).items():
        written.setdefault(field, {}).update(names)
    for field, spellings in meanings.items():
        escaped = [re.sub(r"[.$/]", r"\\\g<0>", each) for each in spellings]
        parts[field] = f"(?:{'|'.join(sorted(escaped, key=len, reverse=True)) or '(?!)'})"

    def whole(pattern: str) -> str:
        while (longer := re.sub(r"\{([a-z]+)\}", lambda part: parts[part[1]], pattern)) != pattern:
            pattern = longer
        return pattern

    entries = [*table.get("patterns", ()), *common["patterns"]]
    patterns = [pair for entry in entries for pair in entry.items()]
    return {
        "decimal": decimal,
        "meanings": meanings,
        "written": written,
        "singular": table.get("singular", {}),
        "patterns": [[kind, f"{_BEFORE}(?:{whole(each)}){_AFTER}"] for kind, each in patterns],
        "write": {**common["write"], **table.get("write", {})},
        "carriers": table.get("carriers", {}),
        "around": table.get("around", {}),
        "plain": common["plain"],
        "letters": table.get("letters", ""),
        "rare": table.get("rare", common["rare"]),
        "nouns": [whole(each) for each in table.get("nouns", ())],
        "fixes": [[whole(old), new] for old, new in table.get("fixes", ())],
    }


def convert_number(number: str, decimal: str, new_decimal: str) -> str:
    """Converts a number between 1,234.5 and 1.234,5.

    Args:
        number: The number. A text like 12.05.2021, which is no number, stays.
        decimal: Its decimal mark.
        new_decimal: The decimal mark of the result.
    """
    if decimal == new_decimal:
        return number
    swap = str.maketrans(".,", ",.")
    return re.sub(
        r"[\d.,]+",
        lambda part: part[0].translate(swap) if _NUMBERS[decimal].fullmatch(part[0]) else part[0],
        number,
    )


def make_placeholders(data: DataConfig, tokenizer: Tokenizer) -> Placeholders | None:
    """Returns the placeholders of a configuration; None without `data.placeholders`.

    Args:
        data: The configuration.
        tokenizer: The source tokenizer, with its known words.
    """
    if not data.placeholders:
        return None
    languages = data.source_language, data.target_language
    # A language without a table may have a script without spaces between words.
    has_table = (CONVENTIONS / f"{data.source_language}.yaml").exists()
    alphabet = tokenizer.alphabet if has_table else None
    return Placeholders(*languages, tokenizer.known_words, alphabet)


def word_map(before: str, after: str) -> list[range]:
    """Returns for each word of a text its places after values were put back.

    Args:
        before: A text with placeholders.
        after: The same text with values, which may have more or fewer words.
    """
    places: list[range] = []
    matcher = difflib.SequenceMatcher(None, before.split(), after.split(), autojunk=False)
    for _, begin, end, new_begin, new_end in matcher.get_opcodes():
        if end - begin == new_end - new_begin:
            places += [range(place, place + 1) for place in range(new_begin, new_end)]
        else:  # a word that disappeared has the place of the one before it
            first = min(new_begin, max(new_end - 1, 0))
            places += [range(first, max(new_end, first + 1))] * (end - begin)
    return places


def fill(text: str, values: Sequence[str]) -> str:
    """Puts texts in the place of placeholders; one without a text disappears."""
    by_slot = dict(zip(SLOTS, values, strict=False))
    return _ANY_SLOT.sub(lambda slot: by_slot.get(slot[0], ""), text)


def find_value(value: str, text: str) -> Iterator[re.Match[str]]:
    """Finds a value in a text, but not as a part of a longer one: 12 is not in 12,50."""
    return re.finditer(rf"(?<!\w)(?<!\d[.,:/-]){re.escape(value)}(?![\w-]|[.,:/]\d)", text)


def placeholder_ids(source: Tokenizer, target: Tokenizer) -> dict[int, int]:
    """Returns the id of each placeholder in the target vocabulary, by its id in the source's."""
    return {source.encode(slot)[-1]: target.encode(slot)[-1] for slot in SLOTS}


def learn_known_words(pairs: Sequence[Pair], language: str) -> frozenset[str] | None:
    """Collects the words of training sources, so that all other capitalized words are names.

    Args:
        pairs: The training pairs.
        language: Code of the source language. In some, nouns are capitalized and do not count.

    Returns:
        The words, in lower case, without the rare names: those that a pair copies, or has with a
        capital on the target side only, and no pair changes. None if the pairs copy less than 40 %
        of the rare capitalized words: then these are not names.
    """
    counts = Counter(word.lower() for source, _ in pairs for word in _WORD.findall(source))
    capitalized: set[str] = set()
    copied: set[str] = set()
    changed: set[str] = set()
    for source, target in pairs:
        rare = [match for match in _WORD.finditer(source) if counts[match[0].lower()] < MIN_COUNT]
        words = _WORD.findall(target) if rare else []
        names = {word.lower() for word in words if _is_name(word)}
        for match in rare:
            word = match[0].lower()
            if _is_name(match[0]) and not _starts_sentence(source, match.start()):
                capitalized.add(word)
                (copied if match[0] in words else changed).add(word)
            elif word in names:  # in lower case, or at the beginning
                copied.add(word)
    copied -= changed
    known = frozenset(counts) - copied
    rare_names = [each for each in capitalized if not Convention.of(language).is_noun(each, known)]
    if len(copied.intersection(rare_names)) < MIN_COPIED * len(rare_names):
        return None
    return known


def with_placeholders(pairs: Sequence[Pair], placeholders: Placeholders) -> list[Pair]:
    """Returns the pairs with placeholders, except every tenth one."""
    return [
        placeholders.mask_pair(*pair) if index % _PLAIN_EVERY else pair
        for index, pair in enumerate(pairs)
    ]


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\(\?<(?=[a-z])", "(?P<", pattern))


def _replacement(pattern: str, replacement: str) -> tuple[re.Pattern[str], str]:
    return _compiled(pattern), re.sub(r"\$([0-9])", r"\\\1", replacement)


def _clock(fields: Mapping[str, str]) -> dict[str, str]:
    """Returns the fields of a time in 24 hours; `half` only if it is known."""
    hour = int(fields["hour"])
    afternoon = "pm" in fields
    if "until" in fields:  # the first time of "11-1 pm" is in the other half of the day
        afternoon ^= hour % 12 > int(fields["until"]) % 12
    if {"am", "pm"} & fields.keys():
        hour = hour % 12 + 12 * afternoon if hour <= 12 else hour
        half = True
    else:
        half = not 1 <= hour <= 12
    clock = {**fields, "hour": str(hour % 24), "hour12": str((hour - 1) % 12 + 1)}
    return {**clock, "half": "pm" if 12 <= hour < 24 else "am"} if half else clock


def _ordinal_suffix(number: int) -> str:
    """Returns the ending of 1st, 2nd, 3rd, 4th."""
    teen = 11 <= number % 100 <= 13
    return "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _replace(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Replaces parts of a text, given by where they begin and end."""
    parts, last = [], 0
    for begin, end, new in sorted(edits):
        parts += [text[last:begin], new]
        last = end
    return "".join([*parts, text[last:]])


def _apart(found: Iterable[Found]) -> list[Found]:
    """Returns the values in order; of two that overlap, the one that begins first.

    Of those that begin together, the first in `found`, whose kinds are in order of precedence.
    """
    kept: list[Found] = []
    for each in sorted(found, key=lambda each: each.begin):
        if not kept or kept[-1].end <= each.begin:
            kept.append(each)
    return kept


def _thousand_times(number: re.Match[str]) -> str:
    return f"{round(float(number[0].replace(',', '')) * 1000):,}"


def _is_free(match: tuple[int, int, str], taken: Iterable[tuple[int, int, str]]) -> bool:
    return all(match[1] <= begin or end <= match[0] for begin, end, _ in taken)


def _is_name(word: str) -> bool:
    return word[0].isupper() and len(word) > 1


def _starts_sentence(text: str, begin: int) -> bool:
    before = text[max(0, begin - _NEAR) : begin]
    return _SENTENCE_START.search(before) is not None and _TITLE.search(before) is None
