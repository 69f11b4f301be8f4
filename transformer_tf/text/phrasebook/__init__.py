"""English-German sentence pairs that a small grammar makes: the corpus of the quickstart.

Every English sentence has one German translation, which follows from the English alone: `you` is
always `du`, the simple past always the German perfect (but `was` is `war`, `had` is `hatte`), the
teacher, the doctor, the student and the neighbor are men. No two English sentences share their
German either.

A pair's `combination` names what is combined in it, such as `buy|coat`, whoever does it, in which
tense, and in whatever form of sentence; where two clauses combine something, `be|Berlin +
buy|coat`. A hash of each part decides whether it is held out, for test or validation. A pair that
has a held-out part goes there; one that has parts held out for both is not made. So "Anna buys a
coat" in the test set means that no training sentence speaks of buying coats, while each word, and
every pattern, is trained.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random

from transformer_tf.text.phrasebook.clauses import CLAUSES, Pattern, Sentence
from transformer_tf.text.phrasebook.scenes import SCENES

__all__ = ["PhrasePair", "generate_phrasebook"]

PATTERNS: dict[str, Pattern] = {**CLAUSES, **SCENES}

_HELD_OUT_SHARE = 0.018  # of the combinations, for test and for validation each
_SALT = "285"  # chosen so that no word loses most of its combinations
_MAX_WORDS = 14
_MAX_REPEATS = 300  # drawn in a row: then a pattern has little more to say


@dataclasses.dataclass(frozen=True)
class PhrasePair:
    """A sentence and its translation.

    Attributes:
        source: English.
        target: German.
        pattern: Name of the sentence pattern.
        combination: What is combined, such as `buy|coat`; parts are joined by ` + `.
        split: `train`, `validation` or `test`.
    """

    source: str
    target: str
    pattern: str
    combination: str
    split: str


def generate_phrasebook(num_pairs: int = 24_000, seed: int = 0) -> list[PhrasePair]:
    """Makes distinct sentence pairs, evenly over the sentence patterns.

    Args:
        num_pairs: How many pairs.
        seed: Chooses which of all possible sentences are made, not the split they belong to.

    Returns:
        The pairs, in the order they were made. The same on every machine.

    Raises:
        ValueError: If the grammar cannot make so many.
    """
    generator = random.Random(seed)
    pairs: dict[str, PhrasePair] = {}
    targets: set[str] = set()
    repeats = dict.fromkeys(PATTERNS, 0)
    living = list(PATTERNS)
    while living and len(pairs) < num_pairs:
        for name in living[:]:
            sentence = _draw(PATTERNS[name], generator)
            split = _split(sentence.keys)
            source, target = sentence.english, sentence.german
            if split is None or max(len(source.split()), len(target.split())) > _MAX_WORDS:
                continue
            if source.casefold() in pairs or target.casefold() in targets:
                repeats[name] += 1
                if repeats[name] == _MAX_REPEATS:
                    living.remove(name)
                continue
            repeats[name] = 0
            targets.add(target.casefold())
            combination = " + ".join(sentence.keys)
            pairs[source.casefold()] = PhrasePair(source, target, name, combination, split)
            if len(pairs) == num_pairs:
                break
    if len(pairs) < num_pairs:
        raise ValueError(
            f"`num_pairs` must be at most {len(pairs)}, all that the grammar made with this "
            f"seed. Received: num_pairs={num_pairs}"
        )
    return list(pairs.values())


def _draw(pattern: Pattern, generator: random.Random) -> Sentence:
    """What the pattern makes as soon as it makes anything."""
    while (sentence := pattern(generator)) is None:
        pass
    return sentence


def _split(keys: tuple[str, ...]) -> str | None:
    """The split that a pair with these parts belongs to; None if they belong to two tests."""
    held_out = {split for split in map(_split_of_part, keys) if split != "train"}
    if len(held_out) > 1:
        return None
    return held_out.pop() if held_out else "train"


def _split_of_part(key: str) -> str:
    digest = hashlib.blake2b(f"{_SALT}\t{key}".encode(), digest_size=8).digest()
    share = int.from_bytes(digest, "big") / 2**64
    if share < _HELD_OUT_SHARE:
        return "test"
    return "validation" if share < 2 * _HELD_OUT_SHARE else "train"
