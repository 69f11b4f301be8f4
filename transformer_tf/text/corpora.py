"""A corpus name to cleaned sentence pairs in three splits that share no sentence.

Two corpora are known: `tatoeba`, the sentence pairs that manythings.org/anki distributes, and
`phrasebook`, a small one that is generated on the spot and needs no download.
"""

import dataclasses
import difflib
import hashlib
import io
import lzma
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from transformer_tf.errors import DataError
from transformer_tf.text.download import default_data_directory, fetch

Pair = tuple[str, str]
"""A source sentence and its translation."""

CORPUS_NAMES = ("phrasebook", "tatoeba")

_TATOEBA_URL = "https://www.manythings.org/anki/{code}-eng.zip"
_MAX_MEMBER_BYTES = 1 << 30
_MAX_MALFORMED_SHARE = 0.01
_MAX_WORDS = 100

# ISO 639-1 to the ISO 639-3 codes by which manythings.org names its files.
_ISO_639_3 = {
    "af": "afr",
    "ar": "ara",
    "be": "bel",
    "bg": "bul",
    "bn": "ben",
    "ca": "cat",
    "cs": "ces",
    "da": "dan",
    "de": "deu",
    "el": "ell",
    "en": "eng",
    "es": "spa",
    "et": "est",
    "eu": "eus",
    "fa": "pes",
    "fi": "fin",
    "fr": "fra",
    "he": "heb",
    "hi": "hin",
    "hu": "hun",
    "id": "ind",
    "is": "isl",
    "it": "ita",
    "ja": "jpn",
    "ko": "kor",
    "lt": "lit",
    "lv": "lvs",
    "mk": "mkd",
    "mr": "mar",
    "nb": "nob",
    "nl": "nld",
    "no": "nob",
    "pl": "pol",
    "pt": "por",
    "ro": "ron",
    "ru": "rus",
    "sk": "slk",
    "sl": "slv",
    "sr": "srp",
    "sv": "swe",
    "th": "tha",
    "tl": "tgl",
    "tr": "tur",
    "uk": "ukr",
    "ur": "urd",
    "vi": "vie",
    "zh": "cmn",
}

# Format characters that change how neighbouring letters join, so they belong to the text.
_JOINERS = frozenset("\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}")


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Sentence pairs in three splits, each in the order of the corpus.

    Attributes:
        train: Pairs to learn from.
        validation: Pairs to choose a model by.
        test: Pairs to report scores on.
        removed: How many pairs each step left out, in the order of the steps. With the sizes of
            the three splits these counts add up to the pairs that the corpus holds.
    """

    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]
    removed: dict[str, int]


def load_corpus(
    name: str,
    *,
    source_language: str,
    target_language: str,
    directory: Path | None = None,
    seed: int = 0,
    validation_size: int = 2000,
    test_size: int = 2000,
    max_pairs: int | None = None,
) -> Corpus:
    """Load a corpus by name: download it if need be, clean it, and split it without leakage.

    No sentence of one split occurs in another, neither on the source nor on the target side and
    whatever its case, punctuation and spacing. To this end all translations of a source sentence
    go to the same split, and pairs whose target sentence is held out leave the other splits.

    `tatoeba` is split by a hash of the seed and the source sentence: the sentences with the
    lowest hashes are the test set, the next ones the validation set. A sentence's hash does not
    depend on the rest of the corpus. So when the corpus grows, new sentences come in anywhere,
    but old ones only ever move across a boundary in one direction, from test to validation to
    train; scores are comparable between runs on the same file. `phrasebook` brings its own split;
    `validation_size` and `test_size` are then upper bounds.

    Args:
        name: `"tatoeba"` or `"phrasebook"`.
        source_language: Code of the language to translate from, such as `"en"`: ISO 639-1, or
            the three letters that manythings.org uses. One of the two languages must be English.
        target_language: Code of the language to translate to.
        directory: The data folder; by default `default_data_directory()`.
        seed: Chooses the split, the subset that `max_pairs` keeps, and the generated phrasebook.
        validation_size: Wanted number of validation pairs. All translations of a sentence stay
            together, so there may be a few more; removed duplicates make it a few less.
        test_size: Wanted number of test pairs, with the same reservation.
        max_pairs: Keep only this many train pairs, a random subset that is the same for the same
            seed and that contains the subset of any smaller number.

    Returns:
        The three splits and the number of pairs that each cleaning step removed.

    Raises:
        DataError: If the name or a language is unknown, or the corpus cannot be had, is damaged,
            or is too small for the sizes wanted. The message is one line that says what to do.
        ValueError: If a size is negative, or `max_pairs` is less than 1.
    """
    if validation_size < 0 or test_size < 0:
        raise ValueError(
            "`validation_size` and `test_size` must not be negative. "
            f"Received: validation_size={validation_size}, test_size={test_size}"
        )
    if max_pairs is not None and max_pairs < 1:
        raise ValueError(f"`max_pairs` must be None or at least 1. Received: max_pairs={max_pairs}")
    if name not in CORPUS_NAMES:
        close = difflib.get_close_matches(name.lower(), CORPUS_NAMES, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise DataError(f"Unknown corpus {name!r}: known are {', '.join(CORPUS_NAMES)}.{hint}")
    other_code, english_first = _direction(source_language, target_language)

    removed: dict[str, int] = {}
    if name == "phrasebook":
        if other_code != "deu":
            raise DataError(
                "The phrasebook holds English and German only: choose en and de as the languages, "
                f"not {source_language} and {target_language}."
            )
        splits = _phrasebook_splits(english_first, seed, validation_size, test_size, removed)
    else:
        if directory is None:
            directory = default_data_directory()
        path = fetch(
            f"tatoeba/{other_code}-eng.zip",
            _TATOEBA_URL.format(code=other_code),
            Path(directory),
        )
        raw_pairs = _read_tatoeba(path, f"{other_code}.txt", removed)
        pairs = _clean(raw_pairs if english_first else [(b, a) for a, b in raw_pairs], removed)
        wanted = validation_size + test_size
        if len(pairs) < 2 * wanted:
            raise DataError(
                f"Corpus {name!r} is too small: {len(pairs)} pairs are left after cleaning, and "
                f"validation_size + test_size = {wanted} needs at least {2 * wanted}; choose "
                "smaller sizes."
            )
        splits = _split(pairs, seed, validation_size, test_size)
    train, validation, test = splits

    validation = _drop_held_out(validation, test, 1, "target leak (validation)", removed)
    train = _drop_held_out(train, validation + test, 1, "target leak (train)", removed)
    if max_pairs is not None:
        train = _lowest_hashes(train, max_pairs, seed, "max_pairs", removed)
    for split_name, split, size in (
        ("train", train, 1),
        ("validation", validation, validation_size),
        ("test", test, test_size),
    ):
        if size and not split:
            raise DataError(
                f"Corpus {name!r} has too few different sentences: no {split_name} pairs are left "
                f"with validation_size={validation_size} and test_size={test_size}; choose "
                "smaller sizes or another corpus."
            )
    return Corpus(train=train, validation=validation, test=test, removed=removed)


def normalize_text(text: str) -> str:
    """Bring a sentence to the one spelling that the rest of the package sees.

    Control and format characters (NUL, byte order mark, soft hyphen, ...) and lone surrogates are
    removed, the rest is composed (Unicode NFC), every run of white space, line breaks and
    no-break spaces included, becomes one space, and both ends are stripped. The zero-width joiner
    and non-joiner stay: some scripts spell with them.

    Args:
        text: Any text.

    Returns:
        The normalized text; normalizing it again changes nothing.
    """
    if not text.isprintable():
        text = "".join(filter(_is_text, text))
    return " ".join(unicodedata.normalize("NFC", text).split())


def _is_text(character: str) -> bool:
    """Return whether a character carries text or space, rather than control or format."""
    return (
        character.isspace()
        or character in _JOINERS
        or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
    )


class _FoldTable(dict[int, int | None]):
    """A table for `str.translate` that deletes punctuation, spaces and controls, made lazily."""

    def __missing__(self, code_point: int) -> int | None:
        kept = None if unicodedata.category(chr(code_point))[0] in "PZC" else code_point
        self[code_point] = kept
        return kept


_FOLD_TABLE = _FoldTable()


def _fold(text: str) -> str:
    """Return what two spellings of one sentence share: neither case, punctuation nor spaces."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.translate(_FOLD_TABLE) or text  # "?!" and "..." stay two different sentences


def _hash(seed: int, key: str) -> bytes:
    return hashlib.blake2b(f"{seed}\t{key}".encode(), digest_size=8).digest()


def _direction(source_language: str, target_language: str) -> tuple[str, bool]:
    """Return the ISO 639-3 code of the language beside English, and whether English is source."""
    codes = []
    for language in (source_language, target_language):
        code = _ISO_639_3.get(language, language)
        if not (len(code) == 3 and code.isascii() and code.isalpha() and code.islower()):
            raise DataError(
                f"Unknown language {language!r}: known are {', '.join(_ISO_639_3)}, and "
                "three-letter codes (ISO 639-3)."
            )
        codes.append(code)
    if codes.count("eng") != 1:
        raise DataError(
            "Exactly one of the two languages must be English (en), not "
            f"{source_language} and {target_language}."
        )
    return (codes[1], True) if codes[0] == "eng" else (codes[0], False)


def _read_tatoeba(path: Path, member: str, removed: dict[str, int]) -> list[Pair]:
    """Read the (English, other) pairs of a zip file from manythings.org, neither cleaned."""
    pairs: list[Pair] = []
    malformed = 0
    afresh = "delete it and run again to download it afresh."
    try:
        for columns in _tab_separated_lines(path, member):
            if len(columns) in (2, 3):  # the third, in newer files, is the attribution
                pairs.append((columns[0], columns[1]))
            else:
                malformed += 1
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: {member} is not valid UTF-8 after line {len(pairs) + malformed}: {afresh}"
        ) from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        NotImplementedError,  # a compression method that Python does not know
        RuntimeError,  # an encrypted member
    ) as error:
        raise DataError(
            f"{path} is not a complete, readable zip file ({' '.join(str(error).split())}): "
            f"{afresh}"
        ) from error
    except OSError as error:
        raise DataError(f"Could not read {path} ({error.strerror or error}).") from error
    if malformed > _MAX_MALFORMED_SHARE * (len(pairs) + malformed):
        raise DataError(
            f"{path}: {malformed} of the {len(pairs) + malformed} lines of {member} do not have "
            f"two or three tab-separated columns: {afresh}"
        )
    removed["malformed line"] = malformed
    return pairs


def _tab_separated_lines(path: Path, member: str) -> Iterator[list[str]]:
    """Yield the columns of each line of a zip file's member, without unpacking it to disk."""
    with zipfile.ZipFile(path) as archive:
        try:
            info = archive.getinfo(member)
        except KeyError:
            names = ", ".join(archive.namelist()[:5]) or "nothing"
            raise DataError(
                f"{path} has no {member} in it (it holds {names}): delete it and run again to "
                "download it afresh."
            ) from None
        # zipfile never yields more than the declared size, so this bounds what a bomb can do.
        if info.file_size > _MAX_MEMBER_BYTES:
            raise DataError(
                f"{path}: {member} would unpack to {info.file_size} bytes, more than the limit "
                f"of {_MAX_MEMBER_BYTES}: delete it, and get the file from a source you trust."
            )
        # Only a line feed ends a line here; the carriage return of CRLF goes with the white space.
        with (
            archive.open(info) as binary,
            io.TextIOWrapper(binary, encoding="utf-8", newline="\n") as lines,
        ):
            for line in lines:
                yield line.removesuffix("\n").split("\t")


def _clean(raw_pairs: Iterable[Pair], removed: dict[str, int]) -> list[Pair]:
    """Normalize pairs and leave out the empty, the repeated and the over-long."""
    counts = {"empty side": 0, "exact duplicate": 0, "over-long": 0}
    seen: set[Pair] = set()
    pairs: list[Pair] = []
    for raw_source, raw_target in raw_pairs:
        pair = (normalize_text(raw_source), normalize_text(raw_target))
        if not all(pair):
            counts["empty side"] += 1
        elif pair in seen:
            counts["exact duplicate"] += 1
        else:
            seen.add(pair)
            if max(len(side.split()) for side in pair) > _MAX_WORDS:
                counts["over-long"] += 1
            else:
                pairs.append(pair)
    removed.update(counts)
    return pairs


def _split(
    pairs: list[Pair], seed: int, validation_size: int, test_size: int
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Deal the pairs to train, validation and test by the hash of the folded source sentence."""
    keys = [_fold(source) for source, _ in pairs]
    pairs_of_key = Counter(keys)
    by_hash = iter(sorted(pairs_of_key, key=lambda key: (_hash(seed, key), key)))
    split_of_key: dict[str, str] = {}
    for split_name, size in (("test", test_size), ("validation", validation_size)):
        filled = 0
        while filled < size and (key := next(by_hash, None)) is not None:
            split_of_key[key] = split_name
            filled += pairs_of_key[key]
    splits: dict[str, list[Pair]] = {"train": [], "validation": [], "test": []}
    for key, pair in zip(keys, pairs, strict=True):
        splits[split_of_key.get(key, "train")].append(pair)
    return splits["train"], splits["validation"], splits["test"]


def _drop_held_out(
    pairs: list[Pair], held_out: list[Pair], side: int, step: str, removed: dict[str, int]
) -> list[Pair]:
    """Leave out the pairs that share a folded sentence, on one side, with the held-out pairs."""
    held_out_sentences = {_fold(pair[side]) for pair in held_out}
    kept = [pair for pair in pairs if _fold(pair[side]) not in held_out_sentences]
    removed[step] = len(pairs) - len(kept)
    return kept


def _lowest_hashes(
    pairs: list[Pair], size: int, seed: int, step: str, removed: dict[str, int]
) -> list[Pair]:
    """Keep the `size` pairs whose source sentences hash lowest, in the order of the corpus."""
    by_hash = sorted(range(len(pairs)), key=lambda index: _hash(seed, _fold(pairs[index][0])))
    kept = [pairs[index] for index in sorted(by_hash[:size])]
    removed[step] = len(pairs) - len(kept)
    return kept


def _phrasebook_splits(
    english_first: bool,
    seed: int,
    validation_size: int,
    test_size: int,
    removed: dict[str, int],
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Generate the phrasebook in its own splits, at most the wanted sizes held out."""
    from transformer_tf.text.phrasebook import generate_phrasebook

    splits: dict[str, list[Pair]] = {"train": [], "validation": [], "test": []}
    for phrase in generate_phrasebook(seed=seed):
        english, german = normalize_text(phrase.source), normalize_text(phrase.target)
        splits[phrase.split].append((english, german) if english_first else (german, english))
    test = _lowest_hashes(splits["test"], test_size, seed, "test_size", removed)
    validation = _lowest_hashes(
        splits["validation"], validation_size, seed, "validation_size", removed
    )
    # Its splits differ in their English; turned round, the source may repeat across them.
    validation = _drop_held_out(validation, test, 0, "source leak (validation)", removed)
    train = _drop_held_out(splits["train"], validation + test, 0, "source leak (train)", removed)
    return train, validation, test
