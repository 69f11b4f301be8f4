"""Reads sentence pairs from tab-separated or CSV files, or from two parallel files.

Malformed lines are counted and skipped; a file with more than 1 % of them is
refused, because it probably has another format.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path

from transformer_tf.errors import DataError
from transformer_tf.text.corpora import cleaning
from transformer_tf.text.corpora.archives import open_text
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.text.normalization import normalize_text
from transformer_tf.utils.languages import three_letter_code

MAX_MALFORMED_SHARE = 0.01  # of the lines of a file

_END = object()  # of the shorter of two files
_HEADER_NAMES = {"source", "target", "src", "tgt", "trg", "sentence", "translation"}


def read_pairs(
    paths: Sequence[Path], languages: tuple[str, str], removed: dict[str, int]
) -> Iterator[Pair]:
    """Yields the pairs of one file, or of two parallel files.

    Args:
        paths: `[FILE]`, a `.csv` or lines of source, tab, target; or `[SOURCE, TARGET]`, two
            files with a sentence on each line. See `open_text` for compressed files and archives.
        languages: The language codes of the first and the second column.
        removed: Receives the number of malformed lines of each kind.

    Raises:
        DataError: If a file cannot be read, more than 1 % of its lines are malformed, or the two
            files differ in length.
    """
    if len(paths) == 2:
        return _read_two_files(paths[0], paths[1], removed)
    suffixes = [suffix.lower() for suffix in paths[0].suffixes[-2:]]
    read = _read_csv if ".csv" in suffixes else _read_tsv
    return _read_columns(read(paths[0]), paths[0], languages, removed)


def _check_malformed(
    name: str, counts: Mapping[str, int], total: int, removed: dict[str, int]
) -> None:
    """Adds the malformed lines of a file to `removed`, and refuses a file with too many."""
    for kind, count in counts.items():
        removed[kind] += count
    malformed = sum(counts.values())
    if malformed > MAX_MALFORMED_SHARE * total:
        raise DataError(
            f"{name}: {malformed} of the {total} lines are malformed: "
            f"{counts[cleaning.NOT_UTF8]} not UTF-8 (convert such a file, from "
            "Latin-1 for instance with iconv -f latin1 -t utf-8), "
            f"{counts[cleaning.WRONG_COLUMNS]} without two or three columns; get a "
            "complete copy, or remove these lines."
        )


def _read_lines(path: Path) -> Generator[str | None, None, None]:
    """Yields each line, or None for a line that is not UTF-8."""
    with open_text(path) as file:
        for index, line in enumerate(file):
            if index == 0 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise DataError(f"{path} is UTF-16; convert it first: iconv -f utf-16 -t utf-8")
            try:
                # Only a line feed ends a line. Cleaning removes the carriage return of CRLF.
                yield line.removesuffix(b"\n").decode("utf-8")
            except UnicodeDecodeError:
                yield None


def _read_tsv(path: Path) -> Iterator[list[str] | None]:
    for line in _read_lines(path):
        yield None if line is None else line.split("\t")


def _read_csv(path: Path) -> Iterator[list[str] | None]:
    with open_text(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
        try:
            for row in csv.reader(text):
                # A quick check first: surrogates are not printable.
                yield row if "".join(row).isprintable() or _was_utf8(row) else None
        except csv.Error as error:
            raise DataError(f"{path} is not valid CSV ({error}): correct it") from error


def _was_utf8(row: Sequence[str]) -> bool:
    """Whether a row was valid UTF-8: other bytes are escaped as surrogates."""
    return not any("\udc80" <= character <= "\udcff" for column in row for character in column)


def _read_columns(
    rows: Iterator[list[str] | None],
    path: Path,
    languages: tuple[str, str],
    removed: dict[str, int],
) -> Iterator[Pair]:
    """Yields the first two columns. A third column is ignored, as is a header line."""
    malformed = Counter[str]()
    total = 0
    for total, row in enumerate(rows, 1):
        if row is None:
            malformed[cleaning.NOT_UTF8] += 1
        elif len(row) not in (2, 3):
            malformed[cleaning.WRONG_COLUMNS] += 1
        elif total > 1 or not _is_header(row, languages):
            yield row[0], row[1]
    _check_malformed(str(path), malformed, total, removed)


def _is_header(row: Sequence[str], languages: tuple[str, str]) -> bool:
    known = _HEADER_NAMES.union(*({code, three_letter_code(code)} for code in languages))
    return all(normalize_text(column).lower() in known for column in row[:2])


def _read_two_files(
    source_path: Path, target_path: Path, removed: dict[str, int]
) -> Iterator[Pair]:
    malformed = Counter[str]()
    total = 0
    with (
        contextlib.closing(_read_lines(source_path)) as sources,
        contextlib.closing(_read_lines(target_path)) as targets,
    ):
        for source, target in itertools.zip_longest(sources, targets, fillvalue=_END):
            total += 1
            if source is _END or target is _END:
                shorter, longer = source_path, target_path
                if target is _END:
                    shorter, longer = longer, shorter
                raise DataError(
                    f"{longer} has more lines than {shorter}: line n of one must be the "
                    "translation of line n of the other."
                )
            if isinstance(source, str) and isinstance(target, str):
                yield source, target
            else:
                malformed[cleaning.NOT_UTF8] += 1
    _check_malformed(f"{source_path} and {target_path}", malformed, total, removed)
