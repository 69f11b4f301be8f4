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
_MIN_COMMON_WORDS = 20  # of the language that a column seems to have
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
    trigrams = [tuple(map(_trigrams, pair)) for pair in pairs]
    totals = Counter[str](), Counter[str]()
    for sides in trigrams:
        for total, side in zip(totals, sides, strict=True):
            total.update(side)
    # The longer column has more trigrams of every kind.
    balance = math.log(max(totals[1].total(), 1) / max(totals[0].total(), 1))

    def log_odds(text: Counter[str], own: Sequence[Counter[str]]) -> float:
        """How much more probable a text is as a source, without the pair's own trigrams."""
        return sum(
            count
            * (
                math.log(totals[0][trigram] - own[0][trigram] + 0.5)
                - math.log(totals[1][trigram] - own[1][trigram] + 0.5)
                + balance
            )
            for trigram, count in text.items()
        )

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
    """Whether most of the pairs have their columns the other way round.

    Args:
        pairs: The pairs in question; the first 200 of them are examined, and at most a quarter as
            many as there are correct ones.
        correct: Pairs of the same two languages; 1 000 of them are enough.
    """
    pairs = pairs[: min(200, len(correct) // 4)]
    found = find_suspicious([*correct[:1000], *pairs])
    swapped = {suspicion.pair for suspicion in found if suspicion.reason == "swapped"}
    return sum(pair in swapped for pair in pairs) > len(pairs) / 2


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


def _trigrams(text: str) -> Counter[str]:
    text = f" {text.lower()} "
    return Counter(text[begin : begin + 3] for begin in range(len(text) - 2))
