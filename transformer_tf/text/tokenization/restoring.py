"""Restores the capitals and digits that official BPEmb models remove."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from transformer_tf.errors import DataError
from transformer_tf.utils.files import atomic_write_bytes

WORD = re.compile(r"[^\W_]+")
# A sentence starts after this: an end mark with a space, or an opening quote or bracket.
SENTENCE_START = re.compile(
    r"""[.!?…‽]["'“”’‘»«)\]]*\s | (?:^|\s)[(\[]*["„“»«‚‘¿¡]+$ | \s«\s$""", re.VERBOSE
)
MAX_SUFFIX = 6  # number of last letters that decide the case of an unknown word
MIN_CONTEXT = 2  # rarer contexts are not kept
MIN_FORM_SHARE = 0.002  # rarer forms of a word are treated as typing errors

Contexts = Mapping[tuple[str, str, str], Mapping[str, int]]


class _Token(NamedTuple):
    """A word, its key (in lower case, each digit a 0) and its neighbors."""

    text: str
    key: str
    starts: bool  # whether it is the first word of a sentence
    left: str
    right: str


class Truecaser:
    """Restores the case of lower-cased text, as in the text that it learned from.

    A word gets its most frequent form. Of several forms (German "essen", "Essen") it gets the most
    likely one between its two neighbors, after Lita et al. 2003 (tRuEcasIng):

        p(form | word, left) · p(form | word, right) / p(form | word)

    A neighbor that was not seen with the word changes nothing. An unknown word gets the case of
    known words with the same ending.

    Of 2 000 German sentences of Tatoeba, it restores 92.8 % completely after learning from 60 000
    others; 89.7 % without neighbors, 87.9 % without endings.

    Args:
        words: For each word in lower case, how often each of its forms was seen.
        contexts: The same counts for each word next to a neighbor, such as
            `("essen", "<", "das")`; `"<"` is the left neighbor, `">"` the right one.
    """

    def __init__(self, words: Mapping[str, dict[str, int]], contexts: Contexts):
        self.words = dict(sorted(words.items()))
        self.contexts = contexts
        self._suffixes = _suffix_shares(self.words)

    @classmethod
    def learn(cls, sentences: Iterable[str]) -> Truecaser:
        """Learns the case of words from text; sentences in capitals are skipped."""
        sentences = [sentence for sentence in sentences if not sentence.isupper()]
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for token in chain.from_iterable(map(_tokens, sentences)):
            # A capital at the start of a sentence is not evidence.
            if token.key.title() != token.key and not (token.starts and token.text.istitle()):
                counts[token.key][_form_of(token)] += 1
        words = {key: _common_forms(forms) for key, forms in counts.items()}
        contexts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        for token in chain.from_iterable(map(_tokens, sentences)):
            forms = words.get(token.key, {})
            if len(forms) > 1 and not token.starts and _form_of(token) in forms:
                for side, neighbor in (("<", token.left), (">", token.right)):
                    contexts[token.key, side, neighbor][_form_of(token)] += 1
        kept = {key: dict(each) for key, each in contexts.items() if each.total() >= MIN_CONTEXT}
        return cls(words, kept)

    def restore(self, text: str) -> str:
        """Returns the text with the case of its letters restored."""
        cased = iter([self._cased(token) for token in _tokens(text)])
        return WORD.sub(lambda _: next(cased), text)

    def save(self, path: Path) -> None:
        """Writes the counts as JSON.

        Raises:
            OSError: If the file cannot be written.
        """
        places = sorted(self.contexts.items())
        contexts = [[*place, dict(sorted(counts.items()))] for place, counts in places]
        content = {"words": self.words, "contexts": contexts}
        atomic_write_bytes(path, json.dumps(content, ensure_ascii=False).encode())

    @classmethod
    def load(cls, path: Path) -> Truecaser:
        """Reads what `save` wrote.

        Raises:
            DataError: If the file is missing or damaged.
        """
        try:
            content = json.loads(path.read_bytes())
            contexts = {tuple(place): counts for *place, counts in content["contexts"]}
            return cls(content["words"], contexts)
        except OSError as error:
            raise DataError(f"Cannot read {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{path} is not the file of a truecaser, or is damaged") from error

    def _cased(self, token: _Token) -> str:
        """Returns a word in its case."""
        form = self._form(token)
        if form == token.key and token.starts:
            return token.text[0].title() + token.text[1:]
        if len(form) != len(token.text):
            return form
        pairs = zip(token.text, form, strict=True)  # a form has 0 for every digit
        return "".join(letter.upper() if like.isupper() else letter for letter, like in pairs)

    def _form(self, token: _Token) -> str:
        """Returns the most likely form of a word inside a sentence."""
        forms = self.words.get(token.key)
        shares = _shares(forms) if forms else self._unknown(token.key)
        scores = dict(shares)
        for side, neighbor in (("<", token.left), (">", token.right)):
            counts = self.contexts.get((token.key, side, neighbor), {})
            for form, share in shares.items():
                # p(form | word, neighbor) / p(form | word), up to a common factor
                scores[form] *= (counts.get(form, 0) + share) / share
        return max(scores, key=scores.__getitem__)

    def _unknown(self, key: str) -> dict[str, float]:
        """Returns the shares of both forms of an unknown word, by the endings of known words."""
        share = 0.0
        for length in range(min(MAX_SUFFIX, len(key)) + 1):
            number, capitals = self._suffixes.get(key[len(key) - length :], (0, 0.0))
            share = (capitals + share) / (number + 1)
        share = min(max(share, 1e-9), 1 - 1e-9)
        return {key: 1 - share, key[0].title() + key[1:]: share}


def restore_digits(translation: str, source: str) -> str:
    """Copies numbers of the source into a translation that has 0 for every digit.

    A group of zeros becomes the first unused group of as many digits in the source, or the last
    used one if the translation repeats a number. Separators end a group: "1,000.50" can become
    "1.000,50".

    Args:
        translation: Text with groups of zeros.
        source: The sentence that was translated, with any Unicode digits.

    Returns:
        The translation with digits 0 to 9. A group without a counterpart keeps its zeros.
    """
    unused = defaultdict(list)
    for number in re.findall(r"\d+", source):
        unused[len(number)].append("".join(str(unicodedata.decimal(digit)) for digit in number))

    def next_number(zeros: re.Match[str]) -> str:
        numbers = unused[len(zeros[0])]
        if not numbers:
            return zeros[0]
        return numbers.pop(0) if len(numbers) > 1 else numbers[0]

    return re.sub(r"(?<!\d)0+(?!\d)", next_number, translation)


def restore(translation: str, source: str, truecaser: Truecaser | None) -> str:
    """Restores digits, and capitals if there is a truecaser.

    Args:
        translation: A translation in lower case with 0 for every digit.
        source: The sentence that was translated.
        truecaser: A truecaser of the language of the translation.
    """
    cased = truecaser.restore(translation) if truecaser else translation
    return restore_digits(cased, source)


def _tokens(text: str) -> Iterator[_Token]:
    """Yields the words of a text. A neighbor is adjacent punctuation, or else a word."""
    words = list(WORD.finditer(text))
    edges = [0, *(edge for word in words for edge in word.span()), len(text)]
    gaps = [
        re.sub(r"\s+", " ", text[begin:end])
        for begin, end in zip(edges[::2], edges[1::2], strict=True)
    ]
    keys = ["", *(_key(word[0]) for word in words), ""]
    for index, word in enumerate(words):
        left, right = gaps[index], gaps[index + 1]
        yield _Token(
            word[0],
            keys[index + 1],
            index == 0 or bool(SENTENCE_START.search(left)),
            left if left.strip() else keys[index],
            right if right.strip() else keys[index + 2],
        )


def _key(word: str) -> str:
    return re.sub(r"\d", "0", word.lower())


def _form_of(token: _Token) -> str:
    """Returns the word with 0 for every digit."""
    return re.sub(r"\d", "0", token.text)


def _common_forms(forms: Counter[str]) -> dict[str, int]:
    """Returns the forms without typing errors, most frequent first, then lower case first."""
    least = MIN_FORM_SHARE * forms.total()
    common = [(form, count) for form, count in forms.items() if count >= least]
    return dict(sorted(common, key=lambda item: (-item[1], item[0].swapcase())))


def _shares(counts: dict[str, int]) -> dict[str, float]:
    total = sum(counts.values())
    return {form: count / total for form, count in counts.items()}


def _suffix_shares(words: dict[str, dict[str, int]]) -> dict[str, tuple[int, float]]:
    """Returns the number of words with each ending, and how many of them have a capital."""
    numbers: Counter[str] = Counter()
    capitals: dict[str, float] = defaultdict(float)
    for key, forms in words.items():
        if re.search(r"\d", key):
            continue
        share = 1 - _shares(forms).get(key, 0.0)
        for length in range(min(MAX_SUFFIX, len(key)) + 1):
            suffix = key[len(key) - length :]
            numbers[suffix] += 1
            capitals[suffix] += share
    return {suffix: (number, capitals[suffix]) for suffix, number in numbers.items()}
