"""Where sentence pairs come from: named corpora and files.

| corpus | content | splits |
| --- | --- | --- |
| `phrasebook` | generated sentences, English and German | its own |
| `tatoeba` | everyday sentences, English and any language of manythings.org/anki | drawn |
| `multi30k` | image captions in English, German, French and Czech | its own |
| `tfds:NAME` | a translation dataset of TensorFlow Datasets | its own |
| `files` | the files of `data.files` | `data.validation_files`, `data.test_files`, or drawn |
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from transformer_tf.config import DataConfig, MixConfig
from transformer_tf.errors import DataError, one_line
from transformer_tf.text.corpora.download import fetch
from transformer_tf.text.corpora.pair_files import read_pairs
from transformer_tf.text.corpora.splits import SPLITS, TEST, TRAIN, VALIDATION
from transformer_tf.utils.files import user_folder
from transformer_tf.utils.languages import LANGUAGES, three_letter_code

CORPUS_NAMES = ("phrasebook", "tatoeba", "multi30k", "files")

_TATOEBA_URL = "https://www.manythings.org/anki/{code}-eng.zip"
_MULTI30K_URL = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/{name}"
_MULTI30K_FILES = {TRAIN: "train", VALIDATION: "val", TEST: "test_2016_flickr"}
# These files never change. English and German have SHA-256 hashes of verified copies, French and
# Czech the MD5 hashes that torchtext uses.
MULTI30K_HASHES = {
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


class RawPair(NamedTuple):
    """A sentence pair before cleaning.

    Attributes:
        split: `train`, `validation` or `test`.
        source: The source sentence.
        target: Its translation.
    """

    split: str
    source: str
    target: str


@dataclasses.dataclass(frozen=True)
class Source:
    """A part of the training data: a named corpus, an entry of `data.files` or of `data.mix`.

    Attributes:
        name: The name of the corpus or of the file.
        read: Returns the pairs.
        weight: How often an epoch shows each training pair.
        tag: The name of the source token of its pairs; empty for none.
        mixed: Whether it is an entry of `data.mix`: held-out pairs are never drawn from it.
    """

    name: str
    read: Callable[[], Iterable[RawPair]]
    weight: float = 1.0
    tag: str = ""
    mixed: bool = False


def list_sources(data: DataConfig, removed: dict[str, int]) -> list[Source]:
    """Lists the sources of a configuration, `data.mix` last.

    Args:
        data: The configuration.
        removed: Receives the number of malformed lines of each kind, while the sources are read.

    Raises:
        DataError: If the corpus is unknown. Reading a source can raise it too.
    """
    readers: dict[str, Callable[[], Iterable[RawPair]]] = {
        "phrasebook": lambda: _read_phrasebook(data),
        "tatoeba": lambda: _read_tatoeba(data, removed),
        "multi30k": lambda: _read_multi30k(data, removed),
    }
    name = data.corpus
    sources = []
    if name in readers:
        sources.append(Source(name, readers[name]))
    elif name.startswith("tfds:"):
        sources.append(Source(name, lambda: _read_tfds(data)))
    elif name != "files":
        close = difflib.get_close_matches(name.lower(), CORPUS_NAMES, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise DataError(
            f"Unknown corpus {name!r}: choose from {', '.join(CORPUS_NAMES)} and tfds:NAME.{hint}"
        )
    for split, entries in (
        (TRAIN, data.files),
        (VALIDATION, data.validation_files),
        (TEST, data.test_files),
    ):
        sources += [_file_source(entry, split, data, data, removed) for entry in entries]
    for mix in data.mix:
        source = _file_source(mix.files, TRAIN, data, mix, removed)
        sources.append(dataclasses.replace(source, weight=mix.weight, tag=mix.tag, mixed=True))
    return sources


def data_directory() -> Path:
    """Returns the folder of downloaded data: `$TRANSFORMER_TF_DATA`, or one in the user's cache."""
    return user_folder("TRANSFORMER_TF_DATA")


def _file_source(
    entry: Sequence[str],
    split: str,
    data: DataConfig,
    layout: DataConfig | MixConfig,
    removed: dict[str, int],
) -> Source:
    def read() -> Iterator[RawPair]:
        languages = data.source_language, data.target_language
        if layout.swap:
            languages = languages[::-1]
        paths = [Path(name).expanduser() for name in entry]
        for pair in read_pairs(paths, languages, removed, layout.columns):
            yield RawPair(split, *(pair[::-1] if layout.swap else pair))

    return Source(Path(entry[0]).name, read)


def _read_phrasebook(data: DataConfig) -> Iterator[RawPair]:
    from transformer_tf.text.corpora.phrasebook import load_phrasebook

    other_code, english_first = _other_than_english(data.source_language, data.target_language)
    if other_code != "deu":
        raise DataError(
            "The phrasebook holds English and German only: choose en and de as the languages, "
            f"not {data.source_language} and {data.target_language}."
        )
    for phrase in load_phrasebook():
        pair = phrase.source, phrase.target
        yield RawPair(phrase.split, *(pair if english_first else pair[::-1]))


def _read_tatoeba(data: DataConfig, removed: dict[str, int]) -> Iterator[RawPair]:
    other_code, english_first = _other_than_english(data.source_language, data.target_language)
    archive = fetch(
        f"tatoeba/{other_code}-eng.zip",
        _TATOEBA_URL.format(code=other_code),
        data_directory(),
    )
    for english, other in read_pairs([archive / f"{other_code}.txt"], ("en", other_code), removed):
        yield RawPair(TRAIN, *((english, other) if english_first else (other, english)))


def _read_multi30k(data: DataConfig, removed: dict[str, int]) -> Iterator[RawPair]:
    languages = data.source_language, data.target_language
    for language in languages:
        if f"train.{language}.gz" not in MULTI30K_HASHES:
            raise DataError(f"multi30k has the languages en, de, fr and cs, not {language!r}.")
    for split, stem in _MULTI30K_FILES.items():
        paths = []
        for language in languages:
            name = f"{stem}.{language}.gz"
            url = _MULTI30K_URL.format(name=name)
            directory = data_directory()
            paths.append(fetch(f"multi30k/{name}", url, directory, MULTI30K_HASHES[name]))
        for source, target in read_pairs(paths, languages, removed):
            yield RawPair(split, source, target)


def _other_than_english(source: str, target: str) -> tuple[str, bool]:
    """Returns the language that is not English, and whether English is the source.

    Args:
        source: The source language, a two-letter or three-letter code.
        target: The target language, likewise.

    Returns:
        The ISO 639-3 code of the other language, and True if English is the source.

    Raises:
        DataError: If a code is unknown, or not exactly one language is English.
    """
    codes = []
    for language in (source, target):
        code = three_letter_code(language)
        if not (len(code) == 3 and code.isascii() and code.isalpha() and code.islower()):
            raise DataError(
                f"Unknown language {language!r}: choose {', '.join(LANGUAGES)}, or "
                "a three-letter code (ISO 639-3)."
            )
        codes.append(code)
    if codes.count("eng") != 1:
        raise DataError(
            f"Exactly one of the two languages must be English (en), not {source} and {target}."
        )
    return (codes[1], True) if codes[0] == "eng" else (codes[0], False)


def _read_tfds(data: DataConfig) -> Iterator[RawPair]:
    """Reads a translation dataset of TensorFlow Datasets, which downloads and verifies it."""
    try:
        import tensorflow_datasets as tfds
    except ImportError as error:
        raise DataError(
            f"{data.corpus} needs TensorFlow Datasets: python -m pip install tensorflow-datasets"
        ) from error
    name = data.corpus.removeprefix("tfds:")
    wanted = data.source_language, data.target_language
    try:
        builder = tfds.builder(name, data_dir=data_directory() / "tfds")
        languages = sorted(builder.info.features)
        for language in wanted:
            if language not in languages:
                raise DataError(
                    f"{data.corpus} has the languages {' and '.join(languages)}, not {language!r}."
                )
        builder.download_and_prepare()
        for split in SPLITS:
            try:
                examples = builder.as_dataset(split=split)
            except ValueError:  # the dataset has no such split
                continue
            for example in tfds.as_numpy(examples):
                source, target = (example[language].decode("utf-8") for language in wanted)
                yield RawPair(split, source, target)
    except DataError:
        raise
    except Exception as error:  # TensorFlow Datasets and its downloads raise errors of many types
        reason = one_line(error)[:200]
        raise DataError(
            f"TensorFlow Datasets could not load {name} ({reason}). It keeps its files in "
            f"{data_directory() / 'tfds'}."
        ) from error
