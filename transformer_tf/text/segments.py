"""Splits a user's text into segments to translate."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from transformer_tf.errors import DataError
from transformer_tf.text.normalization import normalize_text
from transformer_tf.text.placeholders import GLUE, MAX_VALUES, Placeholders, Value, find_value
from transformer_tf.text.symbols import SLOTS
from transformer_tf.text.tokenization.tokenizer import Tokenizer

MIN_CAPITAL_WORDS = 3
MAX_CHARACTERS = 100_000  # of a text; cutting it into segments takes a second or two

# A mark that may end a sentence, with the closing quotes and brackets after it, and spaces that are
# not inside a value, which has no-break spaces. A match begins with
# the first of several marks: a search from each of them would take quadratic time.
_END = re.compile(
    r"""(?<![.!?…])(?P<mark>[.!?…]+)["'”’»)\]]*[^\S\u00a0]+|"""
    r"""(?<![。！？])[。！？]+["'”’»)\]」』）]*(?!["'”’»)\]」』）。！？])\s*"""
)
_WORD_END = 40  # the end of a longer word is enough to tell that it is no abbreviation
# A full stop does not end a sentence after these, after numbers ("14. März") and initials.
_ABBREVIATIONS = frozenset(
    (
        *("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "inc", "ltd"),
        *("vs", "e.g", "i.e", "cf", "ca", "approx"),
        *("hr", "fr", "nr", "str", "bzw", "z.b", "d.h", "u.a"),
        *("sra", "srta", "ud", "mme", "mlle", "p.ex"),
    )
)
_LAST_WORDS = frozenset(("a.m", "p.m", "etc", "usw"))  # they end a sentence before a capital
_BEFORE_NUMBERS = frozenset(("no", "nos", "fig", "vol"))  # abbreviations only before a number
_ROMAN = re.compile("[ivx]{2,}")  # of kings: "Ludwig XIV. regierte lange."
_QUOTES = "\"'“”‘’„«»(["
_FIRST_GUESS = 32  # words or characters of a part
_CLAUSE_MARKS = (",", ";", ":", "–", "—", "，", "、", "；", "：")


@dataclasses.dataclass(frozen=True)
class Segment:
    """A text, or a part of a long text, that the model translates in one pass.

    Attributes:
        text: The segment as the model reads it: normalized, and if `all_caps`, in lower case after
            its first letter.
        source_ids: Its token ids, start and end included.
        all_caps: Whether the user wrote the text in capitals; the translation is then in capitals.
        first_word: Index of the word of the text in which the segment begins.
        prefix: The beginning of its translation, as the user typed it.
        prefix_ids: Token ids of the prefix as the model reads it, without start.
        values: What the placeholders of `text` stand for, in order; see
            `transformer_tf.text.placeholders`.
        unmasked: The segment with its values.
    """

    text: str
    source_ids: list[int]
    all_caps: bool = False
    first_word: int = 0
    prefix: str = ""
    prefix_ids: list[int] = dataclasses.field(default_factory=list)
    values: tuple[Value, ...] = ()
    unmasked: str = ""

    def with_prefix(self, prefix: str, target_tokenizer: Tokenizer) -> Segment:
        """Returns the segment with a prefix for its translation.

        If the segment is in capitals, a prefix in capitals is lower-cased for the model as well.
        """
        prefix = normalize_text(prefix)
        read = prefix.capitalize() if self.all_caps and prefix.isupper() else prefix
        for slot, value in zip(SLOTS, self.values, strict=False):
            for match in itertools.islice(find_value(value.target, read), 1):
                read = read[: match.start()] + slot + read[match.end() :]
        return dataclasses.replace(self, prefix=prefix, prefix_ids=target_tokenizer.encode(read))

    def source_tokens(self, tokenizer: Tokenizer) -> list[str]:
        """Returns the tokens that the encoder reads, as the text spells them."""
        shown = {slot: value.source for slot, value in self._shown()}
        pieces = tokenizer.pieces(self.text, shown)[: len(self.source_ids) - 2]
        return ["<start>", *pieces, "<end>"]

    def target_tokens(self, ids: Iterable[int], tokenizer: Tokenizer) -> list[str]:
        """Returns the tokens of a translation, with values as the target language writes them."""
        return tokenizer.tokens(ids, {slot: value.target for slot, value in self._shown()})

    def _shown(self) -> Iterator[tuple[str, Value]]:
        """Yields the placeholders that tokens show by their values; others are `<1>` and so on."""
        pairs = zip(SLOTS, self.values, strict=False)
        return ((slot, value) for slot, value in pairs if value.alone)

    def restore_case(self, translation: str) -> str:
        """Puts the translation of a text in capitals in capitals; the prefix stays as typed."""
        if not self.all_caps:
            return translation
        translation, beginning = translation.upper(), self.prefix.upper()
        if not translation.startswith(beginning):
            return translation
        return self.prefix + translation[len(beginning) :]


def list_of_strings(name: str, texts: object) -> list[str]:
    """Returns texts as a list.

    Args:
        name: The name of the argument, for error messages.
        texts: The value to check, of any type.

    Raises:
        TypeError: If `texts` is not a list of strings.
    """
    if not isinstance(texts, Iterable) or isinstance(texts, (str, bytes)):
        raise TypeError(f"`{name}` must be a list of strings. Received: {texts!r}")
    texts = list(texts)
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"`{name}[{index}]` must be a string. Received: {text!r}")
    return texts


def read_segments(
    text: str,
    tokenizer: Tokenizer,
    max_length: int | None = None,
    split: bool = False,
    placeholders: Placeholders | None = None,
) -> list[Segment]:
    """Normalizes a text and cuts it into segments that the model can take.

    The model reads a text in capitals (see `is_all_caps`) in lower case, since it rarely saw such
    text in training.

    Args:
        text: A text as a user types it.
        tokenizer: The source tokenizer.
        max_length: Maximum number of sub-words of a segment; None for no limit.
        split: Whether to cut a text into its sentences even if it fits.
        placeholders: Masks values; None for no placeholders.

    Returns:
        The segments in order; none for an empty text.

    Raises:
        DataError: If the text has more than 100 000 characters.
    """
    if len(text) > MAX_CHARACTERS:
        raise DataError(
            f"A text has {len(text)} characters; at most {MAX_CHARACTERS} are translated at once: "
            "split it into several texts"
        )

    @functools.cache
    def read(part: str) -> tuple[str, tuple[Value, ...], list[int], bool]:
        """Returns a part with placeholders, their values, its ids, and whether it has too many."""
        masked, values = placeholders.mask(part, MAX_VALUES + 1) if placeholders else (part, ())
        too_many = len(values) > MAX_VALUES
        if placeholders and too_many:
            masked, values = placeholders.mask(part)
        return masked, values, tokenizer.encode_sentence(masked), too_many

    def fits(part: str) -> bool:
        *_, ids, too_many = read(part.replace(GLUE, " "))
        if too_many and " " in part:
            return False
        return max_length is None or len(ids) <= max_length + 2

    text = normalize_text(text)
    all_caps = is_all_caps(text)
    if all_caps:
        text = text.capitalize()
    glued = placeholders.glue(text) if placeholders else text
    parts = [part.replace(GLUE, " ") for part in split_text(glued, fits, split)]
    segments = []
    for part, first_word in zip(parts, _first_words(text, parts), strict=True):
        if all_caps:
            part = part[:1].upper() + part[1:]
        masked, values, ids, _ = read(part)
        if max_length is not None and len(ids) > max_length + 2:
            # `split_text` does not cut a character: keep those of its bytes that fit.
            ids = [*ids[: max_length + 1], ids[-1]]
        segments.append(
            Segment(
                masked,
                ids,
                all_caps,
                first_word,
                values=values,
                unmasked=part,
            )
        )
    return segments


def is_all_caps(text: str) -> bool:
    """Whether a text is a sentence in capitals, rather than an acronym or a short phrase.

    It has two or more letters, all of them capitals, and three or more words with letters or a
    final exclamation or question mark: "WHERE IS THE STATION", "GO AWAY!", but not "NATO",
    "HTML CSS" or "I?". Scripts without capitals are never all_caps.
    """
    letters = [letter for letter in text if letter.isalpha()]
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    return (
        len(letters) > 1
        and all(map(str.isupper, letters))
        and (len(words) >= MIN_CAPITAL_WORDS or text.endswith(("!", "?")))
    )


def split_sentences(text: str) -> list[str]:
    """Cuts a text after each of its sentences.

    Args:
        text: A normalized text.

    Returns:
        The sentences without the spaces between them; `[text]` if it is a single sentence.
    """
    sentences, begin = [], 0
    for match in _END.finditer(text):
        before = text[max(begin, match.start() - _WORD_END) : match.start()]
        after = text[match.end() : match.end() + 4]  # its first character, perhaps in quotes
        if not after or (match["mark"] == "." and _is_abbreviation(before, after)):
            continue
        sentences.append(text[begin : match.end()].strip())
        begin = match.end()
    rest = text[begin:].strip()
    return [*sentences, rest] if rest else sentences


def _is_abbreviation(before: str, after: str) -> bool:
    """Whether a full stop between two texts belongs to the word before it."""
    words = before.split()
    if not words:
        return True
    last, following = words[-1].strip(_QUOTES).casefold(), after.lstrip(_QUOTES)[:1]
    if last in _LAST_WORDS or _ROMAN.fullmatch(last):
        return not following.isupper()
    if last in _BEFORE_NUMBERS:
        return following.isdigit()
    return len(last) < 2 or last.isdigit() or last in _ABBREVIATIONS


def split_text(text: str, fits: Callable[[str], bool], sentences: bool = False) -> list[str]:
    """Cuts a text into parts that fit: after a sentence, clause or word if possible.

    Args:
        text: A normalized text.
        fits: Whether a part is short enough. A single character is never cut.
        sentences: Whether to cut a text into its sentences even if it fits.

    Returns:
        The parts. They lack only the spaces between them. An empty text has no parts.
    """
    if not text:
        return []
    if not sentences and fits(text):
        return [text]
    parts: list[str] = []
    for sentence in split_sentences(text):
        for words in _cut(sentence.split(" "), " ", fits):
            # Some scripts have no spaces, so a "word" may be a whole text.
            parts += [words] if fits(words) else _cut(list(words), "", fits)
    return parts


def _cut(units: list[str], glue: str, fits: Callable[[str], bool]) -> list[str]:
    """Joins units into the longest parts that fit, of at least one unit each.

    A part ends at the end of a clause, unless that makes it short.
    """
    parts, begin, size = [], 0, _FIRST_GUESS

    def few_fit(count: int) -> bool:
        return fits(glue.join(units[begin : begin + count]))

    while begin < len(units):
        size = _largest(few_fit, size, len(units) - begin)
        end = begin + size
        if end < len(units):
            ends = range(end, begin + size // 3, -1)
            end = next((n for n in ends if units[n - 1].endswith(_CLAUSE_MARKS)), end)
        parts.append(glue.join(units[begin:end]))
        begin = end
    return parts


def _largest(fits: Callable[[int], bool], guess: int, most: int) -> int:
    """Returns the largest number that fits, of 1 to `most`, in steps that double from a guess."""
    low, high, step = min(guess, most), most + 1, 1  # `low` fits at last, `high` does not
    while low > 1 and not fits(low):
        low, high, step = max(1, low - step), low, 2 * step
    step = 1
    while low + step < high and fits(low + step):
        low, step = low + step, 2 * step
    high = min(high, low + step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _first_words(text: str, parts: Sequence[str]) -> list[int]:
    """Returns for each part of a text the index of the word in which it begins."""
    indices, place, words = [], 0, 0
    for part in parts:
        within = place > 0 and not text[place : place + 1].isspace()
        while text[place : place + 1].isspace():
            place += 1
        indices.append(words - within)
        words += len(part.split()) - within
        place += len(part)
    return indices
