"""A corpus, by name or by file, to cleaned sentence pairs in three splits that share no sentence.

| corpus | what | splits |
| --- | --- | --- |
| `phrasebook` | generated on the spot, English and German | its own |
| `tatoeba` | everyday sentences, English and any language of manythings.org/anki | drawn |
| `multi30k` | image captions in English, German, French and Czech | its own |
| `tfds:NAME` | a translation dataset of TensorFlow Datasets | its own |
| `files` | files of yours, `data.files` | yours, or drawn |
"""

import dataclasses
import difflib
import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pooch  # type: ignore[import-untyped, unused-ignore]

from transformer_tf.config import DataConfig
from transformer_tf.errors import DataError
from transformer_tf.text import cleaning
from transformer_tf.text.archives import open_text
from transformer_tf.text.download import default_data_directory, fetch
from transformer_tf.text.lines import read_lines, write_lines
from transformer_tf.text.pairs import Pair, PairWriter, StoredPairs
from transformer_tf.text.splits import SPLITS, TEST, TRAIN, VALIDATION, Splitter, text_hash

HELD_OUT = (VALIDATION, TEST)
CORPUS_NAMES = ("phrasebook", "tatoeba", "multi30k", "files")
CACHE_DIRECTORY_VARIABLE = "TRANSFORMER_TF_CACHE"

SplitPair = tuple[str, str, str]
"""A split's name, a source sentence and its translation, neither cleaned."""

_TATOEBA_URL = "https://www.manythings.org/anki/{code}-eng.zip"
_MULTI30K_URL = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/{name}"
_MULTI30K_FILES = {TRAIN: "train", VALIDATION: "val", TEST: "test_2016_flickr"}
# These files never change. SHA-256 of those that were at hand, MD5 as torchtext knows it of the
# others.
_MULTI30K_HASHES = {
    "train.en.gz": "sha256:d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.de.gz": "sha256:726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.fr.gz": "md5:6cb767741dcad3931f966fefbc05203f",
    "train.cs.gz": "md5:d9a5fc268917725a2b0efce3a0cc8607",
    "val.en.gz": "sha256:14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.de.gz": "sha256:f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.fr.gz": "md5:93fc564584b7e5ba410c761ea5a1c682",
    "val.cs.gz": "md5:83cdc082f646b769095615384cf5c0ca",
    "test_2016_flickr.en.gz": (
        "sha256:611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"
    ),
    "test_2016_flickr.de.gz": (
        "sha256:9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"
    ),
    "test_2016_flickr.fr.gz": "md5:08dc7cd4a662f31718412de95ca9bfe3",
    "test_2016_flickr.cs.gz": "md5:3104872229daa1bef3b401d44dd2220b",
}

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

    train: StoredPairs
    validation: StoredPairs
    test: StoredPairs
    removed: dict[str, int]

    @property
    def sizes(self) -> dict[str, int]:
        """Number of pairs of each split."""
        return {name: len(getattr(self, name)) for name in SPLITS}

    def save_held_out(self, folder: Path) -> None:
        """Writes the validation and the test pairs, as `validation.tsv` and `test.tsv`.

        Raises:
            DataError: If they cannot be written.
        """
        for name in HELD_OUT:
            pairs = getattr(self, name)
            write_lines(folder / f"{name}.tsv", ("\t".join(pair) for pair in pairs))


def load_held_out(folder: Path, name: str) -> list[Pair]:
    """Reads the validation or the test pairs that a run has written down.

    Args:
        folder: The folder of the run.
        name: `validation` or `test`.

    Raises:
        DataError: If there are none, or they are damaged.
    """
    path = folder / f"{name}.tsv"
    pairs = [tuple(line.split("\t")) for line in read_lines(path)]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise DataError(f"{path} does not hold lines of a source, a tab and a target")
    return pairs  # type: ignore[return-value]


def load_corpus(data: DataConfig, seed: int = 0) -> Corpus:
    """Loads a corpus: downloads it if need be, cleans it, and splits it without leakage.

    No sentence of one split occurs in another, neither on the source nor on the target side and
    whatever its case, punctuation and spacing. To this end all translations of a source sentence
    go to the same split, and pairs that share a sentence with a held-out split leave the others.

    A split that the corpus does not bring is drawn by a hash of the seed and the source sentence,
    so that a sentence's place does not depend on the rest of the corpus: when that grows, old
    source sentences only ever move from test to validation to train. A split that the corpus does
    bring is kept whole; of the phrasebook's, which has no end, `validation_size` and `test_size`
    are upper bounds.

    The pairs stand in a file in the cache folder that is gone when nobody reads it any more.

    Args:
        data: What to load.
        seed: Chooses the splits, the subset that `max_pairs` keeps, and the generated phrasebook.

    Returns:
        The three splits and the number of pairs that each cleaning step removed.

    Raises:
        DataError: If the name or a language is unknown, or the corpus cannot be had, is damaged,
            malformed, or too small for the sizes wanted. The message is one line that says what
            to do.
    """
    # The steps of a pair first, in their order, whether they remove anything or not.
    removed = dict.fromkeys(cleaning.PAIR_STEPS, 0)
    pairs, splitter = _clean(_read(data, seed, removed), data, seed, removed)
    splitter.drop_duplicates()
    drawn = [name for name in (TEST, VALIDATION) if not len(splitter.members[name])]
    for name in drawn:
        if getattr(data, f"{name}_files"):
            raise DataError(
                f"data.{name}_files holds no pair with something on both sides; it is not replaced "
                "by pairs of the training files."
            )
    wanted = sum(_size(data, name) for name in drawn)
    if len(splitter.members[TRAIN]) < 2 * wanted:
        raise DataError(
            f"Corpus {data.corpus!r} is too small: {len(splitter.members[TRAIN])} pairs are left "
            f"after cleaning, and {' + '.join(f'{name}_size' for name in drawn)} = {wanted} needs "
            f"at least {2 * wanted}; choose smaller sizes."
        )
    for name in (TEST, VALIDATION):
        if name in drawn or data.corpus == "phrasebook":
            splitter.draw(name, _size(data, name))
    splitter.drop_leaks(VALIDATION, (TEST,))
    splitter.drop_leaks(TRAIN, (VALIDATION, TEST))
    if data.max_pairs is not None:
        splitter.keep_at_most(data.max_pairs)
    for name in SPLITS:
        if not len(splitter.members[name]) and _size(data, name):
            if name == VALIDATION and name not in drawn:
                raise DataError(
                    f"Corpus {data.corpus!r} has no validation pairs but those that share a "
                    "sentence with its test pairs; choose other ones."
                )
            raise DataError(
                f"Corpus {data.corpus!r} has too few different sentences: no {name} pairs are left "
                f"with validation_size={data.validation_size} and test_size={data.test_size}; "
                "choose smaller sizes or another corpus."
            )
    splits = {name: pairs.select(splitter.members[name]) for name in SPLITS}
    return Corpus(**splits, removed=removed)


def cache_directory(data: DataConfig) -> Path:
    """The folder for prepared data.

    Returns:
        `data.cache_directory` if it is set, else the folder named by the environment variable
        `TRANSFORMER_TF_CACHE`, else a folder in the user's cache.
    """
    if data.cache_directory:
        return data.cache_directory.expanduser()
    configured = os.environ.get(CACHE_DIRECTORY_VARIABLE)
    if configured:
        return Path(configured).expanduser()
    return Path(pooch.os_cache("transformer_tf")) / "prepared"


def data_directory(data: DataConfig) -> Path:
    """The folder of downloaded data: `data.directory`, or `default_data_directory()`."""
    return data.directory.expanduser() if data.directory else default_data_directory()


def _size(data: DataConfig, name: str) -> int:
    return {TRAIN: 1, VALIDATION: data.validation_size, TEST: data.test_size}[name]


def _clean(
    raw: Iterable[SplitPair], data: DataConfig, seed: int, removed: dict[str, int]
) -> tuple[StoredPairs, Splitter]:
    """Writes down the pairs that are worth it, with what the splits need to know of them.

    The sentences of a test set are not chosen to suit us: those that come as validation or test
    are only brought to one spelling, and left out where there is nothing to translate.
    """
    split_codes, source_hash = array("b"), array("Q")
    target_hash, pair_hash = array("Q"), array("Q")
    with PairWriter(cache_directory(data)) as writer:
        for split, raw_source, raw_target in raw:
            if split == TRAIN:
                pair = cleaning.clean_pair(raw_source, raw_target, data.max_length_ratio)
            else:
                pair = cleaning.normalize_text(raw_source), cleaning.normalize_text(raw_target)
                pair = pair if all(pair) else cleaning.EMPTY
            if isinstance(pair, str):
                removed[pair] += 1
                continue
            writer.add(pair)
            split_codes.append(SPLITS.index(split))
            source_hash.append(text_hash(cleaning.fold(pair[0]), seed))
            target_hash.append(text_hash(cleaning.fold(pair[1])))
            pair_hash.append(text_hash("\t".join(pair)))
        pairs = writer.finish()
    splitter = Splitter(
        np.array(split_codes),
        np.array(source_hash),
        np.array(target_hash),
        np.array(pair_hash),
        removed,
    )
    return pairs, splitter


def _read(data: DataConfig, seed: int, removed: dict[str, int]) -> Iterator[SplitPair]:
    """The raw pairs of the corpus that is named."""
    name = data.corpus
    if name == "phrasebook":
        return _read_phrasebook(data, seed)
    if name == "tatoeba":
        return _read_tatoeba(data, removed)
    if name == "multi30k":
        return _read_multi30k(data, removed)
    if name == "files":
        return _read_files(data, removed)
    if name.startswith("tfds:"):
        return _read_tfds(data)
    close = difflib.get_close_matches(name.lower(), CORPUS_NAMES, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise DataError(
        f"Unknown corpus {name!r}: known are {', '.join(CORPUS_NAMES)} and tfds:NAME.{hint}"
    )


def _read_phrasebook(data: DataConfig, seed: int) -> Iterator[SplitPair]:
    from transformer_tf.text.phrasebook import generate_phrasebook

    other_code, english_first = _direction(data)
    if other_code != "deu":
        raise DataError(
            "The phrasebook holds English and German only: choose en and de as the languages, "
            f"not {data.source_language} and {data.target_language}."
        )
    for phrase in generate_phrasebook(seed=seed):
        pair = phrase.source, phrase.target
        yield phrase.split, *(pair if english_first else pair[::-1])


def _read_tatoeba(data: DataConfig, removed: dict[str, int]) -> Iterator[SplitPair]:
    other_code, english_first = _direction(data)
    path = fetch(
        f"tatoeba/{other_code}-eng.zip",
        _TATOEBA_URL.format(code=other_code),
        data_directory(data),
    )
    lines = _Lines(path / f"{other_code}.txt", data.max_malformed, removed)
    for english, other in lines.columns():
        yield TRAIN, *((english, other) if english_first else (other, english))


def _read_multi30k(data: DataConfig, removed: dict[str, int]) -> Iterator[SplitPair]:
    languages = data.source_language, data.target_language
    for language in languages:
        if f"train.{language}.gz" not in _MULTI30K_HASHES:
            raise DataError(f"multi30k has the languages en, de, fr and cs, not {language!r}.")
    for split, stem in _MULTI30K_FILES.items():
        paths = []
        for language in languages:
            name = f"{stem}.{language}.gz"
            url = _MULTI30K_URL.format(name=name)
            relative_path = f"multi30k/{name}"
            paths.append(fetch(relative_path, url, data_directory(data), _MULTI30K_HASHES[name]))
        for pair in _parallel(paths[0], paths[1], data.max_malformed, removed):
            yield split, *pair


def _read_files(data: DataConfig, removed: dict[str, int]) -> Iterator[SplitPair]:
    for split, entries in (
        (TRAIN, data.files),
        (VALIDATION, data.validation_files),
        (TEST, data.test_files),
    ):
        for entry in entries:
            paths = [Path(name).expanduser() for name in entry]
            if len(paths) == 1:
                pairs = _Lines(paths[0], data.max_malformed, removed).columns()
            else:
                pairs = _parallel(paths[0], paths[1], data.max_malformed, removed)
            for pair in pairs:
                yield split, *pair


def _read_tfds(data: DataConfig) -> Iterator[SplitPair]:
    """Reads a translation dataset of TensorFlow Datasets, which downloads and verifies it."""
    try:
        import tensorflow_datasets as tfds
    except ImportError as error:
        raise DataError(
            f"{data.corpus} needs TensorFlow Datasets: python -m pip install tensorflow-datasets"
        ) from error
    name = data.corpus.removeprefix("tfds:")
    try:
        builder = tfds.builder(name, data_dir=data_directory(data) / "tfds")
        languages = sorted(builder.info.features)
        for language in (data.source_language, data.target_language):
            if language not in languages:
                raise DataError(
                    f"{data.corpus} has the languages {' and '.join(languages)}, not {language!r}."
                )
        builder.download_and_prepare()
        for split in SPLITS:
            try:
                examples = builder.as_dataset(split=split)
            except ValueError:  # it has no such split
                continue
            for example in tfds.as_numpy(examples):
                source, target = (
                    example[language].decode("utf-8")
                    for language in (data.source_language, data.target_language)
                )
                yield split, source, target
    except DataError:
        raise
    except Exception as error:  # its own many kinds, and those of what it downloads with
        reason = " ".join(str(error).split())[:200]
        raise DataError(
            f"TensorFlow Datasets could not load {name} ({reason}). It keeps its files in "
            f"{data_directory(data) / 'tfds'}."
        ) from error


class _Lines:
    """The lines of a text file, each decoded by itself; malformed ones are counted and skipped.

    Args:
        path: A file that `open_text` reads.
        max_malformed: Share of malformed lines above which the file is refused.
        removed: Takes the number of malformed lines of each kind.
    """

    def __init__(self, path: Path, max_malformed: float, removed: dict[str, int]):
        self.path = path
        self._max_malformed = max_malformed
        self._removed = removed
        self._total = 0
        self._malformed: Counter[str] = Counter()

    def columns(self) -> Iterator[Pair]:
        """The first two columns of each line; newer files of manythings.org have a third."""
        for line in self.texts():
            if line is None:
                self.malformed(cleaning.NOT_UTF8)
                continue
            columns = line.split("\t")
            if len(columns) in (2, 3):
                yield columns[0], columns[1]
            else:
                self.malformed(cleaning.WRONG_COLUMNS)
        self.check()

    def texts(self) -> Iterator[str | None]:
        """Each line, or None if it is not UTF-8."""
        with open_text(self.path) as file:
            for line in file:
                self._total += 1
                if self._total == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise DataError(
                        f"{self.path} is UTF-16; convert it first: iconv -f utf-16 -t utf-8"
                    )
                try:
                    # Only a line feed ends a line; the carriage return of CRLF is white space.
                    yield line.removesuffix(b"\n").decode("utf-8")
                except UnicodeDecodeError:
                    yield None

    def malformed(self, step: str) -> None:
        """Counts a line that cannot be used."""
        self._malformed[step] += 1
        self._removed[step] += 1

    def check(self) -> None:
        """Refuses a file of which too much is malformed: most often it is not what it seems."""
        malformed = self._malformed.total()
        if malformed > self._max_malformed * self._total:
            raise DataError(
                f"{self.path}: {malformed} of the {self._total} lines are malformed: "
                f"{self._malformed[cleaning.NOT_UTF8]} not UTF-8 (convert such a file, from "
                "Latin-1 for instance with iconv -f latin1 -t utf-8), "
                f"{self._malformed[cleaning.WRONG_COLUMNS]} without two or three tab-separated "
                "columns; get a whole copy, or leave them out with data.max_malformed=SHARE."
            )


def _parallel(
    source_path: Path, target_path: Path, max_malformed: float, removed: dict[str, int]
) -> Iterator[Pair]:
    """The pairs of two files, line by line."""
    source_lines = _Lines(source_path, max_malformed, removed)
    sources, targets = (
        source_lines.texts(),
        _Lines(target_path, max_malformed, removed).texts(),
    )
    missing = object()
    while True:
        source, target = next(sources, missing), next(targets, missing)
        if source is missing and target is missing:
            break
        if source is missing or target is missing:
            shorter, longer = (
                (source_path, target_path) if source is missing else (target_path, source_path)
            )
            raise DataError(
                f"{longer} has more lines than {shorter}: line n of one must be the translation "
                "of line n of the other."
            )
        if isinstance(source, str) and isinstance(target, str):
            yield source, target
        else:
            source_lines.malformed(cleaning.NOT_UTF8)
    source_lines.check()


def _direction(data: DataConfig) -> tuple[str, bool]:
    """The ISO 639-3 code of the language beside English, and whether English is the source."""
    languages = data.source_language, data.target_language
    codes = []
    for language in languages:
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
            f"{languages[0]} and {languages[1]}."
        )
    return (codes[1], True) if codes[0] == "eng" else (codes[0], False)
