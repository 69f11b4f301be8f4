"""Training pairs as people type them: other spellings, names, numbers, several sentences a line.

A corpus of clean sentences teaches nothing of lower case, a forgotten full stop or a name that it
does not hold. So pairs are varied: what changes the source alone (its case, its marks) leaves the
translation as it is; what is copied (a name, a number, an address) changes alike on both sides.
Nothing here knows a language.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from transformer_tf.text.cleaning import fold, normalize_text
from transformer_tf.text.pairs import Pair, PairWriter, StoredPairs
from transformer_tf.text.splits import text_hash

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[:.,]\d+)*")
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_FINAL_MARKS = ".!?…"
_COMMON_SHARE = 0.02  # a name is written small at most this often
_SHORTEST_NAME = 3
_MOST_WORDS = 50_000  # to learn the shape of words from
_TRIALS = 20  # for each variant wanted; some pairs have nothing to vary
_TOP_LEVEL = ("com", "org", "net", "de", "eu", "info", "io", "edu")
_EMOJI = "😀😂😉😊😍😎😢😭😡👍👎👏🙏💪❤🎉🎂🌞🌧🐶🐱🍕🍺🚗✈🏠📚⚽🔥⭐"


def with_variants(
    pairs: Sequence[Pair], held_out: Iterable[Pair], share: float, seed: int, directory: Path
) -> StoredPairs:
    """The pairs, and after them variants of some.

    Args:
        pairs: The training pairs.
        held_out: Pairs of which no variant may have a sentence, on either side and whatever its
            case, punctuation and spacing.
        share: Number of variants for each pair.
        seed: Chooses them.
        directory: Where the file of the result goes; it is gone when nobody reads it any more.

    Raises:
        DataError: If nothing can be written there.
    """
    sources, targets = set[int](), set[int]()
    for source, target in held_out:
        sources.add(text_hash(fold(source)))
        targets.add(text_hash(fold(target)))
    maker = VariantMaker(pairs, seed)
    wanted = round(share * len(pairs))
    with PairWriter(directory) as writer:
        for pair in pairs:
            writer.add(pair)
        for _ in range(_TRIALS * wanted):
            if not wanted:
                break
            variant = maker.draw()
            if variant is None:
                continue
            source, target = (normalize_text(side) for side in variant)
            known = text_hash(fold(source)) in sources or text_hash(fold(target)) in targets
            if source and target and not known:
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
        self._shapes = _shapes(counts)
        self._named: list[tuple[int, str]] = []
        self._numbered: list[int] = []
        for index, (source, target) in enumerate(pairs):
            names = set(_WORD.findall(source)) & set(_WORD.findall(target))
            self._named += [(index, word) for word in sorted(names) if _is_name(word, counts)]
            if shared_numbers(source, target):
                self._numbered.append(index)
        self._kinds = {
            self.respell: 0.45,
            self.join: 0.2,
            self.rename: 0.15,
            self.renumber: 0.1,
            self.address: 0.07,
            self.decorate: 0.03,
        }

    def draw(self) -> Pair | None:
        """A variant of some pair, or None: then try again."""
        kind = self._random.choices(list(self._kinds), list(self._kinds.values()))[0]
        variant = kind()
        # What was copied may be typed carelessly, too.
        if variant is not None and kind != self.respell and self._random.random() < 0.2:
            return self._respelt(variant)
        return variant

    def respell(self) -> Pair | None:
        """The source in lower case, without its final mark or without apostrophes."""
        return self._respelt(self._choose())

    def join(self) -> Pair | None:
        """Two to four pairs on a line."""
        chosen = [self._choose() for _ in range(self._random.choice((2, 2, 3, 4)))]
        return " ".join(source for source, _ in chosen), " ".join(target for _, target in chosen)

    def rename(self) -> Pair | None:
        """Another name on both sides."""
        return self._replace_name(self._name())

    def address(self) -> Pair | None:
        """A web or mail address in place of a name."""
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
        """Other numbers on both sides."""
        if not self._numbered:
            return None
        source, target = self._pairs[self._random.choice(self._numbered)]
        new = {old: self._number(old) for old in shared_numbers(source, target)}
        source, target = (
            _NUMBER.sub(lambda match: new[match.group()], side) for side in (source, target)
        )
        return source, target

    def decorate(self) -> Pair | None:
        """An emoji at the end of both sides."""
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
        # "Toms" in the one language and "Tom's" in the other need their grammar.
        if f"{name}'" in source or f"{name}’" in source or f"{name}s" in target or new == name:
            return None
        whole = re.compile(rf"\b{name}\b")
        return whole.sub(new, source), whole.sub(new, target)

    def _name(self) -> str:
        """A word that nobody has heard of, spelt as words here are."""
        length = self._random.randint(4, 10)
        name = self._random.choice(self._shapes["^"])
        while len(name) < length and (following := self._shapes.get(name[-2:])):
            name += self._random.choice(following)
        return name.capitalize()

    def _number(self, old: str) -> str:
        if _CLOCK.fullmatch(old):
            return f"{self._random.randint(0, 23)}:{self._random.randrange(60):02}"
        if old.isdigit() and self._random.random() < 0.3:
            return str(self._random.randint(2, 10 ** self._random.randint(1, 7)))
        new = "".join(
            str(self._random.randint(0 if place else 2, 9)) if digit.isdigit() else digit
            for place, digit in enumerate(old)
        )
        return new


def shared_numbers(source: str, target: str) -> list[str]:
    """The numbers of a pair, if both sides have the same ones; none if a 1 is among them.

    One thing has another grammar than two.
    """
    numbers = sorted(_NUMBER.findall(source))
    same = numbers == sorted(_NUMBER.findall(target)) and "1" not in numbers
    return list(dict.fromkeys(numbers)) if same else []


def _is_name(word: str, counts: Counter[str]) -> bool:
    if len(word) < _SHORTEST_NAME or not word.istitle():
        return False
    return counts[word.lower()] <= _COMMON_SHARE * counts[word]


def _shapes(counts: Counter[str]) -> dict[str, list[str]]:
    """What letter follows two letters, as often as words of four letters and more have it.

    Under `^` the beginnings of words.
    """
    shapes: dict[str, list[str]] = {"^": []}
    words = sorted({word.lower() for word in counts if len(word) > 3})
    for word in words[:: -(-len(words) // _MOST_WORDS) or 1]:
        shapes["^"].append(word[:2])
        for place in range(2, len(word)):
            shapes.setdefault(word[place - 2 : place], []).append(word[place])
    return shapes if shapes["^"] else {"^": ["na"]}
