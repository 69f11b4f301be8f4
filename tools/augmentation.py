r"""Augmentation: more training pairs with informal spelling, typing errors, new names and numbers.

python -m tools.augmentation configs/tatoeba.yaml augmented.tsv [--share 0.5] \
    [section.key=value ...]

Writes variants of the training pairs of a configuration to a file for `data.mix`. A model trained
on clean sentences alone translates lower case, sentences without a full stop and new names badly.
Some variants change the case and the punctuation of the source and keep its translation; others
change a name, a number or an address on both sides. All work for any language.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer_tf.config import load_config
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.text.corpora.corpus import load_corpus
from transformer_tf.text.normalization import normalize_text
from transformer_tf.text.symbols import TAGS
from transformer_tf.utils.lines import write_lines
from transformer_tf.utils.startup import run_command

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


def augment(pairs: Sequence[Pair], share: float, seed: int) -> Iterator[Pair]:
    """Yields variants of some pairs. Tagged pairs get none.

    Args:
        pairs: The pairs.
        share: Number of variants for each pair.
        seed: Seed of the selection.
    """
    untagged = [pair for pair in pairs if not pair[0].startswith(TAGS)]
    augmenter = Augmenter(untagged, seed)
    wanted = round(share * len(untagged))
    for _ in range(_TRIALS * wanted):
        if not wanted:
            break
        variant = augmenter.draw()
        if variant is None:
            continue
        source, target = (normalize_text(side) for side in variant)
        if source and target:
            yield source, target
            wanted -= 1


class Augmenter:
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
        """Returns an invented name, spelled like the words of the corpus."""
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


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        "python -m tools.augmentation",
        description="Write variants of the training pairs of a configuration, for data.mix.",
    )
    parser.add_argument("config", type=Path, metavar="CONFIG")
    parser.add_argument("output", type=Path, metavar="OUT")
    parser.add_argument("--share", type=float, default=0.5, help="variants for each pair")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value")
    arguments = parser.parse_intermixed_args()
    config = load_config(arguments.config, arguments.overrides)
    # The held-out pairs have no variants: one would be almost a test pair.
    pairs = load_corpus(config.data, config.training.seed).train
    variants = augment(pairs, arguments.share, config.training.seed)
    write_lines(arguments.output, ("\t".join(pair) for pair in variants))


if __name__ == "__main__":
    sys.exit(run_command(main))
