"""Writes the package's phrasebook file: `python -m tools.phrasebook`."""

import gzip
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.phrasebook import generate_phrasebook
from tools.phrasebook.alignment import align_words
from transformer_tf.attention_maps.alignments import Link

FILE = Path(__file__).parents[2] / "transformer_tf" / "text" / "corpora" / "phrasebook.tsv.gz"


def phrasebook_text() -> str:
    """Returns the content of the file.

    Returns:
        A line for each pair: source, target, split, sure links and further possible links,
        separated by tabs. A link is written as source word, hyphen, target word, from 0.
    """
    lines = []
    for pair in generate_phrasebook():
        gold = align_words(pair.source, pair.target)
        further = format_links(set(gold.possible) - set(gold.sure))
        sure = format_links(gold.sure)
        lines.append("\t".join([pair.source, pair.target, pair.split, sure, further]) + "\n")
    return "".join(lines)


def format_links(links: Iterable[Link]) -> str:
    """Writes links as `0-0 1-2`, the source word before the target word."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    # Without a time stamp, the same text always gives the same file.
    path.write_bytes(gzip.compress(phrasebook_text().encode(), compresslevel=9, mtime=0))
