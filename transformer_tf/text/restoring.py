"""Gives a translation the capitals and digits back that official BPEmb models do not know."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from transformer_tf.errors import DataError
from transformer_tf.text.lines import read_lines, write_lines

# Python's `\w` leaves out combining marks, such as the dot that "İ".lower() puts behind the "i".
WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")
DIGIT = re.compile(r"\d")
SPACES = re.compile(r"\s+")
# What stands between two words if the second one begins a sentence: the end of a sentence, maybe
# with closing quotes and opening ones, or an opening quote in the middle. Quotes look both ways in
# one language or another; one that opens has a space before it.
SENTENCE_START = re.compile(
    r"""[.!?…‽]["'“”’‘»«)\]]*\s | (?:^|\s)[(\[]*["„“»«‚‘¿¡]+$ | \s«\s$""", re.VERBOSE
)
HEADER = "truecaser\t1"

MAX_SUFFIX = 6
# Strength of what a back-off says, counted in observations.
SUFFIX_BACK_OFF = 1.0
CONTEXT_BACK_OFF = 1.0
# What was seen less often is not kept: it would fill the file and improve nothing.
MIN_CONTEXT = 2
MIN_NEIGHBOUR = 5
MIN_START = 3
MIN_FORM_SHARE = 0.002
# A word is "lower-case" and tells a sentence start from the middle if it hardly has capitals.
LOWER_SHARE = 0.95


class Token(NamedTuple):
    """A word, and what its case can be told from.

    Attributes:
        text: The word as it is written.
        key: The word without case, its digits as 0.
        gap: What stands between the word before and this one, white space as one space.
        before: The key of the word before, empty for the first word.
        left: The neighbour on the left: the word, or the punctuation if there is any.
        right: The neighbour on the right, likewise; empty at the end.
    """

    text: str
    key: str
    gap: str
    before: str
    left: str
    right: str


class Truecaser:
    """Writes lower-cased text as the text that it learned from would be written.

    Truecasing as in Lita et al. 2003 (tRuEcasIng), with a classifier for each word in place of the
    trigram model: a word takes the form it has most often, and of a word with several forms
    (German "essen", "Essen") the one that is most likely between its two neighbours,

        p(form | word, left) · p(form | word, right) / p(form | word)

    where the shares beside a neighbour back off to p(form | word), and p(form | word) is corrected
    by what a neighbour does to the case of any word: after "beim" verbs are nouns. A word never
    seen, or only at sentence starts, has the case of the known words that end alike.

    What the sentences have no case for stays as it is.

    Args:
        words: For each key of a word the number of times that each of its forms was seen.
        contexts: The same beside a neighbour: `("essen", "<", "das")`, or `">"` for the right.
        odds: By which factor a neighbour multiplies the odds of a capital: `("<", "beim")`.
        starts: Whether a sentence starts behind some punctuation (`": "`) or behind a word with
            its punctuation (`"ca. "`), where the general rule errs.
    """

    def __init__(
        self,
        words: dict[str, dict[str, int]],
        contexts: dict[tuple[str, str, str], dict[str, int]],
        odds: dict[tuple[str, str], float],
        starts: dict[str, bool],
    ):
        # One order, learned or loaded: sums of floats depend on it.
        self.words = dict(sorted(words.items()))
        self.contexts = contexts
        self.odds = odds
        self.starts = starts
        self._suffixes = _suffix_shares(self.words)

    @classmethod
    def learn(cls, sentences: Iterable[str]) -> Truecaser:
        """Learns how words are written from text with correct case.

        Args:
            sentences: The text. Sentences in capitals only are skipped.
        """
        sentences = [sentence for sentence in sentences if not sentence.isupper()]
        words = _count_forms(sentences)
        contexts, odds = _count_neighbours(sentences, words)
        return cls(words, contexts, odds, _learn_starts(sentences, words))

    def restore(self, text: str) -> str:
        """Cases a text; all but the case of letters stays as it is.

        Args:
            text: One or more sentences in lower case.
        """
        cased = iter([self._cased(token) for token in _tokens(text)])
        return WORD.sub(lambda _: next(cased), text)

    def save(self, path: Path) -> None:
        r"""Writes a text file of tab-separated fields.

        Below a header with a checksum, each line is of one of these kinds:

        - `+ gap` and `- gap`: a sentence starts behind it, or not;
        - `< neighbour factor` and `> neighbour factor`, before any word;
        - `= form count form count …`: a word;
        - `< neighbour count count …` and `> …`: the forms of the word above beside a neighbour.

        Args:
            path: The file, whose folder exists.

        Raises:
            DataError: If it cannot be written.
        """
        lines = list(self._lines())
        write_lines(path, [f"{HEADER}\t{_checksum(lines)}", *lines])

    @classmethod
    def load(cls, path: Path) -> Truecaser:
        """Reads what `save` wrote.

        Raises:
            DataError: If the file is missing or damaged.
        """
        header, *lines = read_lines(path) or [""]
        if header != f"{HEADER}\t{_checksum(lines)}":
            raise DataError(f"{path} is not a truecaser's file, or it is damaged")
        words: dict[str, dict[str, int]] = {}
        contexts, odds, starts = {}, {}, {}
        key, forms = "", []
        for line in lines:
            kind, name, *values = line.split("\t")
            if kind in ("+", "-"):
                starts[name] = kind == "+"
            elif kind == "=":
                forms = [name, *values[1::2]]
                key = _key(name)
                words[key] = dict(zip(forms, map(int, values[::2]), strict=True))
            elif key:
                counts = zip(forms, map(int, values), strict=True)
                contexts[key, kind, name] = {form: count for form, count in counts if count}
            else:
                odds[kind, name] = float(values[0])
        return cls(words, contexts, odds, starts)

    def _lines(self) -> Iterator[str]:
        for gap, starts in sorted(self.starts.items()):
            yield f"{'+' if starts else '-'}\t{gap}"
        for (side, neighbour), factor in sorted(self.odds.items()):
            yield f"{side}\t{neighbour}\t{factor}"
        of_word = defaultdict(list)
        for (key, side, neighbour), counts in sorted(self.contexts.items()):
            of_word[key].append((side, neighbour, counts))
        for key, forms in self.words.items():
            yield "\t".join(["=", *(f"{form}\t{count}" for form, count in forms.items())])
            for side, neighbour, counts in of_word[key]:
                yield "\t".join([side, neighbour, *(str(counts.get(form, 0)) for form in forms)])

    def _cased(self, token: Token) -> str:
        """The word of a token in its case."""
        form = self._form(token)
        if form == token.key:
            return _capitalised(token.text) if self._starts_sentence(token) else token.text
        if form == _capitalised(token.key):
            # The text may have a Turkish dot that the key lacks.
            return _capitalised(token.text)
        # A form has 0 for every digit, "A0" for "A4".
        digits = iter(DIGIT.findall(token.text))
        return DIGIT.sub(lambda _: next(digits), form)

    def _form(self, token: Token) -> str:
        """The most likely form of a word in the middle of a sentence; its key if lower case."""
        key = token.key
        forms = self.words.get(key)
        if forms and len(forms) == 1:
            return next(iter(forms))
        shares = _shares(forms) if forms else self._unseen(key)
        sides = [("<", token.left), (">", token.right)]
        factor = 1.0
        for side in sides:
            factor *= self.odds.get(side, 1.0)
        shares = {form: share if form == key else share * factor for form, share in shares.items()}
        total = sum(shares.values())
        shares = {form: share / total for form, share in shares.items()}
        scores = dict(shares)
        for side in sides:
            counts = self.contexts.get((key, *side), {})
            for form, share in shares.items():
                # p(form | word, neighbour) / p(form | word), but for a factor all forms have.
                scores[form] *= (counts.get(form, 0) + CONTEXT_BACK_OFF * share) / share
        return max(scores, key=scores.__getitem__)

    def _unseen(self, key: str) -> dict[str, float]:
        """The shares of both forms of a word never seen, judged by the ends of known words."""
        capital = _capitalised(key)
        if capital == key:
            return {key: 1.0}
        share = 0.0
        for length in range(min(MAX_SUFFIX, len(key)) + 1):
            number, capitals = self._suffixes.get(key[len(key) - length :], (0, 0.0))
            if not number:
                break
            share = (capitals + SUFFIX_BACK_OFF * share) / (number + SUFFIX_BACK_OFF)
        # No share is 0: it is divided by.
        return {key: 1.0 - share or 1e-9, capital: share or 1e-9}

    def _starts_sentence(self, token: Token) -> bool:
        if not token.before:
            return True
        for gap in (token.before + token.gap, token.gap):
            if gap in self.starts:
                return self.starts[gap]
        return _starts_by_rule(token.gap)


def restore_digits(translation: str, source: str) -> str:
    """Copies numbers of the source into a translation that has 0 for every digit.

    A group of zeros takes the first group of as many digits in the source that is not taken yet,
    or, for a number said twice, the last that was. Groups are what separators leave, so that
    "1,000.50" may become "1.000,50".

    Args:
        translation: Text with groups of zeros.
        source: The sentence that was translated, with any Unicode digits.

    Returns:
        The translation with digits 0 to 9; a group with no counterpart keeps its zeros.
    """
    unused = defaultdict(list)
    for number in re.findall(r"\d+", source):
        ascii_digits = "".join(str(unicodedata.decimal(digit)) for digit in number)
        unused[len(number)].append(ascii_digits)

    def next_number(zeros: re.Match[str]) -> str:
        numbers = unused[len(zeros[0])]
        if not numbers:
            return zeros[0]
        return numbers.pop(0) if len(numbers) > 1 else numbers[0]

    return re.sub(r"(?<!\d)0+(?!\d)", next_number, translation)


def restore(translation: str, source: str, truecaser: Truecaser | None) -> str:
    """Restores capitals, as far as a truecaser is given, and digits.

    Args:
        translation: A translation in lower case with 0 for every digit.
        source: The sentence that was translated.
        truecaser: One that has learned the language of the translation.
    """
    cased = truecaser.restore(translation) if truecaser else translation
    return restore_digits(cased, source)


def _key(word: str) -> str:
    """A word without case, its digits as 0."""
    # "İ".lower() is an "i" with a combining dot; Turkish text may have the plain "i" all the same.
    return DIGIT.sub("0", word.lower().replace("i\u0307", "i"))


def _capitalised(word: str) -> str:
    """A word with its first letter as a title has it; not for letters such as "ß" without one."""
    first = word[0].title()
    if len(first) > 1:
        return word
    # The dot behind a Turkish "i" goes into the "İ".
    return unicodedata.normalize("NFC", first + word[1:2]) + word[2:]


def _tokens(text: str) -> Iterator[Token]:
    """The words of a text with their surroundings."""
    words = list(WORD.finditer(text))
    keys = [_key(word[0]) for word in words]
    edges = [0, *(edge for word in words for edge in word.span()), len(text)]
    gaps = [
        SPACES.sub(" ", text[start:end]) for start, end in zip(edges[::2], edges[1::2], strict=True)
    ]
    for index, word in enumerate(words):
        gap, next_gap = gaps[index], gaps[index + 1]
        before = keys[index - 1] if index else ""
        after = keys[index + 1] if index + 1 < len(words) else ""
        yield Token(
            word[0],
            keys[index],
            gap,
            before,
            gap if gap.strip() else before,
            next_gap if next_gap.strip() else after,
        )


def _starts_by_rule(gap: str) -> bool:
    """Whether a sentence starts behind a gap, as far as this can be said of all languages."""
    return bool(SENTENCE_START.search(gap))


def _is_inside(token: Token) -> bool:
    """Whether a word stands inside a sentence, so that its case is its own."""
    return bool(token.before) and not _starts_by_rule(token.gap)


def _is_capitalised(word: str) -> bool:
    """Whether nothing but the first letter is a capital, as at any sentence start."""
    return word[0] != word[0].lower() and word[1:] == word[1:].lower()


def _shares(counts: dict[str, int]) -> dict[str, float]:
    total = sum(counts.values())
    return {form: count / total for form, count in counts.items()}


def _count_forms(sentences: list[str]) -> dict[str, dict[str, int]]:
    """How often each word has each of its forms, where its case says something."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for token in _tokens(sentence):
            if _is_inside(token) or not _is_capitalised(token.text):
                counts[token.key][_form_of(token)] += 1
    return {
        key: _common_forms(forms)
        for key, forms in counts.items()
        # Scripts without case, and numbers, have nothing to learn.
        if list(forms) != [key] or _capitalised(key) != key
    }


def _form_of(token: Token) -> str:
    """The word with its digits as 0; the very key if it is in lower case."""
    return token.key if token.text == token.text.lower() else DIGIT.sub("0", token.text)


def _common_forms(forms: Counter[str]) -> dict[str, int]:
    """The forms but for slips, the most frequent ones first, lower case first among equals."""
    least = MIN_FORM_SHARE * sum(forms.values())
    common = [(form, count) for form, count in forms.items() if count >= least]
    return dict(sorted(common, key=lambda item: (-item[1], item[0].swapcase())))


def _count_neighbours(
    sentences: list[str], words: dict[str, dict[str, int]]
) -> tuple[dict[tuple[str, str, str], dict[str, int]], dict[tuple[str, str], float]]:
    """What the neighbours of words with several forms tell of their case.

    Returns:
        Counts of forms for words beside a neighbour, and the factor by which a neighbour
        multiplies the odds of a capital for words in general.
    """
    contexts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    # For each neighbour: words in lower case, with capitals, and how many of each their shares
    # make one expect.
    tallies: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0, 0, 0])
    lower_share = {
        key: _shares(forms).get(key, 0.0) for key, forms in words.items() if len(forms) > 1
    }
    for sentence in sentences:
        for token in _tokens(sentence):
            form = _form_of(token)
            if (
                token.key not in lower_share
                or form not in words[token.key]
                or not _is_inside(token)
            ):
                continue
            share = lower_share[token.key]
            for side, neighbour in (("<", token.left), (">", token.right)):
                contexts[token.key, side, neighbour][form] += 1
                tally = tallies[side, neighbour]
                tally[form != token.key] += 1
                tally[2] += share
                tally[3] += 1 - share
    odds = {
        side: _rounded((capital + 1) / (lower + 1) * (lower_usual + 1) / (capital_usual + 1))
        for side, (lower, capital, lower_usual, capital_usual) in tallies.items()
        if lower + capital >= MIN_NEIGHBOUR
    }
    kept = {
        context: dict(forms)
        for context, forms in contexts.items()
        if sum(forms.values()) >= MIN_CONTEXT
    }
    return kept, odds


def _learn_starts(sentences: list[str], words: dict[str, dict[str, int]]) -> dict[str, bool]:
    """Where the rule for sentence starts errs: behind which punctuation, which abbreviations."""
    behind_word: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for sentence in sentences:
        for token in _tokens(sentence):
            # Other words have capitals anyway.
            if (
                token.before
                and token.gap != " "
                and _shares(words.get(token.key, {})).get(token.key, 0) >= LOWER_SHARE
            ):
                behind_word[token.before, token.gap][_is_capitalised(token.text)] += 1
    # An abbreviation says nothing of what else the same punctuation does.
    exceptions = {
        (before, gap): not _starts_by_rule(gap)
        for (before, gap), tally in behind_word.items()
        if _refutes(tally, _starts_by_rule(gap))
    }
    behind_gap: dict[str, Counter[bool]] = defaultdict(Counter)
    for (before, gap), tally in behind_word.items():
        if (before, gap) not in exceptions:
            behind_gap[gap].update(tally)
    starts = {
        gap: not _starts_by_rule(gap)
        for gap, tally in behind_gap.items()
        if _refutes(tally, _starts_by_rule(gap))
    }
    return starts | {
        before + gap: start for (before, gap), start in exceptions.items() if gap not in starts
    }


def _refutes(tally: Counter[bool], starts: bool) -> bool:
    """Whether words with a capital (True) and without show that a rule is wrong."""
    return sum(tally.values()) >= MIN_START and tally[not starts] > tally[starts]


def _suffix_shares(words: dict[str, dict[str, int]]) -> dict[str, tuple[int, float]]:
    """For each end of a word: of how many words it is, and how many of these have capitals."""
    numbers: Counter[str] = Counter()
    capitals: dict[str, float] = defaultdict(float)
    for key, forms in words.items():
        if DIGIT.search(key):
            continue
        share = 1 - _shares(forms).get(key, 0.0)
        for length in range(min(MAX_SUFFIX, len(key)) + 1):
            suffix = key[len(key) - length :]
            numbers[suffix] += 1
            capitals[suffix] += share
    return {suffix: (number, capitals[suffix]) for suffix, number in numbers.items()}


def _rounded(factor: float) -> float:
    """A factor as short as it stands in the file, and never 0."""
    return float(f"{factor:.3g}")


def _checksum(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
