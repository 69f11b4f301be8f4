"""Back-translations: sentences of the target language, and what a translator made of them.

python -m tools.corpora.back_translations FOLDER

FOLDER is that of `python -m tools.corpora`, which wrote `untranslated.txt`. Its translations into
the source language, line by line, are in `translated.txt`:

python scripts/translate.py --checkpoint de-en --beam-size 1 \
    --input FOLDER/untranslated.txt --output FOLDER/translated.txt

Writes the sound pairs to `back_translated.tsv`, without those that share a sentence with a held-out
pair. In `data.mix` they need a tag.
"""

import argparse
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from transformer_tf.text.corpora.cleaning import Pair, clean_pair, fold
from transformer_tf.utils.lines import read_lines, write_lines
from transformer_tf.utils.startup import run_command

MAX_LENGTH_RATIO = 2.0
"""Of the numbers of words, in pairs with more than `SHORT` words on a side."""
SHORT = 4
MISSPELT = frozenset(("augmented.tsv", "careless.tsv", "misspelt.tsv"))
"""Files with words that are no words."""
HELD_OUT = frozenset(("test.tsv", *(f"validation{n}.tsv" for n in ("", "_daily", "_written"))))

_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")


def known_words(sentences: Iterable[str]) -> frozenset[str]:
    """Returns the words of sentences, in lower case."""
    return frozenset(word for text in sentences for word in _WORD.findall(text.lower()))


def is_sound(source: str, target: str, known: Collection[str]) -> bool:
    """Whether a back-translation has no mistake that is visible without a dictionary.

    Its words are known, none comes twice in a row, and both sides have the same digits and similar
    lengths.

    Args:
        source: A translation by a translator.
        target: The sentence that it translates.
        known: Words of the source language, in lower case.
    """
    words = _WORD.findall(source.lower())
    shorter, longer = sorted((len(words), len(_WORD.findall(target))))
    return (
        all(word in known for word in words)
        and all(word != following for word, following in zip(words, words[1:], strict=False))
        and sorted(_DIGIT.findall(source)) == sorted(_DIGIT.findall(target))
        and (longer <= SHORT or longer <= MAX_LENGTH_RATIO * shorter)
    )


def sound_pairs(
    translated: Iterable[Pair], known: Collection[str], held_out: frozenset[str] = frozenset()
) -> Iterator[Pair]:
    """Yields the sound back-translations, normalized.

    Args:
        translated: Translations and the sentences that they translate.
        known: As in `is_sound`.
        held_out: The sentences of held-out pairs on either side, as `fold` returns them.
    """
    for source, target in translated:
        pair = clean_pair(source, target)
        if isinstance(pair, str) or not held_out.isdisjoint(map(fold, pair)):
            continue
        if is_sound(*pair, known):
            yield pair


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        "python -m tools.corpora.back_translations", description=__doc__.splitlines()[0]
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    translated = read_lines(folder / "translated.txt")
    untranslated = read_lines(folder / "untranslated.txt")
    names = {path.name for path in folder.glob("*.tsv")} - {"back_translated.tsv"}
    lines = (line for name in sorted(names - MISSPELT) for line in read_lines(folder / name))
    known = known_words(line.split("\t")[0] for line in lines)
    held_out = frozenset(
        fold(text)
        for name in names & HELD_OUT
        for line in read_lines(folder / name)
        for text in line.split("\t")[:2]
    )
    pairs = sound_pairs(zip(translated, untranslated, strict=True), known, held_out)
    write_lines(folder / "back_translated.tsv", ("\t".join(pair) for pair in pairs))


if __name__ == "__main__":
    sys.exit(run_command(main))
