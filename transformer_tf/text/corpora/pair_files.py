"""Reads sentence pairs from tab-separated, CSV and TMX files, or two files of one side each.

Each line is decoded separately. Malformed lines are counted and skipped; a file with more than 1 %
of them is refused, because it probably has another format.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.parsers import expat

from transformer_tf.errors import DataError
from transformer_tf.text.corpora import cleaning
from transformer_tf.text.corpora.archives import open_text
from transformer_tf.text.corpora.language_codes import ISO_639_3
from transformer_tf.text.corpora.pairs import Pair

MAX_MALFORMED = 0.01  # share of the lines of a file

_HEADER_NAMES = {"source", "target", "src", "tgt", "trg", "sentence", "translation"}
_INLINE_CODES = {"bpt", "ept", "it", "ph", "ut"}  # of TMX: markup, not text
_CHUNK_BYTES = 1 << 16


def read_pairs(
    paths: Sequence[Path], languages: tuple[str, str], removed: dict[str, int]
) -> Iterator[Pair]:
    """Yields the pairs of one file, or of two parallel files.

    Args:
        paths: `[FILE]`, a `.csv`, a `.tmx`, or lines of source, tab, target; or
            `[SOURCE, TARGET]`, two files with a sentence on each line. See `open_text` for
            compressed files and archives.
        languages: The language codes of the first and the second column.
        removed: Receives the number of malformed lines of each kind.

    Raises:
        DataError: If a file cannot be read, more than 1 % of its lines are malformed, or the two
            files differ in length.
    """
    if len(paths) == 2:
        return _read_two_files(paths[0], paths[1], removed)
    suffixes = [suffix.lower() for suffix in paths[0].suffixes[-2:]]
    if ".tmx" in suffixes:
        return _read_tmx(paths[0], languages)
    read = _read_csv if ".csv" in suffixes else _read_tsv
    return _read_columns(read(paths[0]), paths[0], languages, removed)


class _Malformed:
    """Counts the malformed lines of a file."""

    def __init__(self, path: Path, removed: dict[str, int]):
        self._path = path
        self._removed = removed
        self._counts: Counter[str] = Counter()

    def add(self, step: str) -> None:
        self._counts[step] += 1
        self._removed[step] += 1

    def check(self, total: int) -> None:
        """Refuses a file with too many malformed lines."""
        malformed = self._counts.total()
        if malformed > MAX_MALFORMED * total:
            raise DataError(
                f"{self._path}: {malformed} of the {total} lines are malformed: "
                f"{self._counts[cleaning.NOT_UTF8]} not UTF-8 (convert such a file, from "
                "Latin-1 for instance with iconv -f latin1 -t utf-8), "
                f"{self._counts[cleaning.WRONG_COLUMNS]} without two or three columns; get a "
                "complete copy, or remove these lines."
            )


def _read_lines(path: Path) -> Iterator[str | None]:
    """Yields each line, or None for a line that is not UTF-8."""
    with open_text(path) as file:
        for number, line in enumerate(file):
            if number == 0 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
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
                yield row if "".join(row).isprintable() or _is_unicode(row) else None
        except csv.Error as error:
            raise DataError(f"{path} is not valid CSV ({error}): correct it") from error


def _is_unicode(row: Sequence[str]) -> bool:
    """Whether a row was valid UTF-8: other bytes are escaped as surrogates."""
    return not any("\udc80" <= character <= "\udcff" for column in row for character in column)


def _read_columns(
    rows: Iterator[list[str] | None],
    path: Path,
    languages: tuple[str, str],
    removed: dict[str, int],
) -> Iterator[Pair]:
    """Yields the first two columns. A third column is ignored, as is a header line."""
    malformed = _Malformed(path, removed)
    total = 0
    for row in rows:
        total += 1
        if row is None:
            malformed.add(cleaning.NOT_UTF8)
        elif len(row) not in (2, 3):
            malformed.add(cleaning.WRONG_COLUMNS)
        elif total > 1 or not _is_header(row, languages):
            yield row[0], row[1]
    malformed.check(total)


def _is_header(row: Sequence[str], languages: tuple[str, str]) -> bool:
    known = _HEADER_NAMES.union(*({code, ISO_639_3.get(code, code)} for code in languages))
    return all(cleaning.normalize_text(column).lower() in known for column in row[:2])


def _read_two_files(
    source_path: Path, target_path: Path, removed: dict[str, int]
) -> Iterator[Pair]:
    malformed = _Malformed(source_path, removed)
    sources, targets = _read_lines(source_path), _read_lines(target_path)
    end = object()
    total = 0
    while True:
        source, target = next(sources, end), next(targets, end)
        if source is end and target is end:
            break
        if source is end or target is end:
            shorter, longer = source_path, target_path
            if target is end:
                shorter, longer = longer, shorter
            raise DataError(
                f"{longer} has more lines than {shorter}: line n of one must be the translation "
                "of line n of the other."
            )
        total += 1
        if isinstance(source, str) and isinstance(target, str):
            yield source, target
        else:
            malformed.add(cleaning.NOT_UTF8)
    malformed.check(total)


def _read_tmx(path: Path, languages: tuple[str, str]) -> Iterator[Pair]:
    """Yields a pair for each unit of a TMX file; the side of a missing language is empty."""
    reader = _TmxReader(languages)
    with open_text(path) as file:
        try:
            while chunk := file.read(_CHUNK_BYTES):
                reader.parser.Parse(chunk)
                yield from reader.take()
            reader.parser.Parse(b"", True)
            yield from reader.take()
        except expat.ExpatError as error:
            raise DataError(f"{path} is not valid TMX ({error}): get a complete copy") from error


class _TmxReader:
    """Collects the pairs of a TMX file while it is parsed."""

    def __init__(self, languages: tuple[str, str]):
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._refuse_entity
        self._languages = languages
        self._pairs: list[Pair] = []
        self._unit: dict[str, list[str]] = {}
        self._language = ""
        self._in_segment = False
        self._code_depth = 0  # number of inline codes around the text

    def take(self) -> list[Pair]:
        """Returns the complete pairs and forgets them."""
        pairs, self._pairs = self._pairs, []
        return pairs

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "tu":
            self._unit = {}
        elif name == "tuv":
            code = attributes.get("xml:lang") or attributes.get("lang", "")
            self._language = code.lower().partition("-")[0]
        elif name == "seg":
            self._in_segment = True
        elif name in _INLINE_CODES:
            self._code_depth += 1

    def _end(self, name: str) -> None:
        if name == "seg":
            self._in_segment = False
        elif name in _INLINE_CODES:
            self._code_depth -= 1
        elif name == "tu":
            source, target = ("".join(self._unit.get(code, [])) for code in self._languages)
            self._pairs.append((source, target))

    def _text(self, text: str) -> None:
        if self._in_segment and not self._code_depth:
            self._unit.setdefault(self._language, []).append(text)

    def _refuse_entity(self, name: str, *_: object) -> None:
        """Entities can expand a small file to gigabytes; TMX needs none."""
        raise DataError(f"The TMX file declares the entity {name!r}: remove the declaration")
