"""Makes variants of training pairs: informal spelling, typing errors, new names, joined sentences.

A model trained on clean sentences alone translates lower case, sentences without a full stop and
new names badly. Some variants change the case and the punctuation of the source and keep its
translation; others change a name, a number or an address on both sides. All work for any language.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from transformer_tf.text.corpora.cleaning import fold
from transformer_tf.text.corpora.pairs import Pair, PairWriter, StoredPairs
from transformer_tf.text.corpora.splits import text_hash
from transformer_tf.text.normalization import normalize_text
from transformer_tf.text.symbols import TAGS

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[:.,]\d+)*")
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_FINAL_MARKS = ".!?…"
_COMMON_SHARE = 0.02  # a name is in lower case in at most this share of its occurrences
_SHORTEST_NAME = 3
_SHORTEST_MISSPELT = 4
_MAX_WORDS = 50_000  # used to learn the spelling of invented names
_TRIALS = 20  # for each variant, because some pairs have no variant
_TOP_LEVEL = ("com", "org", "net", "de", "eu", "info", "io", "edu")
_EMOJI = "😀😂😉😊😍😎😢😭😡👍👎👏🙏💪❤🎉🎂🌞🌧🐶🐱🍕🍺🚗✈🏠📚⚽🔥⭐"


def with_variants(
    pairs: StoredPairs, held_out: Iterable[Pair], share: float, seed: int, directory: Path
) -> StoredPairs:
    """Returns the pairs, followed by variants of some of them.

    Tagged pairs get no variants.

    Args:
        pairs: The training pairs.
        held_out: No variant shares a sentence with these pairs, on either side, regardless of
            case, punctuation and spacing.
        share: Number of variants for each pair.
        seed: Seed of the selection.
        directory: The folder of the unnamed file that holds the result.

    Raises:
        DataError: If the folder cannot be written to.
    """
    sources, targets = set[int](), set[int]()
    for source, target in held_out:
        sources.add(text_hash(fold(source)))
        targets.add(text_hash(fold(target)))
    untagged = [pair for pair in pairs if not pair[0].startswith(TAGS)]
    maker = VariantMaker(untagged, seed)
    wanted = round(share * len(untagged))
    with PairWriter(directory) as writer:
        for pair, weight in zip(pairs, pairs.weights, strict=True):
            writer.add(pair, weight)
        for _ in range(_TRIALS * wanted):
            if not wanted:
                break
            variant = maker.draw()
            if variant is None:
                continue
            source, target = (normalize_text(side) for side in variant)
            is_held_out = text_hash(fold(source)) in sources or text_hash(fold(target)) in targets
            if source and target and not is_held_out:
                writer.add((source, target))
                wanted -= 1
        return writer.finish()


class VariantMaker:
    """Draws variants of sentence pairs.

    Args:
        pairs: The pairs.
        seed: Seed of the draws.
    """

    def __init__(self, pairs: Sequence[Pair], seed: int):
        self._pairs = pairs
        self._random = random.Random(seed)
        counts = Counter(word for source, _ in pairs for word in _WORD.findall(source))
        self._next_letters = _letters_after(counts)
        self._named: list[tuple[int, str]] = []
        self._numbered: list[int] = []
        for index, (source, target) in enumerate(pairs):
            names = set(_WORD.findall(source)) & set(_WORD.findall(target))
            self._named += [(index, word) for word in sorted(names) if _is_name(word, counts)]
            if shared_numbers(source, target):
                self._numbered.append(index)
        self._kinds = {
            self.respell: 0.35,
            self.misspell: 0.1,
            self.join: 0.2,
            self.rename: 0.15,
            self.renumber: 0.1,
            self.address: 0.07,
            self.decorate: 0.03,
        }

    def draw(self) -> Pair | None:
        """Returns a variant of a random pair, or None if this pair has none."""
        kind = self._random.choices(list(self._kinds), list(self._kinds.values()))[0]
        variant = kind()
        if variant is not None and kind != self.respell and self._random.random() < 0.2:
            return self._respelt(variant)
        return variant

    def respell(self) -> Pair | None:
        """Writes the source in lower case, without its final mark or without apostrophes."""
        return self._respelt(self._choose())

    def misspell(self) -> Pair | None:
        """Makes a typing error in a word of the source: letters swapped, missing or doubled."""
        source, target = self._choose()
        words = [
            match
            for match in _WORD.finditer(source)
            if len(match[0]) >= _SHORTEST_MISSPELT and match[0] not in target  # names stay
        ]
        if not words:
            return None
        word = self._random.choice(words)
        place = self._random.randrange(word.start() + 1, word.end() - 1)  # the first letter stays
        first, second = source[place], source[place + 1]
        wrong = self._random.choice((second + first, first, first + first + second))
        misspelt = source[:place] + wrong + source[place + 2 :]
        return (misspelt, target) if misspelt != source else None

    def join(self) -> Pair | None:
        """Joins two to four pairs into one line."""
        chosen = [self._choose() for _ in range(self._random.choice((2, 2, 3, 4)))]
        return " ".join(source for source, _ in chosen), " ".join(target for _, target in chosen)

    def rename(self) -> Pair | None:
        """Replaces a name on both sides."""
        return self._replace_name(self._name())

    def address(self) -> Pair | None:
        """Replaces a name with a web or mail address."""
        first, second = self._name().lower(), self._name().lower()
        end = self._random.choice(_TOP_LEVEL)
        return self._replace_name(
            self._random.choice(
                (
                    f"www.{first}.{end}",
                    f"{first}.{end}",
                    f"https://{first}.{end}/{second}",
                    f"https://www.{first}.{end}",
                    f"{first}@{second}.{end}",
                    f"{first}.{second}@{self._name().lower()}.{end}",
                )
            )
        )

    def renumber(self) -> Pair | None:
        """Replaces the numbers on both sides."""
        if not self._numbered:
            return None
        source, target = self._pairs[self._random.choice(self._numbered)]
        new = {old: self._number(old) for old in shared_numbers(source, target)}
        source, target = (
            _NUMBER.sub(lambda match: new[match.group()], side) for side in (source, target)
        )
        return source, target

    def decorate(self) -> Pair | None:
        """Adds an emoji at the end of both sides."""
        source, target = self._choose()
        emoji = self._random.choice(_EMOJI)
        return f"{source} {emoji}", f"{target} {emoji}"

    def _choose(self) -> Pair:
        return self._pairs[self._random.randrange(len(self._pairs))]

    def _respelt(self, pair: Pair) -> Pair | None:
        source, target = pair
        ways = self._random.choice(("lower", "lower", "bare", "bare lower", "bare lower plain"))
        if "bare" in ways:
            source = source.rstrip(_FINAL_MARKS)
        if "lower" in ways:
            source = source.lower()
        if "plain" in ways:
            source = source.replace("'", "").replace("’", "")
        return (source, target) if source != pair[0] else None

    def _replace_name(self, new: str) -> Pair | None:
        if not self._named:
            return None
        index, name = self._random.choice(self._named)
        source, target = self._pairs[index]
        # Languages form genitives differently ("Toms", "Tom's"): skip these pairs.
        if f"{name}'" in source or f"{name}’" in source or f"{name}s" in target or new == name:
            return None
        whole = re.compile(rf"\b{name}\b")
        return whole.sub(new, source), whole.sub(new, target)

    def _name(self) -> str:
        """Returns an invented name, spelt like the words of the corpus."""
        length = self._random.randint(4, 10)
        name = self._random.choice(self._next_letters["^"])
        while len(name) < length and (following := self._next_letters.get(name[-2:])):
            name += self._random.choice(following)
        return name.capitalize()

    def _number(self, old: str) -> str:
        """Returns a random number, usually of the same form."""
        if _CLOCK.fullmatch(old):
            return f"{self._random.randint(0, 23)}:{self._random.randrange(60):02}"
        if old.isdigit() and self._random.random() < 0.3:
            return str(self._random.randint(2, 10 ** self._random.randint(1, 7)))
        return "".join(
            str(self._random.randint(0 if place else 2, 9)) if digit.isdigit() else digit
            for place, digit in enumerate(old)
        )


def shared_numbers(source: str, target: str) -> list[str]:
    """Returns the distinct numbers of a pair, or none if its sides differ or contain a 1.

    A 1 cannot be replaced, because the noun after it is singular.
    """
    numbers = sorted(_NUMBER.findall(source))
    same = numbers == sorted(_NUMBER.findall(target)) and "1" not in numbers
    return list(dict.fromkeys(numbers)) if same else []


def _is_name(word: str, counts: Counter[str]) -> bool:
    if len(word) < _SHORTEST_NAME or not word.istitle():
        return False
    return counts[word.lower()] <= _COMMON_SHARE * counts[word]


def _letters_after(counts: Counter[str]) -> dict[str, list[str]]:
    """Returns the letters that follow each pair of letters, in words of more than three letters.

    A letter is listed once for each word. The key `^` has the first two letters of each word.
    """
    letters: dict[str, list[str]] = {"^": []}
    words = sorted({word.lower() for word in counts if len(word) > 3})
    for word in words[:: -(-len(words) // _MAX_WORDS) or 1]:
        letters["^"].append(word[:2])
        for place in range(2, len(word)):
            letters.setdefault(word[place - 2 : place], []).append(word[place])
    return letters if letters["^"] else {"^": ["na"]}
