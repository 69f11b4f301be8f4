"""Numbers, addresses and unknown names as numbered placeholders, which the model copies.

A model that spells a price or a name sub-word by sub-word gets some of them wrong. With
`data.slots` it reads "The room costs <1> euros." instead, writes "Das Zimmer kostet <1> Euro.",
and the value is put back into the translation. Luong et al. (2015), "Addressing the Rare Word
Problem in Neural Machine Translation", do the same with unknown words.

These become slots:

- numbers of two digits or more, with their separators: 12, 19.99, 7:30, 555-1234, but not "1990s";
- web and mail addresses;
- unknown capitalized words inside a sentence, if the training pairs show that such words are
  copied. In English they are names; in German they are mostly new compounds.

Single digits and number words stay as they are, because they affect the grammar around them.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from transformer_tf.config import DataConfig
from transformer_tf.errors import DataError
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.text.symbols import SLOTS, TAGS
from transformer_tf.utils.files import atomic_write_bytes

MIN_COUNT = 3  # a rarer name is unknown if its pairs copy it
# Tatoeba pairs copy 58 % of rare capitalized words from English to German, 5 % from German.
MIN_COPIED = 0.4
_PLAIN_EVERY = 10  # one training pair in ten keeps its values, for exports without slots

# Largest number of slots of a source. Of 50 sentences with 5 to 10 values, `checkpoints/en-de`
# keeps every value of 22 if the first four are slots, but of only 1 if up to eight are.
MAX_VALUES = 4
# Matching time grows with the square of an address's length, so longer ones stay.
MAX_ADDRESS = 200
_NEAR = 16  # characters before a word that show whether it begins a sentence

_CHUNK = re.compile(r"\S+")
_ADDRESS = re.compile(
    r"(?:https?://|www\.)[^\s<>\"]+[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|de|eu|info|io|uk|at|ch|es|fr|it)\b(?:/[^\s<>\"]*\w)?"
)
_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?:[.,:/-]\d+)*(?!\w|[.,:/-]\d)")
_AM_PM = re.compile(r" ?[ap]\.?m\b")  # these numbers may change: German has 23 Uhr for 11 p.m.
_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]+(?:-[^\W\d_]+)*")
_SENTENCE_START = re.compile(rf"(?:^|[.!?…:;]|[{''.join(TAGS)}])[\s\"“”„«»‘’'(–—-]*$")
_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St)\.? $")
_ANY_SLOT = re.compile(f"[{''.join(SLOTS)}]")
# They write 1,234.5, the others 1.234,5.
POINT_DECIMALS = frozenset(("en", "he", "hi", "ja", "ko", "th", "zh"))


@dataclasses.dataclass(frozen=True)
class Slots:
    """The slots of a language pair.

    Attributes:
        source_language: Code of the source language, such as `en`.
        target_language: Code of the target language.
        known_words: The words of the training sources, in lower case; None if names are not slots.
    """

    source_language: str
    target_language: str
    known_words: frozenset[str] | None = None

    def hide(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Replaces the values of a source text with slots.

        Args:
            text: A normalized text.

        Returns:
            The text with slots, and the value of each, in order. Values after the first
            `MAX_VALUES` stay.
        """
        spans = self.find(text)[:MAX_VALUES]
        slots = dict(zip(spans, SLOTS, strict=False))
        return _replace(text, slots), tuple(text[begin:end] for begin, end in spans)

    def hide_pair(self, source: str, target: str) -> Pair:
        """Replaces each value that is on both sides of a training pair with a slot."""
        in_source: dict[tuple[int, int], str] = {}
        in_target: dict[tuple[int, int], str] = {}
        for span in self.find(source):
            value = source[slice(*span)]
            match = next(
                (
                    found.span()
                    for spelling in dict.fromkeys((self.convert(value), value))
                    for found in find_value(spelling, target)
                    if all(found.end() <= begin or end <= found.start() for begin, end in in_target)
                ),
                None,
            )
            if match is not None and len(in_source) < len(SLOTS):
                in_source[span] = in_target[match] = SLOTS[len(in_source)]
        return _replace(source, in_source), _replace(target, in_target)

    def convert(self, value: str) -> str:
        """Writes a value as in the target language: 1,234.5 in English is 1.234,5 in German."""
        has_point = self.source_language in POINT_DECIMALS
        if has_point == (self.target_language in POINT_DECIMALS):
            return value
        thousands, point = (",", r"\.") if has_point else (r"\.", ",")
        if re.fullmatch(rf"\d{{1,3}}(?:{thousands}\d{{3}})+(?:{point}\d+)?|\d+{point}\d+", value):
            return value.translate(str.maketrans(".,", ",."))
        return value

    def find(self, text: str) -> list[tuple[int, int]]:
        """Returns where the values of a source text begin and end, in order."""
        spans = [span for chunk in _CHUNK.finditer(text) for span in _addresses(chunk)]
        for match in _NUMBER.finditer(text):
            if sum(map(str.isdigit, match[0])) > 1 and not _AM_PM.match(text, match.end()):
                spans.append(match.span())
        if self.known_words is not None:
            spans += self._names(text, self.known_words)
        kept: list[tuple[int, int]] = []
        for span in sorted(spans):
            if not kept or kept[-1][1] <= span[0]:
                kept.append(span)
        return kept

    def _names(self, text: str, known: frozenset[str]) -> list[tuple[int, int]]:
        """Returns the unknown capitalized words, except at the beginning of a sentence.

        The first word of a sentence counts only before another: "Giorgos Papadopoulos called."
        """
        words = [match for match in _WORD.finditer(text) if _is_name(match[0])]
        unknown = {match.span() for match in words if match[0].lower() not in known}
        first = {match.span() for match in words if _starts_sentence(text, match.start())}
        inside = unknown - first
        begins = {begin for begin, _ in inside}
        return sorted(inside | {span for span in unknown & first if span[1] + 1 in begins})


def make_slots(data: DataConfig, known_words: frozenset[str] | None) -> Slots | None:
    """Returns the slots of a configuration; None without `data.slots`."""
    return Slots(data.source_language, data.target_language, known_words) if data.slots else None


def fill(text: str, values: Sequence[str]) -> str:
    """Puts the values into a text with slots; a slot without a value disappears."""
    by_slot = dict(zip(SLOTS, values, strict=False))
    return _ANY_SLOT.sub(lambda slot: by_slot.get(slot[0], ""), text)


def find_value(value: str, text: str) -> Iterator[re.Match[str]]:
    """Finds a value in a text, but not as a part of a longer one: 12 is not in 12,50."""
    return re.finditer(rf"(?<!\w)(?<!\d[.,:/-]){re.escape(value)}(?![\w-]|[.,:/]\d)", text)


def keeps_slots(text: str, count: int) -> bool:
    """Whether a translation has each of the first `count` slots once and no other."""
    return sorted(_ANY_SLOT.findall(text)) == list(SLOTS[:count])


def learn_known_words(pairs: Sequence[Pair]) -> frozenset[str] | None:
    """Collects the words of training sources, so that all other capitalized words are names.

    Args:
        pairs: The training pairs.

    Returns:
        The words, in lower case, without the rare capitalized words that their pairs copy. None if
        the pairs copy less than 40 % of the rare capitalized words: then these are not names.
    """
    counts = Counter(word.lower() for source, _ in pairs for word in _WORD.findall(source))
    copied: set[str] = set()
    changed: set[str] = set()
    for source, target in pairs:
        rare = [match for match in _WORD.finditer(source) if counts[match[0].lower()] < MIN_COUNT]
        for match in rare:
            if _is_name(match[0]) and not _starts_sentence(source, match.start()):
                same = match[0] in _WORD.findall(target)
                (copied if same else changed).add(match[0].lower())
    copied -= changed
    if len(copied) < MIN_COPIED * len(copied | changed):
        return None
    return frozenset(counts) - copied


def with_slots(pairs: Sequence[Pair], slots: Slots) -> list[Pair]:
    """Returns the pairs with slots, except every tenth one."""
    return [
        slots.hide_pair(*pair) if index % _PLAIN_EVERY else pair for index, pair in enumerate(pairs)
    ]


def save_words(words: Iterable[str], path: Path) -> None:
    """Writes words, one on each line."""
    atomic_write_bytes(path, "".join(f"{word}\n" for word in sorted(words)).encode())


def load_words(path: Path) -> frozenset[str]:
    """Reads what `save_words` wrote.

    Raises:
        DataError: If the file is damaged.
    """
    try:
        return frozenset(path.read_text(encoding="utf-8").split())
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is damaged: it is not UTF-8") from error


def _replace(text: str, slots: Mapping[tuple[int, int], str]) -> str:
    """Replaces parts of a text, given by where they begin and end."""
    for (begin, end), slot in sorted(slots.items(), reverse=True):
        text = text[:begin] + slot + text[end:]
    return text


def _addresses(chunk: re.Match[str]) -> list[tuple[int, int]]:
    """Returns where the addresses in a text without spaces begin and end."""
    if len(chunk[0]) > MAX_ADDRESS or not ("." in chunk[0] or "://" in chunk[0]):
        return []
    begin = chunk.start()
    return [(begin + match.start(), begin + match.end()) for match in _ADDRESS.finditer(chunk[0])]


def _is_name(word: str) -> bool:
    return word[0].isupper() and len(word) > 1


def _starts_sentence(text: str, begin: int) -> bool:
    before = text[max(0, begin - _NEAR) : begin]
    return _SENTENCE_START.search(before) is not None and _TITLE.search(before) is None
