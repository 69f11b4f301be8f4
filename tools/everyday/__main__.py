r"""Writes English-German and English-Spanish pairs as files for `data.mix`.

python -m tools.everyday FOLDER \
    [--dictionary FILE --pairs FILE ... --english FILE ... --german FILE ...]

`words.tsv` has rare words in sentences, `misspelt.tsv` training pairs with a common misspelling.
These two need all four options: a dictionary, the training pairs (English, tab, German), and text
of both languages. The other files need none.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.everyday import WRITTEN_FILES, value_pairs, written_pairs
from tools.everyday.misspellings import misspelt_pairs
from tools.everyday.words import Pair, find_genders, rare_words, word_pairs
from transformer_tf.text.corpora.archives import open_text
from transformer_tf.text.corpora.pair_files import read_pairs
from transformer_tf.utils.lines import iterate_lines, write_lines
from transformer_tf.utils.startup import run_command


def read_all_lines(paths: Iterable[Path]) -> Iterator[str]:
    """Yields the lines of files, which may be compressed."""
    for path in paths:
        with open_text(path) as file:
            yield from iterate_lines(file, str(path))


def read_all_pairs(paths: Iterable[Path]) -> list[Pair]:
    """Returns the English-German pairs of files."""
    return [pair for path in paths for pair in read_pairs([path], ("en", "de"), Counter())]


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        "python -m tools.everyday",
        description="Write English-German and English-Spanish pairs as files for data.mix.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--dictionary", type=Path, metavar="FILE")
    for name in ("pairs", "english", "german"):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", nargs="+", default=[])
    arguments = parser.parse_args()
    inputs = [arguments.dictionary, arguments.pairs, arguments.english, arguments.german]
    if any(inputs) and not all(inputs):
        parser.error("--dictionary, --pairs, --english and --german belong together")
    pairs_by_file: dict[str, Iterable[Pair]] = {
        **{name: written_pairs(name) for name in WRITTEN_FILES},
        "values": value_pairs(15_000),
    }
    if arguments.dictionary:
        pairs = read_all_pairs(arguments.pairs)
        english = [*read_all_lines(arguments.english), *(source for source, _ in pairs)]
        german = [*read_all_lines(arguments.german), *(target for _, target in pairs)]
        words = rare_words(read_all_pairs([arguments.dictionary]), pairs, english, german)
        pairs_by_file["words"] = word_pairs(words, find_genders(german))
        pairs_by_file["misspelt"] = misspelt_pairs(pairs)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, name_pairs in pairs_by_file.items():
        lines = (f"{source}\t{target}" for source, target in name_pairs)
        write_lines(arguments.folder / f"{name}.tsv", lines)


if __name__ == "__main__":
    sys.exit(run_command(main))
