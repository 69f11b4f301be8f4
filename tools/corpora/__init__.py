"""The training data and the held-out pairs of the translators in `checkpoints`.

The configurations give a weight to each file that they use; earlier recipes do not use all of them.
No training pair shares a sentence with a held-out pair, on either side, regardless of case,
punctuation and spaces.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tools.augmentation import augment
from tools.everyday import value_pairs, written_pairs
from tools.everyday.misspellings import misspelt_pairs
from tools.everyday.words import find_genders, rare_words, word_pairs
from transformer_tf.text.corpora.archives import open_text
from transformer_tf.text.corpora.cleaning import Pair, clean_pair, fold
from transformer_tf.text.corpora.pair_files import read_pairs
from transformer_tf.text.normalization import normalize_text
from transformer_tf.utils.lines import iterate_lines

MAX_UNTRANSLATED = 150_000
LENGTHS = (range(1, 11), range(11, 21), range(21, 1000))
"""Numbers of English words; each is a third of the held-out written pairs."""

# Paths in the data directory.
CONVERSATION = {
    "de": {
        "tatoeba": "tatoeba/deu-eng.zip/deu.txt",
        "tatoeba_more": "extra/en-de/tatoeba_more.tsv.gz",
        "dialogue": "extra/en-de/dialogue.tsv.gz",
        "questions": "extra/en-de/questions.tsv.gz",
    },
    "es": {"tatoeba": "tatoeba/spa-eng.zip/spa.txt"},
}
WRITTEN = {
    "de": {
        "encyclopedia": "covost2 mt_geneval_wikipedia ud_pud xquad",
        "guides": "cwa_documentation mgsm monero_md mozilla_legal mozilla_www opensource_guide",
        "corrected": "mlqe_pe_wikipedia",
        "software": "apache_httpd debian_handbook debmake_doc freebsd_docs gnome_help "
        "libreoffice_help owasp_top10 php_manual",
        "games": "0ad cataclysm_dda flare_game",
    },
    "es": {
        "encyclopedia": "mt_geneval_wikipedia tico19 ud_pud xquad",
        "guides": "mgsm monero_md mozilla_legal mozilla_www opensource_guide",
        "software": "debian_handbook freebsd_docs gnome_help libreoffice_help owasp_asvs "
        "owasp_top10 php_manual python_docs react_docs",
        "games": "0ad cataclysm_dda flare_game",
    },
}
_QUESTION = re.compile(
    r"(?i)((hi|hello|hey), )?(who|what(?! a\b)|where|when|how|is|are|do|can|really)\b"
)
# Corrected machine translations, and biographies that come twice, as his and as hers.
NEVER_HELD_OUT = ("mlqe_pe_wikipedia", "mt_geneval_wikipedia")


def clean_pairs(path: Path) -> Iterator[Pair]:
    """Yields the usable pairs of a file, normalized."""
    for raw_source, raw_target in read_pairs([path], ("en", "de"), Counter()):
        pair = clean_pair(raw_source, raw_target)
        if not isinstance(pair, str):
            yield pair


def sentences_of(data: Path, code: str) -> Iterator[str]:
    """Yields the sentences of a language that have no translation, normalized."""
    for name in ("tatoeba", "commonvoice"):
        path = data / f"extra/monolingual/{name}_{code}.txt.gz"
        with open_text(path) as file:
            yield from map(normalize_text, iterate_lines(file, str(path)))


class KnownPairs:
    """Leaves out pairs that are held out, or that an earlier file has."""

    def __init__(self) -> None:
        self._held_out: tuple[set[str], set[str]] = set(), set()
        self._seen: set[Pair] = set()

    def hold_out(self, pairs: Iterable[Pair]) -> None:
        """Holds out pairs."""
        for pair in pairs:
            for keys, side in zip(self._held_out, pair, strict=True):
                keys.add(fold(side))

    def free(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Returns the pairs that share no sentence with a held-out pair, each once."""
        source_keys, target_keys = self._held_out
        return [
            (source, target)
            for source, target in dict.fromkeys(pairs)
            if fold(source) not in source_keys and fold(target) not in target_keys
        ]

    def new(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Returns the free pairs that no earlier call returned."""
        new = [pair for pair in self.free(pairs) if pair not in self._seen]
        self._seen.update(new)
        return new


def draw_written(pairs_by_file: Mapping[str, Iterable[Pair]], size: int) -> list[Pair]:
    """Draws pairs to hold out, a third of each of `LENGTHS`.

    A file of n pairs of a length gets a share in proportion to the square root of n, so that the
    large software manuals do not outweigh everything else.

    Args:
        pairs_by_file: The pairs of each file.
        size: Number of pairs.
    """
    drawn: list[Pair] = []
    for number, lengths in enumerate(LENGTHS, 1):
        ranked = []
        for pairs in pairs_by_file.values():
            fitting = sorted((pair for pair in pairs if len(pair[0].split()) in lengths), key=_hash)
            scale = math.sqrt(len(fitting))
            ranked += [(rank / scale, _hash(pair), pair) for rank, pair in enumerate(fitting, 1)]
        count = size * number // len(LENGTHS) - len(drawn)
        drawn += [pair for _, _, pair in sorted(ranked)[:count]]
    return drawn


def prepare(
    language: str,
    data: Path,
    held_out: Mapping[str, list[Pair]],
    swap: bool = False,
    written_size: int = 1000,
    daily_size: int = 500,
) -> dict[str, list[Pair]]:
    """Returns the pairs of each file to write.

    Args:
        language: The other language: `de` or `es`.
        data: The data directory.
        held_out: The validation and the test pairs of Tatoeba, by name, English first.
        swap: Whether the pairs are for a translator into English.
        written_size: Number of written pairs to hold out.
        daily_size: Number of sentences of daily life to hold out.
    """
    by_file = {
        name: list(clean_pairs(data / f"extra/real/en-{language}/{name}.tsv.gz"))
        for names in WRITTEN[language].values()
        for name in names.split()
    }
    daily = written_pairs({"de": "sentences", "es": "spanish"}[language])
    known = KnownPairs()
    for pairs in held_out.values():
        known.hold_out(pairs)
    candidates = {name: known.free(by_file[name]) for name in by_file if name not in NEVER_HELD_OUT}
    drawn = {
        "validation_written": draw_written(candidates, written_size),
        "validation_daily": sorted(known.free(daily), key=_hash)[:daily_size],
    }
    for pairs in drawn.values():
        known.hold_out(pairs)
    train = {
        name: known.new(clean_pairs(data / path)) for name, path in CONVERSATION[language].items()
    }
    talk = [pair for pairs in train.values() for pair in pairs]
    for name, files in WRITTEN[language].items():
        train[name] = known.new(pair for file in files.split() for pair in by_file[file])
    train["sentences"] = known.new(daily)
    suffix = {"de": "", "es": "_spanish"}[language]
    for name in ("written", "vocabulary", "idioms"):
        train[name] = known.new(written_pairs(name + suffix))
    normal = [pair for pairs in train.values() for pair in pairs]
    phrases = written_pairs("phrases" + suffix)
    phrases += with_marks(phrases, spanish=language == "es")
    # Without capitals, too, on the side that is read.
    small = [
        (english, german.lower()) if swap else (english.lower(), german)
        for english, german in phrases
    ]
    train["phrases"] = known.new([*phrases, *small])
    if language == "de":
        dictionary = list(clean_pairs(data / "extra/en-de/wiktionary_words.tsv.gz"))
        english, german = (
            [*sentences_of(data, code), *(pair[side] for pair in normal)]
            for side, code in enumerate(("en", "de"))
        )
        rare = rare_words(dictionary, normal, english, german)
        train |= {
            "expressions": known.new(written_pairs("expressions")),
            "careless": known.new(written_pairs("careless")),
            "values": known.new(value_pairs(15_000)),
            "misspelt": known.new(misspelt_pairs(talk)),
            "words": known.new(word_pairs(rare, find_genders(german))),
            "wiktionary": known.new(dictionary),
        }
    if swap:  # the mistakes in them are in English, here the target
        del train["careless"], train["misspelt"]
    # Variants change the source, so they are made from pairs in the order of the translator.
    variants = augment(turned(normal) if swap else normal, share=0.5, seed=0)
    train["augmented"] = known.new(turned(variants) if swap else variants)
    result = {**held_out, **drawn, **train}
    return {name: turned(pairs) for name, pairs in result.items()} if swap else result


def with_marks(phrases: Iterable[Pair], spanish: bool) -> list[Pair]:
    """Returns the phrases that end without a mark with one: "?" for questions, else "." and "!"."""
    phrases = list(phrases)
    given = {english for english, _ in phrases}
    opening = {"?": "¿", "!": "¡", ".": ""} if spanish else dict.fromkeys("?!.", "")
    return [
        (english + mark, other if other[-1] in ".!?" else opening[mark] + other + mark)
        for english, other in phrases
        if english[-1] not in ".!?"
        for mark in ("?" if _QUESTION.match(english) else ".!")
        if english + mark not in given
    ]


def untranslated(data: Path, code: str, pairs_by_file: Mapping[str, Iterable[Pair]]) -> list[str]:
    """Returns sentences of the target language that no pair has, each once, to translate back.

    Args:
        data: The data directory.
        code: The target language: `en` or `de`.
        pairs_by_file: All pairs, the held-out ones included.
    """
    seen = {fold(target) for pairs in pairs_by_file.values() for _, target in pairs}
    by_key = {fold(sentence): sentence for sentence in sentences_of(data, code)}
    new = [sentence for key, sentence in by_key.items() if key not in seen]
    new.sort(key=lambda sentence: _hash(("", sentence)))
    return new[:MAX_UNTRANSLATED]


def turned(pairs: Iterable[Pair]) -> list[Pair]:
    """Exchanges the sides of pairs."""
    return [(target, source) for source, target in pairs]


def _hash(pair: Pair) -> bytes:
    """Returns a key to sort by: the order looks random but is always the same."""
    return hashlib.sha256("\t".join(pair).encode()).digest()
