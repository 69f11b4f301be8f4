"""Word alignments of training pairs, which a head of cross-attention learns.

The alignment of a pair is `bytes`: for each target word, the number of its source word from 1, or
0 for none. Words are between spaces. Missing words at the end have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from transformer_tf.errors import DataError
from transformer_tf.text.placeholders import word_map
from transformer_tf.text.symbols import SLOTS
from transformer_tf.utils.lines import read_lines

if TYPE_CHECKING:
    from transformer_tf.text.batching.encoded import Sequences
    from transformer_tf.text.corpora.cleaning import Pair
    from transformer_tf.text.tokenization.tokenizer import Tokenizer

_MOST = 255  # the largest byte; cleaning removes pairs with so many words


def read_alignments(path: Path, swap: bool = False) -> Iterator[bytes]:
    """Yields the alignment of each line of a file, such as `0-0 1-2` (source word-target word).

    A target word with several links has the last of their source words, which is more often right
    than the first: a German compound and an English noun have the last word in common.

    Args:
        path: The file.
        swap: Whether the target word comes first.

    Raises:
        DataError: If the file cannot be read, or a line has no such links.
    """
    for number, line in enumerate(read_lines(path), 1):
        try:
            links = [
                (int(one), int(two)) for one, two in (link.split("-") for link in line.split())
            ]
        except ValueError as error:
            raise DataError(f"{path}: line {number} has no links such as 0-0 1-2") from error
        links = sorted(link[::-1] if swap else link for link in links)
        words = bytearray(1 + max((target for _, target in links), default=-1))
        for source, target in links:
            words[target] = min(source + 1, _MOST)
        yield bytes(words)


def fits(alignment: bytes, pair: Pair) -> bool:
    """Whether a pair has the words that its alignment links."""
    source, target = (len(side.split()) for side in pair)
    return len(alignment) <= target and max(alignment, default=0) <= source


def moved(alignment: bytes, before: Pair, after: Pair) -> bytes:
    """Returns the alignment of a pair whose values have become placeholders."""
    if before == after or not alignment:
        return alignment
    sources, targets = map(word_map, before, after)
    words = bytearray(len(after[1].split()))
    for target, source in reversed([*enumerate(alignment)]):
        if source:
            words[targets[target]] = sources[source - 1] + 1
    return bytes(words)


def align_tokens(
    alignments: Sequence[bytes],
    source: Sequences,
    target: Sequences,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
) -> np.ndarray:
    """Returns a source position for each target token, 0 (that of the start) for none.

    All sub-words of a target word are aligned with the first sub-word of the source word. Sub-words
    without letters, digits and placeholders are left out, on both sides.

    Args:
        alignments: The alignment of each pair.
        source: The source tokens of each pair.
        target: The target tokens of each pair.
        source_tokenizer: The tokenizer of the sources.
        target_tokenizer: The tokenizer of the targets.

    Returns:
        `uint16` array, as long as `target.ids`.
    """
    word, begins, written, first, counts = _words(source, source_tokenizer)
    place = np.arange(len(word)) - np.repeat(
        np.cumsum(source.lengths) - source.lengths, source.lengths
    )
    place_of = np.zeros(len(word) + 1, dtype=np.uint16)
    for chosen in (begins, written):
        indices = np.flatnonzero(chosen)[::-1]  # the last assignment, of the first sub-word, stays
        place_of[word[indices]] = place[indices]

    word, _, written, _, target_counts = _words(target, target_tokenizer)
    joined = b"".join(
        alignment[:count].ljust(count, b"\0")
        for alignment, count in zip(alignments, target_counts.tolist(), strict=True)
    )
    number = np.frombuffer(joined, np.uint8)
    known = (number > 0) & (number <= np.repeat(counts, target_counts))
    aligned = place_of[np.where(known, number + np.repeat(first, target_counts), 0)]
    return np.where(written, np.append(0, aligned)[word], 0).astype(np.uint16)


def _words(sentences: Sequences, tokenizer: Tokenizer) -> tuple[np.ndarray, ...]:
    """Counts words over all sentences, from 1.

    Returns:
        For each token its word, whether it begins the word, and whether it has a letter, a digit or
        a placeholder; for each sentence the number of words before it, and of its own words.
    """
    pieces = tokenizer.vocabulary
    begins = np.array([piece.startswith("▁") for piece in pieces])[sentences.ids]
    has_letters = np.array([piece in SLOTS or any(map(str.isalnum, piece)) for piece in pieces])
    has_letters[[tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id]] = False
    word = np.cumsum(begins, dtype=np.int32)
    before = word[np.cumsum(sentences.lengths) - sentences.lengths]
    counts = np.diff(before, append=word[-1:])
    return word, begins, has_letters[sentences.ids], before, counts
