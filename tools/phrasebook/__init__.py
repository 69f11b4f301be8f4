"""Generates the phrasebook, the English-German corpus of the quickstart, from a small grammar.

Every English sentence has one German translation, which depends on the English sentence alone:
`you` is always `du`; the simple past is always the German perfect (except `was` → `war` and `had`
→ `hatte`); the teacher, the doctor, the student and the neighbor are men. No two English sentences
have the same translation.

The `combination` of a pair names the words that it combines, such as `buy|coat`, regardless of
subject, tense and form of the sentence. With two clauses it has two parts: `be|Berlin + buy|coat`.
A hash of each part decides whether it is held out, for test or for validation. A pair with a
held-out part goes to that split; a pair with parts for both is left out. "Anna buys a coat" in the
test set therefore means that no training sentence is about buying coats, although every word and
every pattern is trained.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random

from tools.phrasebook.clauses import CLAUSES, Pattern, Sentence
from tools.phrasebook.scenes import SCENES

__all__ = ["PhrasePair", "generate_phrasebook"]

PATTERNS: dict[str, Pattern] = {**CLAUSES, **SCENES}

_HELD_OUT_SHARE = 0.018  # of the combinations, for test and for validation each
_SALT = "285"  # chosen so that no word loses most of its combinations
_MAX_WORDS = 14
_MAX_REPEATS = 300  # in a row, after which a pattern counts as exhausted


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
        seed: Chooses among all possible sentences. It does not affect their splits.

    Returns:
        The pairs, in the order in which they were made, the same on every machine.

    Raises:
        ValueError: If the grammar cannot make this many pairs.
    """
    generator = random.Random(seed)
    pairs: dict[str, PhrasePair] = {}
    targets: set[str] = set()
    repeats = dict.fromkeys(PATTERNS, 0)
    active = list(PATTERNS)
    while active and len(pairs) < num_pairs:
        for name in active[:]:
            sentence = _draw(PATTERNS[name], generator)
            split = _split(sentence.keys)
            source, target = sentence.english, sentence.german
            if split is None or max(len(source.split()), len(target.split())) > _MAX_WORDS:
                continue
            if source.casefold() in pairs or target.casefold() in targets:
                repeats[name] += 1
                if repeats[name] == _MAX_REPEATS:
                    active.remove(name)
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
    """Calls a pattern until it makes a sentence."""
    while (sentence := pattern(generator)) is None:
        pass
    return sentence


def _split(keys: tuple[str, ...]) -> str | None:
    """Returns the split of a pair with these parts; None if one is for test, one for validation."""
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
