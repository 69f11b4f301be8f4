"""The phrasebook: 24 000 English-German pairs from a small grammar, with gold word alignments.

The pairs are in `phrasebook.tsv.gz`. In a clone, `python -m tools.phrasebook` writes this file; the
grammar is not part of the package.
"""

from __future__ import annotations

import dataclasses
import gzip
from importlib import resources


@dataclasses.dataclass(frozen=True)
class Phrase:
    """A sentence pair with its split and its gold word alignment.

    Attributes:
        source: The English sentence.
        target: The German sentence.
        split: `train`, `validation` or `test`.
        sure: The certain links, pairs of a source and a target word, counted from 0.
        possible: All acceptable links, including those of `sure`.
    """

    source: str
    target: str
    split: str
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def load_phrasebook() -> list[Phrase]:
    """Reads all pairs, in the order of the file."""
    file = resources.files(__package__) / "phrasebook.tsv.gz"
    lines = gzip.decompress(file.read_bytes()).decode().splitlines()
    phrases = []
    for line in lines:
        source, target, split, sure, possible = line.split("\t")
        sure_links = _links(sure)
        phrases.append(Phrase(source, target, split, sure_links, sure_links | _links(possible)))
    return phrases


def _links(text: str) -> frozenset[tuple[int, int]]:
    """Reads links such as `0-0 1-2`."""
    pairs = (link.split("-") for link in text.split())
    return frozenset((int(source), int(target)) for source, target in pairs)
