"""Word alignments of training pairs by eflomal, for `training.guided_alignment`.

python -m tools.corpora.alignments FOLDER

FOLDER is that of `python -m tools.corpora`. All its training pairs are aligned together, and each
NAME.tsv gets a NAME.align: a line of links for each pair, such as `0-0 1-2 2-1`, source word and
target word counted from 0 between spaces. Needs eflomal (Östling and Tiedemann 2016), which is
built from source with a C compiler: python -m pip install eflomal. It draws at random, so that a
second run differs in a few links.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from transformer_tf.text.corpora.corpus import HELD_OUT
from transformer_tf.utils.lines import read_lines, write_lines
from transformer_tf.utils.startup import run_command

Links = set[tuple[int, int]]

_SIGN, _DIGIT = re.compile(r"[^\w\s]|_"), re.compile(r"\d")


def simplified(sentence: str) -> str:
    """Returns a sentence in lower case, without signs and with every digit a 0.

    "$45.90" and "45,90" are the same word then, and "room" is the same word as "room.". A word of
    signs alone stays, so that the number of words does.
    """
    words = sentence.lower().split()
    return " ".join(_DIGIT.sub("0", _SIGN.sub("", word)) or word for word in words)


def symmetrize(forward: Links, reverse: Links) -> Links:
    """Joins the alignments of both directions: grow-diag-final-and of Koehn et al. (2003).

    Begins with the links that both have. Adds their neighbors that one of both has and that link a
    word without a link; at last those between two words without links.

    Args:
        forward: The alignment that links each target word at most once.
        reverse: The alignment that links each source word at most once.
    """
    links, waiting = forward & reverse, sorted(forward ^ reverse)
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    grown = True
    while grown:
        grown = False
        for source, target in waiting:
            if source in sources and target in targets:
                continue
            neighbors = {(source + i, target + j) for i in (-1, 0, 1) for j in (-1, 0, 1)}
            if not links.isdisjoint(neighbors):
                links.add((source, target))
                sources.add(source)
                targets.add(target)
                grown = True
    for source, target in [*sorted(forward), *sorted(reverse)]:
        if source not in sources and target not in targets:
            links.add((source, target))
            sources.add(source)
            targets.add(target)
    return links


def align(pairs: Sequence[Sequence[str]]) -> list[str]:
    """Returns a line of links for each pair.

    Raises:
        FileNotFoundError: If eflomal is not installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{folder}/{name}" for name in ("source", "target", "forward", "reverse")]
        for side in (0, 1):
            write_lines(Path(names[side]), (simplified(pair[side]) for pair in pairs))
        options = [
            part for pair in zip(("-s", "-t", "-f", "-r"), names, strict=True) for part in pair
        ]
        try:
            subprocess.run(["eflomal-align", *options], check=True)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                "eflomal is not installed; install it with: python -m pip install eflomal"
            ) from error
        found = [map(_parse, read_lines(Path(name))) for name in names[2:]]
        return [
            " ".join(f"{source}-{target}" for source, target in sorted(symmetrize(*both)))
            for both in zip(*found, strict=True)
        ]


def _parse(line: str) -> Links:
    return {
        (int(source), int(target)) for source, target in (link.split("-") for link in line.split())
    }


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        "python -m tools.corpora.alignments", description=__doc__.splitlines()[0]
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    paths = [path for path in sorted(folder.glob("*.tsv")) if not path.name.startswith(HELD_OUT)]
    if not paths:
        raise FileNotFoundError(f"{folder} has no files of training pairs")
    pairs = [[line.split("\t") for line in read_lines(path)] for path in paths]
    links = iter(align([pair for each in pairs for pair in each]))
    for path, each in zip(paths, pairs, strict=True):
        write_lines(path.with_suffix(".align"), (next(links) for _ in each))


if __name__ == "__main__":
    sys.exit(run_command(main))
