"""Reads sentence pairs from a table in a text file, or from two parallel files.

Malformed lines are counted and skipped; a file with more than 1 % of them is
refused, because it probably has another format.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from transformer_tf.errors import DataError
from transformer_tf.text.corpora import cleaning
from transformer_tf.text.corpora.archives import open_text
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.text.normalization import normalize_text
from transformer_tf.utils.languages import language_code

Columns = tuple[int | str, int | str]
"""The source and the target column, by number from 1 or by name."""

MAX_MALFORMED_SHARE = 0.01  # of the lines of a file

_COLUMN_NAMES = ({"source", "src", "sentence"}, {"target", "tgt", "trg", "translation"})
_SEPARATORS = "\t;,"
_SAMPLE_LINES = 200  # to find the format of a file
_SHOWN_CHARACTERS = 80  # of a line in a message
_EXCEL_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def read_pairs(
    paths: Sequence[Path],
    languages: tuple[str, str],
    removed: dict[str, int],
    columns: Columns | None = None,
) -> Iterator[Pair]:
    """Yields the pairs of one file, or of two parallel files.

    A file with a table has columns between tabs, semicolons or commas, in UTF-8 or UTF-16.

    Args:
        paths: `[FILE]`, a table; or `[SOURCE, TARGET]`, two files with a sentence on each line.
            See `open_text` for compressed files and archives.
        languages: The language codes of the first and the second column.
        removed: Receives the number of malformed lines of each kind.
        columns: The columns of a table to read; by default those whose names in the first line
            are the languages, else the first two of two or three.

    Raises:
        DataError: If a file cannot be read, more than 1 % of its lines are malformed, the columns
            cannot be found, or the two files differ in length.
    """
    if len(paths) == 2:
        return _read_two_files(paths[0], paths[1], removed)
    return _read_table(paths[0], languages, removed, columns)


def _check_malformed(
    name: str, counts: Mapping[str, int], total: int, first: str, removed: dict[str, int]
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
            f"{counts[cleaning.WRONG_COLUMNS]} with another number of columns. The first is "
            f"{first}. Get a complete copy, or correct these lines"
        )


def _read_lines(path: Path) -> Generator[str, None, None]:
    """Yields each line. In one that is not UTF-8, surrogates stand for the wrong bytes."""
    with open_text(path) as file:
        head = file.peek(4)  # type: ignore[attr-defined]
        if head.startswith(b"PK\3\4"):
            raise DataError(
                f"{path} is a spreadsheet or an archive: save the sheet as CSV UTF-8, or name a "
                f"file of the archive, {path}/NAME"
            )
        utf16 = head.startswith((b"\xff\xfe", b"\xfe\xff"))
        # Only a line feed ends a line. Cleaning removes the carriage return of CRLF.
        encoding, errors = ("utf-16", "replace") if utf16 else ("utf-8-sig", "surrogateescape")
        with io.TextIOWrapper(file, encoding, errors, newline="\n") as text:
            yield from text


def _was_utf8(text: str) -> bool:
    """Whether a text was valid UTF-8: other bytes are escaped as surrogates."""
    return text.isprintable() or not re.search("[\udc80-\udcff]", text)


def _read_table(
    path: Path, languages: tuple[str, str], removed: dict[str, int], columns: Columns | None
) -> Iterator[Pair]:
    """Yields two columns of a table."""
    malformed, first, total = Counter[str](), "", 0
    with contextlib.closing(_read_lines(path)) as lines:
        sample = list(itertools.islice(lines, _SAMPLE_LINES))
        if not sample:
            return
        separator, quoted = _find_format(sample)
        rows = list(_split(sample, separator, quoted, path))
        widths = Counter(map(len, rows))
        width = widths.most_common(1)[0][0]
        if width == 1:
            raise DataError(
                f"{path} has no tab, semicolon or comma between source and target. Its first line "
                f"is {_shown(sample[:1])}. Two files with a sentence on each line are written "
                "data.files=[[SOURCE, TARGET]]"
            )
        chosen, has_header = _find_columns(rows, width, path, languages, columns)
        allowed = {2, 3} if width < 4 else {width}
        everything = itertools.chain(sample, lines)
        for total, row in enumerate(_split(everything, separator, quoted, path, strict=True), 1):
            if has_header and total == 1:
                continue
            if not _was_utf8("".join(row)):
                kind = cleaning.NOT_UTF8
            elif len(row) not in allowed or len(row) <= max(chosen):
                kind = cleaning.WRONG_COLUMNS
            else:
                yield row[chosen[0]], row[chosen[1]]
                continue
            malformed[kind] += 1
            first = first or f"line {total}, {_shown(row)}"
    _check_malformed(str(path), malformed, total, first, removed)


def _find_format(sample: Sequence[str]) -> tuple[str, bool]:
    """Returns the separator of a table and whether quotes enclose its fields.

    Between tabs, quotes are part of the text, as in most tables of sentences. A table from Excel is
    the exception: there quotes enclose each field with a comma or a quote, and no other field.
    """
    separator = max(_SEPARATORS, key=lambda each: _regular_rows(sample, each))
    if separator != "\t":
        return separator, True
    fields = [field for line in sample for field in line.rstrip("\r\n").split("\t")]
    special = [_EXCEL_QUOTED.fullmatch(field) for field in fields if set(field) & set(',"')]
    return separator, '"' in "".join(fields) and all(special)


def _regular_rows(sample: Sequence[str], separator: str) -> int:
    """Counts the lines that a separator splits into the most common number of columns."""
    try:
        widths = Counter(map(len, _split(sample, separator, separator != "\t", Path())))
    except DataError:
        return 0
    return max((count for width, count in widths.items() if width > 1), default=0)


def _split(
    lines: Iterable[str], separator: str, quoted: bool, path: Path, strict: bool = False
) -> Iterator[list[str]]:
    """Yields the fields of each row. If `strict`, quotes that do not match are an error."""
    if not quoted:
        for line in lines:
            yield line.removesuffix("\n").split(separator)
        return
    reader = csv.reader(lines, delimiter=separator, strict=strict)
    try:
        yield from reader
    except csv.Error as error:
        raise DataError(
            f"{path} is not valid CSV (line {reader.line_num}: {error}): correct its quotes"
        ) from error


def _find_columns(
    rows: Sequence[Sequence[str]],
    width: int,
    path: Path,
    languages: tuple[str, str],
    columns: Columns | None,
) -> tuple[list[int], bool]:
    """Returns the indices of the two columns, and whether the first row is a header.

    Args:
        rows: The first rows.
        width: Their usual number of columns.
        path: The file, for messages.
        languages: The language codes of the two columns.
        columns: The columns to read, or None.
    """
    header = [normalize_text(column).casefold() for column in rows[0]]
    found = [
        [i for i, name in enumerate(header) if name in own or language_code(name) == code]
        for code, own in zip(map(language_code, languages), _COLUMN_NAMES, strict=True)
    ]
    if columns is not None:
        chosen = [_index(column, header, width, path) for column in columns]
        named = any(isinstance(column, str) for column in columns)
        return chosen, named or set(chosen) <= {index for indices in found for index in indices}
    if all(found):
        return [indices[0] for indices in found], True
    if width < 4 and not any(_holds_numbers(rows, index) for index in (0, 1)):
        return [0, 1], False
    sizes = [
        sum(sum(map(str.isalpha, row[index])) for row in rows if index < len(row))
        for index in range(width)
    ]
    source, target = sorted(sorted(range(width), key=sizes.__getitem__)[-2:])
    advice = (
        f"Choose two by number or by their names in the first line, such as "
        f"data.columns=[{source + 1}, {target + 1}]"
        if width > 2
        else "A corpus has a sentence and its translation on each line"
    )
    raise DataError(
        f"{path} has {width} columns, and its first line is {_shown(rows[0])}. {advice}"
    )


def _holds_numbers(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Whether most rows have a number in a column."""
    cells = [row[index] for row in rows if index < len(row)]
    return 2 * sum(bool(re.fullmatch(r"\s*[\d.,]*\d\s*", cell)) for cell in cells) > len(cells)


def _index(column: int | str, header: Sequence[str], width: int, path: Path) -> int:
    """Returns the index of a column, given its number from 1 or its name in the header."""
    if isinstance(column, int) and 1 <= column <= width:
        return column - 1
    if isinstance(column, str) and normalize_text(column).casefold() in header:
        return header.index(normalize_text(column).casefold())
    raise DataError(
        f"{path} has no column {column!r}: choose two from 1 to {width}, or from the names in its "
        f"first line, {', '.join(map(repr, header))}"
    )


def _shown(row: Sequence[str]) -> str:
    """Returns a row for a message."""
    text = " | ".join(row).encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")


def _read_two_files(
    source_path: Path, target_path: Path, removed: dict[str, int]
) -> Iterator[Pair]:
    malformed, first, total = Counter[str](), "", 0
    with (
        contextlib.closing(_read_lines(source_path)) as sources,
        contextlib.closing(_read_lines(target_path)) as targets,
    ):
        for source, target in itertools.zip_longest(sources, targets):
            total += 1
            if source is None or target is None:
                shorter, longer = source_path, target_path
                if target is None:
                    shorter, longer = longer, shorter
                raise DataError(
                    f"{longer} has more lines than {shorter}: line n of one must be the "
                    "translation of line n of the other."
                )
            if _was_utf8(source) and _was_utf8(target):
                yield source, target
            else:
                malformed[cleaning.NOT_UTF8] += 1
                first = first or f"line {total}, {_shown((source, target))}"
    _check_malformed(f"{source_path} and {target_path}", malformed, total, first, removed)
