"""Corpora: reading, cleaning and, above all, splits that share no sentence."""

import random
import re
import sys
import types
import unicodedata
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from transformer_tf.errors import DataError
from transformer_tf.text import corpora
from transformer_tf.text.corpora import Corpus, Pair, load_corpus, normalize_text

REAL_DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
NFD_UMLAUT = "u\N{COMBINING DIAERESIS}"


def write_zip(directory: Path, content: bytes, name: str = "deu-eng.zip") -> Path:
    path = directory / "tatoeba" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name.replace("-eng.zip", ".txt"), content)
        archive.writestr("_about.txt", "Attribution: www.manythings.org/anki and tatoeba.org")
    return path


def write_lines(directory: Path, lines: Iterable[str]) -> Path:
    return write_zip(directory, "".join(f"{line}\n" for line in lines).encode())


def load(directory: Path, **options: object) -> Corpus:
    """Load the English-German corpus in `directory`, by default with nothing held out."""
    arguments: dict[str, object] = {
        "source_language": "en",
        "target_language": "de",
        "validation_size": 0,
        "test_size": 0,
    }
    return load_corpus("tatoeba", directory=directory, **{**arguments, **options})  # type: ignore[arg-type]


def numbered_lines(count: int) -> list[str]:
    return [f"Sentence {number}.\tSatz {number}." for number in range(count)]


def random_lines(count: int, seed: int) -> list[str]:
    """Pairs with many shared sources and targets, some in another case or punctuation."""
    rng = random.Random(seed)

    def sentence(word: str) -> str:
        text = f"{word} {rng.randrange(count // 2)}"
        return rng.choice([text, text.upper(), f"{text}!", f"«{text}» …", text.replace(" ", "  ")])

    return [f"{sentence('straight')}\t{sentence('straße')}" for _ in range(count)]


def folded(text: str) -> str:
    """A slow, obvious version of the fold that the split is made by."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in text if unicodedata.category(character)[0] in "LMNS")


def shared_sentences(corpus: Corpus) -> int:
    """Count the folded sentences that occur in more than one split, on either side."""
    shared = 0
    for side in (0, 1):
        train, validation, test = (
            {folded(pair[side]) for pair in split}
            for split in (corpus.train, corpus.validation, corpus.test)
        )
        shared += len(train & validation) + len(train & test) + len(validation & test)
    return shared


def all_pairs(corpus: Corpus) -> list[Pair]:
    return corpus.train + corpus.validation + corpus.test


def test_reads_two_and_three_columns_in_either_direction(tmp_path: Path) -> None:
    write_lines(tmp_path, ["Hi.\tHallo!", "Run!\tLauf!\tCC-BY 2.0 (France) tatoeba.org #1 & #2"])

    assert load(tmp_path).train == [("Hi.", "Hallo!"), ("Run!", "Lauf!")]
    german_first = load(tmp_path, source_language="de", target_language="en")
    assert german_first.train == [("Hallo!", "Hi."), ("Lauf!", "Run!")]


def test_other_languages_by_iso_code(tmp_path: Path) -> None:
    write_zip(tmp_path, "Hi.\t嗨。\n".encode(), "cmn-eng.zip")
    write_zip(tmp_path, b"Hi.\tHallo!\n", "nds-eng.zip")

    assert load(tmp_path, target_language="zh").train == [("Hi.", "嗨。")]
    assert load(tmp_path, target_language="nds").train == [("Hi.", "Hallo!")]


def test_cleans_and_counts_in_order(tmp_path: Path) -> None:
    long_sentence = "wort " * 101
    lines = [
        "\N{ZERO WIDTH NO-BREAK SPACE}Hi.\tHallo!\r",  # byte order mark, CRLF
        f"Fire\0!\tFr{NFD_UMLAUT}h \N{NO-BREAK SPACE} auf !\r",
        "no tab at all",
        "one\ttwo\tthree\tfour",
        "Empty\t \N{ZERO WIDTH SPACE}",
        "\tLeer",
        "Hi.\tHallo!",
        "Fire!\tFrüh auf !",
        f"Long\t{long_sentence}",
        f"Long enough\t{long_sentence.removesuffix('wort ')}",
        *numbered_lines(200),
    ]
    write_lines(tmp_path, lines)

    corpus = load(tmp_path)

    assert list(corpus.removed.items())[:4] == [
        ("malformed line", 2),
        ("empty side", 2),
        ("exact duplicate", 2),
        ("over-long", 1),
    ]
    assert corpus.train[:2] == [("Hi.", "Hallo!"), ("Fire!", "Früh auf !")]
    assert corpus.train[2][0] == "Long enough"
    assert len(corpus.train) == 203


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{NFD_UMLAUT}ber", "über"),
        ("\N{ZERO WIDTH NO-BREAK SPACE}a\0b\x07c", "abc"),
        (" a\t\tb\r\nc\N{NARROW NO-BREAK SPACE}d\N{LINE SEPARATOR}e ", "a b c d e"),
        ("Donau\N{SOFT HYPHEN}dampf", "Donaudampf"),
        ("a\ud800b", "ab"),
        # Removing the NUL brings the two parts of the letter together.
        ("u\0\N{COMBINING DIAERESIS}", "ü"),
        ("می\N{ZERO WIDTH NON-JOINER}خواهم", "می\N{ZERO WIDTH NON-JOINER}خواهم"),
        ("\N{IDEOGRAPHIC SPACE}", ""),
    ],
)
def test_normalize_text(text: str, expected: str) -> None:
    assert normalize_text(text) == expected
    assert normalize_text(expected) == expected


def test_truncated_zip(tmp_path: Path) -> None:
    path = write_lines(tmp_path, numbered_lines(1000))
    path.write_bytes(path.read_bytes()[:-100])

    assert_names_file_and_remedy(path, load_error(tmp_path))


def test_damaged_member(tmp_path: Path) -> None:
    path = write_lines(tmp_path, numbered_lines(1000))
    content = bytearray(path.read_bytes())
    content[500:520] = bytes(20)
    path.write_bytes(content)

    assert_names_file_and_remedy(path, load_error(tmp_path))


def test_web_page_in_place_of_the_zip(tmp_path: Path) -> None:
    path = write_lines(tmp_path, [])
    path.write_text("<html>Not Acceptable</html>")

    assert_names_file_and_remedy(path, load_error(tmp_path))


def test_missing_member(tmp_path: Path) -> None:
    path = write_lines(tmp_path, numbered_lines(3))
    path.rename(path.with_name("fra-eng.zip"))
    message = load_error(tmp_path, target_language="fr")

    assert_names_file_and_remedy(path.with_name("fra-eng.zip"), message)
    assert "fra.txt" in message


def test_invalid_utf8(tmp_path: Path) -> None:
    path = write_zip(tmp_path, "Hi.\tGrüß Gott!\n".encode("latin-1"))

    assert_names_file_and_remedy(path, load_error(tmp_path))


def test_too_many_malformed_lines(tmp_path: Path) -> None:
    path = write_lines(tmp_path, [*numbered_lines(98), "no tab", "no tab"])

    message = load_error(tmp_path)
    assert_names_file_and_remedy(path, message)
    assert "2 of the 100 lines" in message


def test_one_percent_of_malformed_lines_is_no_error(tmp_path: Path) -> None:
    write_lines(tmp_path, [*numbered_lines(99), "no tab"])

    assert load(tmp_path).removed["malformed line"] == 1


def test_member_over_the_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_zip(tmp_path, b"a\tb\n" * 100)
    monkeypatch.setattr(corpora, "_MAX_MEMBER_BYTES", 400)
    assert len(load(tmp_path).train) == 1

    monkeypatch.setattr(corpora, "_MAX_MEMBER_BYTES", 399)
    message = load_error(tmp_path)
    assert str(path) in message
    assert "400 bytes" in message


def load_error(directory: Path, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        load(directory, **options)
    return str(caught.value)


def assert_names_file_and_remedy(path: Path, message: str) -> None:
    assert str(path) in message
    assert "delete it and run again" in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("seed", range(5))
def test_splits_share_no_sentence(tmp_path: Path, seed: int) -> None:
    lines = random_lines(1201, seed)
    write_lines(tmp_path, lines)
    # The check itself sees a leak: a split by position has plenty.
    pairs: list[Pair] = [(a, b) for a, b in (line.split("\t") for line in lines)]
    assert shared_sentences(Corpus(pairs[:800], pairs[800:1000], pairs[1000:], {})) > 100

    for options in ({}, {"source_language": "de", "target_language": "en"}):
        corpus = load(tmp_path, seed=seed, validation_size=151, test_size=103, **options)

        assert shared_sentences(corpus) == 0
        assert corpus.removed["target leak (train)"] > 0
        assert corpus.removed["target leak (validation)"] > 0
        assert 103 <= len(corpus.test) < 103 + 20
        assert 0 < len(corpus.validation) < 151 + 20
        assert len(corpus.train) > 100
        assert len(all_pairs(corpus)) + sum(corpus.removed.values()) == len(lines)


def test_sentences_of_punctuation_are_told_apart(tmp_path: Path) -> None:
    write_lines(tmp_path, ["?\t?", "!\t!", "…\t…", "?!\t?!"])

    corpus = load(tmp_path, test_size=1, validation_size=1)

    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (2, 1, 1)


def test_sizes_and_order_without_shared_sentences(tmp_path: Path) -> None:
    write_lines(tmp_path, numbered_lines(997))

    corpus = load(tmp_path, validation_size=53, test_size=31)

    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (913, 53, 31)
    for split in (corpus.train, corpus.validation, corpus.test):
        numbers = [int(re.sub(r"\D", "", source)) for source, _ in split]
        assert numbers == sorted(numbers)
        assert max(numbers) - min(numbers) > 500  # drawn from the whole corpus


def test_seed_chooses_the_split(tmp_path: Path) -> None:
    write_lines(tmp_path, numbered_lines(997))
    options = {"validation_size": 53, "test_size": 31}

    assert load(tmp_path, seed=3, **options) == load(tmp_path, seed=3, **options)
    assert load(tmp_path, seed=3, **options).test != load(tmp_path, seed=4, **options).test


def test_growth_moves_only_the_boundaries(tmp_path: Path) -> None:
    options = {"validation_size": 101, "test_size": 103}
    write_lines(tmp_path, numbered_lines(2000))
    before = load(tmp_path, **options)
    lines = numbered_lines(2200)
    random.Random(0).shuffle(lines)
    write_lines(tmp_path, lines)
    after = load(tmp_path, **options)

    # Nobody joins a split that is further from train, so nothing learnt is tested later.
    assert not set(before.train) & set(after.validation + after.test)
    assert not set(before.validation) & set(after.test)
    assert len(set(before.test) & set(after.test)) > 80


def test_max_pairs_keeps_nested_subsets_of_train(tmp_path: Path) -> None:
    write_lines(tmp_path, numbered_lines(997))
    options = {"validation_size": 53, "test_size": 31}
    everything = load(tmp_path, **options)
    many = load(tmp_path, max_pairs=211, **options)
    few = load(tmp_path, max_pairs=101, **options)

    assert (len(many.train), len(few.train)) == (211, 101)
    assert set(few.train) < set(many.train) < set(everything.train)
    assert many.train == [pair for pair in everything.train if pair in set(many.train)]
    assert many.train != everything.train[:211]
    assert many.removed["max_pairs"] == 913 - 211
    assert (few.validation, few.test) == (everything.validation, everything.test)


def test_too_small_for_the_sizes(tmp_path: Path) -> None:
    write_lines(tmp_path, numbered_lines(99))

    with pytest.raises(DataError, match=r"too small: 99 pairs.* at least 100"):
        load(tmp_path, validation_size=20, test_size=30)
    assert len(load(tmp_path, validation_size=20, test_size=29).test) == 29


def test_too_few_different_sentences(tmp_path: Path) -> None:
    write_lines(tmp_path, [f"Hi.\tHallo {number}." for number in range(50)])

    with pytest.raises(DataError, match="too few different sentences: no train pairs"):
        load(tmp_path, validation_size=2, test_size=3)


@pytest.mark.parametrize(
    ("name", "hint"), [("tatoba", "Did you mean 'tatoeba'?"), ("Phrasebook", "'phrasebook'?")]
)
def test_unknown_name(name: str, hint: str) -> None:
    with pytest.raises(DataError, match=re.escape(hint)) as caught:
        load_corpus(name, source_language="en", target_language="de")

    assert "phrasebook, tatoeba" in str(caught.value)


@pytest.mark.parametrize(
    ("source_language", "target_language", "message"),
    [
        ("en", "xx", "Unknown language 'xx'"),
        ("../x", "en", "Unknown language '../x'"),
        ("en", "eng", "Exactly one"),
        ("fr", "de", "Exactly one"),
    ],
)
def test_wrong_languages(
    tmp_path: Path, source_language: str, target_language: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        load(tmp_path, source_language=source_language, target_language=target_language)


@pytest.mark.parametrize("options", [{"test_size": -1}, {"validation_size": -1}, {"max_pairs": 0}])
def test_wrong_sizes(tmp_path: Path, options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="Received: "):
        load(tmp_path, **options)


def fake_phrasebook(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Put ten phrases in the generator's place; the list returned receives the seeds asked for."""
    seeds: list[int] = []
    rows = [
        *[(f"Phrase {number}.", f"Ausdruck {number}.", "train") for number in range(5)],
        ("Good day.", "Guten Tag.", "train"),
        ("Hello.", "Guten Tag!", "test"),
        ("Phrase 20.", "Ausdruck 20.", "test"),
        ("Phrase 30.", "Ausdruck 30.", "validation"),
        ("Phrase 31.", "Ausdruck 31.", "validation"),
    ]

    def generate_phrasebook(num_pairs: int = 24_000, seed: int = 0) -> list[object]:
        seeds.append(seed)
        return [
            types.SimpleNamespace(source=source, target=target, split=split)
            for source, target, split in rows
        ]

    module = types.ModuleType("transformer_tf.text.phrasebook")
    module.generate_phrasebook = generate_phrasebook  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return seeds


def test_phrasebook_keeps_its_own_split(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = fake_phrasebook(monkeypatch)

    corpus = load_corpus("phrasebook", source_language="en", target_language="de", seed=7)
    reverse = load_corpus("phrasebook", source_language="de", target_language="en", seed=7)

    assert seeds == [7, 7]
    assert corpus.train == [(f"Phrase {n}.", f"Ausdruck {n}.") for n in range(5)]
    assert corpus.validation == [("Phrase 30.", "Ausdruck 30."), ("Phrase 31.", "Ausdruck 31.")]
    assert corpus.test == [("Hello.", "Guten Tag!"), ("Phrase 20.", "Ausdruck 20.")]
    assert corpus.removed["target leak (train)"] == 1
    assert reverse.removed["source leak (train)"] == 1
    assert [(b, a) for a, b in all_pairs(reverse)] == all_pairs(corpus)


def test_phrasebook_sizes_are_upper_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_phrasebook(monkeypatch)

    corpus = load_corpus(
        "phrasebook",
        source_language="en",
        target_language="de",
        validation_size=1,
        test_size=0,
        max_pairs=3,
    )

    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (3, 1, 0)
    assert len(all_pairs(corpus)) + sum(corpus.removed.values()) == 10


def test_phrasebook_knows_german_only(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_phrasebook(monkeypatch)

    with pytest.raises(DataError, match="English and German only"):
        load_corpus("phrasebook", source_language="en", target_language="fr")


def test_real_tatoeba() -> None:
    if not (REAL_DATA / "tatoeba" / "deu-eng.zip").is_file():
        pytest.skip("needs tatoeba/deu-eng.zip in ../shared/data beside the repository")

    corpus = load_corpus("tatoeba", source_language="en", target_language="de", directory=REAL_DATA)

    assert len(all_pairs(corpus)) > 150_000
    assert shared_sentences(corpus) == 0
    assert len(corpus.test) >= 2000
    assert len(corpus.validation) > 1500
    assert all(text == normalize_text(text) for pair in all_pairs(corpus) for text in pair)
