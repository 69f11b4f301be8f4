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

from transformer_tf.text.corpora.pairs import Pair
from transformer_tf.utils.languages import COMMON_WORDS

MAX_EXAMINED = 10_000
_THRESHOLD = 8.0  # the other language is e^8 = 3 000 times as probable, letter by letter
_SWAPPED = 0.5  # each sequence of letters is on average e^0.5 = 1.6 times as probable there
_MIN_PAIRS = 20  # to compare columns
_MIN_COMMON_WORDS = 20  # of the language that a column seems to have
_NOTHING: Counter[str] = Counter()
_CLEARLY_MORE = 1.5  # times as many common words as of the expected language


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
    trigrams = [(_trigrams(source), _trigrams(target)) for source, target in pairs]
    log_odds = _LogOdds(*_count_trigrams(pairs))
    found = []
    for pair, sides in zip(pairs, trigrams, strict=True):
        wrong_source = log_odds(sides[0], *sides) < -_THRESHOLD
        wrong_target = log_odds(sides[1], *sides) > _THRESHOLD
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
        pairs: The pairs in question; the first 200 are examined.
        correct: Pairs of the same two languages; the first 1 000 are used.
    """
    if min(len(pairs), len(correct)) < _MIN_PAIRS:
        return False
    source, target = _count_trigrams(pairs[:200])
    odds = _LogOdds(*_count_trigrams(correct[:1000]))
    return odds(source) < -_SWAPPED * source.total() and odds(target) > _SWAPPED * target.total()


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
        source: How often each sequence of three letters occurs in the source column.
        target: The same for the target column.
    """

    def __init__(self, source: Counter[str], target: Counter[str]) -> None:
        self.source, self.target = source, target
        # The longer column has more trigrams of every kind.
        self.balance = math.log(max(target.total(), 1) / max(source.total(), 1))

    def __call__(
        self,
        text: Counter[str],
        own_source: Counter[str] = _NOTHING,
        own_target: Counter[str] = _NOTHING,
    ) -> float:
        """Returns the logarithm, without a pair's own share in the columns."""
        return sum(
            count
            * (
                math.log(self.source[trigram] - own_source[trigram] + 0.5)
                - math.log(self.target[trigram] - own_target[trigram] + 0.5)
                + self.balance
            )
            for trigram, count in text.items()
        )


def _count_trigrams(pairs: Sequence[Pair]) -> tuple[Counter[str], Counter[str]]:
    """Counts the trigrams of both columns."""
    counts = Counter[str](), Counter[str]()
    for pair in pairs:
        for count, text in zip(counts, pair, strict=True):
            count.update(_trigrams(text))
    return counts


def _trigrams(text: str) -> Counter[str]:
    text = f" {text.lower()} "
    return Counter(text[begin : begin + 3] for begin in range(len(text) - 2))
