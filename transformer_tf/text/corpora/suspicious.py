"""Finds sentences in the wrong language and swapped columns, by simple statistics.

Most pairs of a corpus are correct, so its columns show how often each sequence of three letters
occurs in each language. A sentence that looks more like the other column is suspicious: it is not
translated, or its pair is swapped. Common words such as "the" and "und" reveal a whole column in
an unexpected language.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Sequence

from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.utils.languages import COMMON_WORDS

MAX_EXAMINED = 10_000
_THRESHOLD = 8.0  # the other language is e^8 = 3 000 times as probable, letter by letter
_MIN_PAIRS, _MAX_PAIRS = 20, 500  # to compare columns
_SWAPPED = 0.5  # a trigram is on average e^0.5 = 1.6 times as probable in the other column
_MIN_COMMON_WORDS = 20  # of the language that a column seems to have
_CLEARLY_MORE = 1.5  # times as many common words as of the expected language

_Trigrams = tuple[Counter[str], Counter[str]]
"""How often each sequence of three letters occurs in a source and in a target."""


@dataclasses.dataclass(frozen=True)
class Suspicion:
    """A suspicious pair.

    Attributes:
        pair: The pair.
        reason: `swapped`, `source looks like target` or `target looks like source`.
    """

    pair: Pair
    reason: str


def find_suspicious(pairs: Sequence[Pair]) -> list[Suspicion]:
    """Returns the pairs with a side that looks like the other language.

    Args:
        pairs: Sentence pairs, most of which are correct.
    """
    trigrams = [_trigrams(pair) for pair in pairs]
    log_odds = _LogOdds(trigrams)
    found = []
    for pair, sides in zip(pairs, trigrams, strict=True):
        wrong_source = log_odds(sides[0], sides) < -_THRESHOLD
        wrong_target = log_odds(sides[1], sides) > _THRESHOLD
        if wrong_source and wrong_target:
            found.append(Suspicion(pair, "swapped"))
        elif wrong_source:
            found.append(Suspicion(pair, "source looks like target"))
        elif wrong_target:
            found.append(Suspicion(pair, "target looks like source"))
    return found


def columns_are_swapped(pairs: Sequence[Pair], correct: Sequence[Pair]) -> bool:
    """Whether the columns of the pairs are the other way round; False if there are too few pairs.

    Args:
        pairs: The pairs in question.
        correct: Pairs of the same two languages, with the columns in order.
    """
    if min(len(pairs), len(correct)) < _MIN_PAIRS:
        return False
    source, target = _sum([_trigrams(pair) for pair in _sample(pairs)])
    log_odds = _LogOdds([_trigrams(pair) for pair in _sample(correct)])
    return (
        log_odds(source) < -_SWAPPED * source.total()
        and log_odds(target) > _SWAPPED * target.total()
    )


def seeming_language(texts: Iterable[str], language: str) -> str:
    """Guesses the language of texts from their common words.

    Args:
        texts: Many sentences.
        language: The expected language.

    Returns:
        The code of a language in `COMMON_WORDS`, if the texts clearly have more of its words than
        of the words of `language`; otherwise `language`.
    """
    if language not in COMMON_WORDS:
        return language
    words = Counter(word for text in texts for word in text.lower().split())
    counts = {
        code: sum(words[word] for word in own)
        for code, own in COMMON_WORDS.items()
        if sum(word in words for word in own) >= len(own) / 2  # the Polish "i" is in English, too
    } | {language: sum(words[word] for word in COMMON_WORDS[language])}
    best = max(counts, key=lambda code: counts[code])
    clear = counts[best] >= max(_MIN_COMMON_WORDS, _CLEARLY_MORE * counts[language])
    return best if clear else language


class _LogOdds:
    """How much more probable a text is as a source than as a target.

    Args:
        trigrams: The trigrams of each pair of a corpus.
    """

    def __init__(self, trigrams: Sequence[_Trigrams]) -> None:
        self.source, self.target = _sum(trigrams)
        # The longer column has more trigrams of every kind.
        self.balance = math.log(max(self.target.total(), 1) / max(self.source.total(), 1))

    def __call__(self, text: Counter[str], own: _Trigrams | None = None) -> float:
        """Returns the logarithm of the ratio.

        Args:
            text: The trigrams of the text.
            own: Those of its pair, which are left out of the corpus.
        """
        own_source, own_target = own or (Counter[str](), Counter[str]())
        return sum(
            count
            * (
                math.log(self.source[trigram] - own_source[trigram] + 0.5)
                - math.log(self.target[trigram] - own_target[trigram] + 0.5)
                + self.balance
            )
            for trigram, count in text.items()
        )


def _sample(pairs: Sequence[Pair]) -> Sequence[Pair]:
    """Takes pairs from all parts of a corpus, which often begins with its shortest sentences."""
    return pairs[:: -(-len(pairs) // _MAX_PAIRS)]


def _sum(trigrams: Iterable[_Trigrams]) -> _Trigrams:
    """Adds up the trigrams of both columns."""
    totals = Counter[str](), Counter[str]()
    for sides in trigrams:
        for total, side in zip(totals, sides, strict=True):
            total.update(side)
    return totals


def _trigrams(pair: Pair) -> _Trigrams:
    """Counts each sequence of three letters of both sides."""
    source, target = (f" {text.lower()} " for text in pair)
    return _count(source), _count(target)


def _count(text: str) -> Counter[str]:
    return Counter(text[begin : begin + 3] for begin in range(len(text) - 2))
