"""Loads a corpus: cleaned sentence pairs in three splits that share no sentence."""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from transformer_tf.config import DataConfig
from transformer_tf.errors import DataError
from transformer_tf.text import symbols
from transformer_tf.text.corpora import cleaning
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.text.corpora.sources import Source, list_sources
from transformer_tf.text.corpora.splits import SPLITS, TEST, TRAIN, VALIDATION, Splitter, text_hash
from transformer_tf.text.normalization import normalize_text
from transformer_tf.utils.languages import guess_language, language_name
from transformer_tf.utils.lines import read_lines, write_lines
from transformer_tf.utils.tables import grouped

HELD_OUT = (VALIDATION, TEST)
MAX_HELD_OUT_SHARE = 0.1  # of a corpus, for the drawn validation and test pairs together
MAX_EXAMINED = 10_000  # pairs of a source, to guess its languages


class WrongLanguageError(DataError):
    """Pairs seem to be in other languages than configured.

    Args:
        message: One line that says what to do.
        languages: The codes of the languages of the source and the target.
    """

    def __init__(self, message: str, languages: tuple[str, str]):
        super().__init__(message)
        self.languages = languages


@dataclasses.dataclass(frozen=True)
class SourceCount:
    """How many training pairs a source has after cleaning.

    Attributes:
        name: The name of the corpus or of the file.
        pairs: The number of pairs.
        weight: How often an epoch shows each pair.
        tag: The name of the source token of its pairs; empty for none.
    """

    name: str
    pairs: int
    weight: float
    tag: str


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Sentence pairs in three splits, each in the order of the corpus.

    Attributes:
        train: Pairs to learn from.
        weights: How often an epoch shows each training pair: `float32` array `(len(train),)`.
        validation: Pairs to choose a model by.
        test: Pairs to report scores on.
        removed: How many pairs each cleaning step removed, in the order of the steps. The sum of
            these counts and the sizes of the splits is the number of pairs that were read.
        sources: The training pairs, counted by source.
    """

    train: list[Pair]
    weights: np.ndarray
    validation: list[Pair]
    test: list[Pair]
    removed: dict[str, int]
    sources: tuple[SourceCount, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """Number of pairs of each split."""
        return {name: len(getattr(self, name)) for name in SPLITS}

    def summary(self) -> dict[str, Any]:
        """Returns all counts as plain values, for a JSON file."""
        return {
            "pairs": self.sizes,
            "removed": self.removed,
            "sources": [dataclasses.asdict(source) for source in self.sources],
        }

    def table(self) -> str:
        """Formats a table of the removed pairs, the splits and the sources."""
        lines = [cleaning.removed_table(self.removed, self.sizes)]
        if len(self.sources) > 1:
            lines.append("training pairs by source, with their weight and tag:")
            for source in self.sources:
                tag = f" <{source.tag}>" if source.tag else ""
                lines.append(f"  {source.name}  {grouped(source.pairs)} × {source.weight:g}{tag}")
        return "\n".join(lines)

    def save_held_out(self, folder: Path) -> None:
        """Writes the validation and the test pairs, as `validation.tsv` and `test.tsv`.

        Raises:
            DataError: If they cannot be written.
        """
        for name in HELD_OUT:
            pairs = getattr(self, name)
            write_lines(folder / f"{name}.tsv", ("\t".join(pair) for pair in pairs))


def load_held_out(folder: Path, name: str) -> list[Pair]:
    """Reads the validation or the test pairs of a run.

    Args:
        folder: The folder of the run.
        name: `validation` or `test`.

    Raises:
        DataError: If the file is missing, empty or damaged.
    """
    path = folder / f"{name}.tsv"
    if not path.is_file():
        raise DataError(f"{folder} has no {name} pairs: score a table, such as mine.tsv")
    pairs = [tuple(line.split("\t")) for line in read_lines(path)]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise DataError(f"{path} does not hold lines of a source, a tab and a target")
    return pairs  # type: ignore[return-value]


def load_corpus(data: DataConfig, seed: int = 0) -> Corpus:
    """Loads a corpus: downloads it if necessary, cleans it, and splits it without leakage.

    No sentence of one split is in another, neither on the source nor on the target side,
    regardless of case, punctuation and spacing. All translations of a source sentence go to the
    same split, and pairs that share a sentence with a held-out split are removed from the others.
    The pairs of `data.mix` are training pairs only, under the same rule.

    A split that the corpus lacks is drawn by a hash of the seed and the source sentence. It has
    `held_out_size` pairs, but the drawn splits together have at most a tenth of all pairs. The
    split of a sentence does not depend on the rest of the corpus: when a corpus above this limit
    grows, old source sentences only move from test to validation to train. A split that comes with
    the corpus is kept whole. For the phrasebook, `held_out_size` is an upper bound.

    Args:
        data: What to load.
        seed: Selects the drawn splits.

    Returns:
        The three splits and the number of pairs that each cleaning step removed.

    Raises:
        DataError: If the corpus or a language is unknown, or the corpus is unavailable, damaged,
            malformed or too small, or if the columns of some pairs seem to be swapped or in another
            language. The message is one line that says what to do.
    """
    removed = dict.fromkeys(cleaning.PAIR_STEPS, 0)
    sources = list_sources(data, removed)
    pairs, source_of, splitter = _read_and_clean(sources, tag_names(data), seed, removed)
    splitter.drop_duplicates()
    drawn = _draw_splits(splitter, data)
    splitter.drop_leaks(VALIDATION, (TEST,))
    splitter.drop_leaks(TRAIN, (VALIDATION, TEST))
    _check_sizes(splitter, data, drawn)
    members = splitter.members
    train_source = source_of[members[TRAIN]]
    splits = {name: [pairs[index] for index in members[name]] for name in SPLITS}
    _check_languages(splits, sources, train_source, data)
    return Corpus(
        **splits,
        weights=np.array([source.weight for source in sources], dtype=np.float32)[train_source],
        removed=removed,
        sources=_count_sources(sources, train_source),
    )


def tag_names(data: DataConfig) -> tuple[str, ...]:
    """Returns the names of the tags of `data.mix`, in the order of their first use.

    The pairs with the first tag begin with the first character of `symbols.TAGS`, and so on.
    """
    return tuple(dict.fromkeys(entry.tag for entry in data.mix if entry.tag))


def _read_and_clean(
    sources: Sequence[Source], tags: tuple[str, ...], seed: int, removed: dict[str, int]
) -> tuple[list[Pair], np.ndarray, Splitter]:
    """Returns the usable pairs of all sources, the source of each as its index, and a splitter.

    The corpus's own validation and test pairs are only normalized, and removed if a side is empty:
    further selection would make scores incomparable.
    """
    pairs: list[Pair] = []
    split_codes, source_of, mixed = array("b"), array("i"), array("b")
    source_hash, target_hash, pair_hash = array("Q"), array("Q"), array("Q")
    for index, origin in enumerate(sources):
        prefix = f"{symbols.TAGS[tags.index(origin.tag)]} " if origin.tag else ""
        for split, raw_source, raw_target in origin.read():
            if split == TRAIN:
                pair = cleaning.clean_pair(raw_source, raw_target)
            else:
                pair = normalize_text(raw_source), normalize_text(raw_target)
                pair = pair if all(pair) else cleaning.EMPTY
            if isinstance(pair, str):
                removed[pair] += 1
                continue
            pairs.append((prefix + pair[0], pair[1]))
            split_codes.append(SPLITS.index(split))
            source_of.append(index)
            mixed.append(origin.mixed)
            source_hash.append(text_hash(cleaning.fold(pair[0]), seed))
            target_hash.append(text_hash(cleaning.fold(pair[1])))
            pair_hash.append(text_hash("\t".join(pair)))
    splitter = Splitter(
        np.array(split_codes),
        np.array(source_hash),
        np.array(target_hash),
        np.array(pair_hash),
        removed,
        np.array(mixed, dtype=bool),
    )
    return pairs, np.array(source_of, dtype=np.int64), splitter


def _draw_splits(splitter: Splitter, data: DataConfig) -> list[str]:
    """Draws the splits that the corpus lacks, and returns their names.

    Raises:
        DataError: If held-out files have no pairs, or there are too few pairs to draw from.
    """
    drawn = [name for name in (TEST, VALIDATION) if not len(splitter.members[name])]
    for name in drawn:
        if getattr(data, f"{name}_files"):
            raise DataError(
                f"data.{name}_files holds no pair with text on both sides; correct it, or "
                "remove it to draw pairs from the training files."
            )
    count = splitter.num_drawable
    size = min(data.held_out_size, max(int(MAX_HELD_OUT_SHARE * count) // max(len(drawn), 1), 1))
    if count < 2 * len(drawn) * size:
        removed = ", ".join(f"{pairs} {step}" for step, pairs in splitter.removed.items() if pairs)
        raise DataError(
            f"Corpus {data.corpus!r} is too small: {count} pairs are left after cleaning"
            + (f", which removed {removed}" if removed else "")
        )
    for name in (TEST, VALIDATION):
        if name in drawn:
            splitter.draw(name, size)
        elif data.corpus == "phrasebook":
            splitter.draw(name, data.held_out_size)
    return drawn


def _check_sizes(splitter: Splitter, data: DataConfig, drawn: Sequence[str]) -> None:
    """Checks that no split is empty that should not be.

    Raises:
        DataError: If one is.
    """
    for name in SPLITS:
        if len(splitter.members[name]) or (name != TRAIN and not data.held_out_size):
            continue
        if name == VALIDATION and name not in drawn:
            raise DataError(
                f"Every validation pair of corpus {data.corpus!r} shares a sentence with its "
                "test pairs; choose other validation files."
            )
        raise DataError(
            f"Corpus {data.corpus!r} has too few different sentences: no {name} pairs are left "
            f"with data.held_out_size={data.held_out_size}; choose fewer or another corpus."
        )


def _count_sources(sources: Sequence[Source], train_source: np.ndarray) -> tuple[SourceCount, ...]:
    """Counts the training pairs of each source, given the index of the source of each pair."""
    counts = np.bincount(train_source, minlength=len(sources)).tolist()
    return tuple(
        SourceCount(source.name, count, source.weight, source.tag)
        for source, count in zip(sources, counts, strict=True)
        if count or source.mixed
    )


def _check_languages(
    splits: Mapping[str, list[Pair]],
    sources: Sequence[Source],
    train_source: np.ndarray,
    data: DataConfig,
) -> None:
    """Guesses the languages of the held-out pairs and of the training pairs of each source.

    Args:
        splits: The pairs of each split.
        sources: The sources of the training pairs.
        train_source: The index of the source of each training pair.
        data: The configuration with the two languages.

    Raises:
        WrongLanguageError: If the columns of some pairs seem to be swapped or in another language.
    """
    groups = []
    for index, source in enumerate(sources):
        own = [splits[TRAIN][pair] for pair in np.flatnonzero(train_source == index)]
        groups.append((source.name, own))
    groups += [(f"the {name} pairs", splits[name]) for name in HELD_OUT]
    for name, pairs in groups:
        check_languages(pairs, name, data)


def check_languages(pairs: Sequence[Pair], name: str, data: DataConfig) -> None:
    """Checks that pairs seem to be in the two languages of a configuration.

    Args:
        pairs: The pairs.
        name: What they are, for messages.
        data: The configuration.

    Raises:
        WrongLanguageError: If the columns seem to be swapped, or one is in another language.
    """
    expected = data.source_language, data.target_language
    examined = pairs[:: len(pairs) // MAX_EXAMINED + 1]
    source, target = found = (
        guess_language((pair[0] for pair in examined), expected[0]),
        guess_language((pair[1] for pair in examined), expected[1]),
    )
    if found == expected:
        return
    advice = f"data.source_language={source} data.target_language={target}"
    if found == expected[::-1]:
        advice = f"data.swap=true (in an entry of data.mix swap: true), or {advice}"
    raise WrongLanguageError(
        f"The columns of {name} look like {language_name(source)} and {language_name(target)}, not "
        f"{language_name(expected[0])} and {language_name(expected[1])}: choose other columns, or "
        f"add {advice}",
        found,
    )
