"""Corpora: reading, cleaning and, above all, splits that share no sentence."""

import gzip
import hashlib
import random
import re
import sys
import unicodedata
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from transformer_tf.config import DataConfig, MixConfig
from transformer_tf.errors import DataError
from transformer_tf.text import symbols
from transformer_tf.text.corpora import pair_files, phrasebook, sources
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.text.corpora.corpus import Corpus, load_corpus, load_held_out, tag_names
from transformer_tf.text.corpora.phrasebook import Phrase, load_phrasebook

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


def write_table(path: Path, lines: Iterable[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def load(directory: Path, seed: int = 0, **options: object) -> Corpus:
    """Loads the English-German corpus in `directory`, by default with nothing held out."""
    settings: dict[str, object] = {"corpus": "tatoeba", "held_out_size": 0}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANSFORMER_TF_DATA", str(directory))
        return load_corpus(DataConfig(**{**settings, **options}), seed)  # type: ignore[arg-type]


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
    """A slow, obvious version of `fold`."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in text if unicodedata.category(character)[0] in "LMNS")


def shared_sentences(*splits: Sequence[Pair]) -> int:
    """Counts the folded sentences that occur in more than one split, on either side."""
    shared = 0
    for side in (0, 1):
        train, validation, test = ({folded(pair[side]) for pair in split} for split in splits)
        shared += len(train & validation) + len(train & test) + len(validation & test)
    return shared


def splits_of(corpus: Corpus) -> tuple[list[Pair], list[Pair], list[Pair]]:
    return list(corpus.train), list(corpus.validation), list(corpus.test)


def all_pairs(corpus: Corpus) -> list[Pair]:
    return [*corpus.train, *corpus.validation, *corpus.test]


def test_reads_two_and_three_columns_in_either_direction(tmp_path: Path) -> None:
    write_lines(tmp_path, ["Hi.\tHallo!", "Run!\tLauf!\tCC-BY 2.0 (France) tatoeba.org #1 & #2"])

    assert list(load(tmp_path).train) == [("Hi.", "Hallo!"), ("Run!", "Lauf!")]
    german_first = load(tmp_path, source_language="de", target_language="en")
    assert list(german_first.train) == [("Hallo!", "Hi."), ("Lauf!", "Run!")]


def test_cleans_and_counts_in_order(tmp_path: Path) -> None:
    words = "wort " * 101
    lines = [
        "\N{ZERO WIDTH NO-BREAK SPACE}Hi.\tHallo!\r",  # byte order mark, CRLF
        f"Fire!\tFr{NFD_UMLAUT}h \N{NO-BREAK SPACE} auf\N{SOFT HYPHEN} !\r",
        "no tab at all",
        "one\ttwo\tthree\tfour",
        "",
        "Nul\0!\tNull",
        "Wrong\tWrong decoding \N{REPLACEMENT CHARACTER}",
        "Private\t\ue000",
        "Empty\t \N{ZERO WIDTH SPACE}",
        "\tLeer",
        "Nobody has translated this one\tnobody has translated this one!",
        "Rio de Janeiro\tRio de Janeiro",  # short enough to be a translation
        "Hm.\tHm, dann wird es wohl so sein, wenn alle es sagen und keiner widerspricht",
        "Hi there, Jim\tDas ist nun wirklich ein ganz ganz langer Satz für so wenig",
        f"{words}\t{words.replace('o', 'e')}",
        f"Long enough {words.removesuffix('wort wort wort ')}\t{words.removesuffix('wort ')}",
        "Hi.\tHallo!",
        "Fire!\tFrüh auf !",
        *numbered_lines(500),
    ]
    write_lines(tmp_path, lines)

    corpus = load(tmp_path)

    assert list(corpus.removed.items())[:8] == [
        ("wrong column count", 3),
        ("not UTF-8", 0),
        ("control characters", 3),
        ("empty side", 2),
        ("identical sides", 1),
        ("length ratio", 1),
        ("over-long", 1),
        ("exact duplicate", 2),
    ]
    assert list(corpus.train[:2]) == [("Hi.", "Hallo!"), ("Fire!", "Früh auf !")]
    assert [a[:11] for a, _ in corpus.train[2:5]] == ["Rio de Jane", "Hi there, J", "Long enough"]
    assert len(corpus.train) == 505
    assert sum(corpus.removed.values()) + 505 == len(lines)
    table = [re.split(r"  +", line)[:2] for line in corpus.table().splitlines()]
    assert table[0] == ["pairs read", str(len(lines))] and table[-3] == ["= train", "505"]


def test_dense_scripts_pass_the_length_ratio(tmp_path: Path) -> None:
    english = "I would like to book a room with two beds for the night, if there is one left."
    write_zip(
        tmp_path, f"{english}\t如果还有的话，我想订一间双人房过夜。\n".encode(), "cmn-eng.zip"
    )

    assert len(load(tmp_path, target_language="zh").train) == 1


def test_more_than_one_percent_of_malformed_lines(tmp_path: Path) -> None:
    write_lines(tmp_path, [*numbered_lines(99), "no tab"])
    assert load(tmp_path).removed["wrong column count"] == 1
    lines = "".join(f"{line}\n" for line in numbered_lines(98)).encode()
    path = write_zip(tmp_path, lines + b"no tab\n\xff\t\n")
    assert f"{path}/deu.txt: 2 of the 100 lines" in load_error(tmp_path)


def load_error(directory: Path, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        load(directory, **options)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize("seed", range(2))
def test_splits_share_no_sentence(tmp_path: Path, seed: int) -> None:
    lines = random_lines(1201, seed)
    write_lines(tmp_path, lines)
    # The check finds leaks: a split by position has many.
    pairs: list[Pair] = [(a, b) for a, b in (line.split("\t") for line in lines)]
    assert shared_sentences(pairs[:800], pairs[800:1000], pairs[1000:]) > 100

    for options in ({}, {"source_language": "de", "target_language": "en"}):
        corpus = load(tmp_path, seed=seed, held_out_size=61, **options)

        assert shared_sentences(*splits_of(corpus)) == 0
        assert corpus.removed["target leak (train)"] > 0
        assert corpus.removed["target leak (validation)"] > 0
        assert 61 <= len(corpus.test) < 61 + 20
        assert 0 < len(corpus.validation) < 61 + 20
        assert len(corpus.train) > 100
        assert len(all_pairs(corpus)) + sum(corpus.removed.values()) == len(lines)


def test_sentences_of_punctuation_stay_different(tmp_path: Path) -> None:
    write_lines(tmp_path, ["?\t?", "!\t!", "…\t…", "?!\t?!"])
    assert load(tmp_path, held_out_size=1).sizes["train"] == 2


def test_sizes_and_order_of_a_seeds_splits(tmp_path: Path) -> None:
    write_lines(tmp_path, numbered_lines(997))

    corpus, again, other = (load(tmp_path, seed=seed, held_out_size=43) for seed in (3, 3, 4))

    assert corpus.sizes == {"train": 911, "validation": 43, "test": 43}
    assert splits_of(again) == splits_of(corpus)
    assert other.test != corpus.test
    for split in (corpus.train, corpus.validation, corpus.test):
        numbers = [int(re.sub(r"\D", "", source)) for source, _ in split]
        assert numbers == sorted(numbers)
        assert max(numbers) - min(numbers) > 500  # drawn from the whole corpus


def test_growth_moves_only_the_boundaries(tmp_path: Path) -> None:
    options = {"held_out_size": 103}
    write_lines(tmp_path, numbered_lines(2000))
    before = load(tmp_path, **options)
    lines = numbered_lines(2200)
    random.Random(0).shuffle(lines)
    write_lines(tmp_path, lines)
    after = load(tmp_path, **options)

    # No pair moves from train to a held-out split, so no pair is first learned and later tested.
    assert not set(before.train) & set([*after.validation, *after.test])
    assert not set(before.validation) & set(after.test)
    assert len(set(before.test) & set(after.test)) > 80


def test_held_out_pairs_are_at_most_a_tenth(tmp_path: Path) -> None:
    write_lines(tmp_path, numbered_lines(400))
    table = (write_table(tmp_path / "test.tsv", ["New.\tNeu."]),)
    for options, sizes in (({}, (20, 20)), ({"test_files": table}, (40, 1))):
        corpus = load(tmp_path, held_out_size=500, **options)
        assert (len(corpus.validation), len(corpus.test)) == sizes
    write_lines(tmp_path, numbered_lines(3))
    with pytest.raises(DataError, match="too small: 3 pairs"):
        load(tmp_path, held_out_size=500)


def test_too_few_different_sentences(tmp_path: Path) -> None:
    write_lines(tmp_path, [f"Hi.\tHallo {number}." for number in range(50)])

    with pytest.raises(DataError, match="too few different sentences: no train pairs"):
        load(tmp_path, held_out_size=3)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"corpus": "tatoba"}, "Did you mean 'tatoeba'?"),
        ({"corpus": "Phrasebook"}, "Did you mean 'phrasebook'?"),
        ({"corpus": "phrasebook", "target_language": "fr"}, "not en and fr"),
        ({"target_language": "xx"}, "'xx'"),
        ({"source_language": "../x", "target_language": "en"}, "'../x'"),
        ({"target_language": "eng"}, "en and en"),
        ({"source_language": "fr", "target_language": "de"}, "fr and de"),
        ({"corpus": "files", "files": (("nowhere.tsv",),)}, "nowhere.tsv"),
    ],
)
def test_errors_name_the_corpus_or_the_languages(
    tmp_path: Path, options: dict[str, object], named: str
) -> None:
    assert named in load_error(tmp_path, **options)


def fake_phrasebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the phrasebook by ten phrases."""
    rows = [
        *[(f"Phrase {number}.", f"Ausdruck {number}.", "train") for number in range(5)],
        ("Good day.", "Guten Tag.", "train"),
        ("Hello.", "Guten Tag!", "test"),
        ("Phrase 20.", "Ausdruck 20.", "test"),
        ("Phrase 30.", "Ausdruck 30.", "validation"),
        ("Phrase 31.", "Ausdruck 31.", "validation"),
    ]

    phrases = [Phrase(*row, frozenset(), frozenset()) for row in rows]
    monkeypatch.setattr(phrasebook, "load_phrasebook", lambda: phrases)


def test_phrasebook_keeps_its_own_split(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_phrasebook(monkeypatch)

    corpus = load_corpus(DataConfig(), seed=7)
    reverse = load_corpus(DataConfig(source_language="de", target_language="en"), seed=7)

    assert list(corpus.train) == [(f"Phrase {n}.", f"Ausdruck {n}.") for n in range(5)]
    assert list(corpus.validation) == [
        ("Phrase 30.", "Ausdruck 30."),
        ("Phrase 31.", "Ausdruck 31."),
    ]
    assert list(corpus.test) == [("Hello.", "Guten Tag!"), ("Phrase 20.", "Ausdruck 20.")]
    assert corpus.removed["target leak (train)"] == 1
    assert reverse.removed["source leak (train)"] == 1
    assert [(b, a) for a, b in all_pairs(reverse)] == all_pairs(corpus)


def test_phrasebook_sizes_are_upper_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_phrasebook(monkeypatch)

    corpus = load_corpus(DataConfig(held_out_size=1))

    assert (len(corpus.validation), len(corpus.test)) == (1, 1)
    assert len(all_pairs(corpus)) + sum(corpus.removed.values()) == 10


def test_held_out_pairs_are_written_and_read(tmp_path: Path) -> None:
    write_lines(tmp_path, numbered_lines(300))
    corpus = load(tmp_path, held_out_size=20)

    corpus.save_held_out(tmp_path)

    assert load_held_out(tmp_path, "validation") == list(corpus.validation)
    assert load_held_out(tmp_path, "test") == list(corpus.test)
    (tmp_path / "test.tsv").write_text("no tab\n")
    with pytest.raises(DataError, match=r"test.tsv does not hold"):
        load_held_out(tmp_path, "test")
    (tmp_path / "test.tsv").unlink()
    with pytest.raises(DataError, match="has no test pairs"):
        load_held_out(tmp_path, "test")


def load_files(*files: Path | tuple[Path, Path], **options: object) -> Corpus:
    """Loads the user's files, by default with nothing held out."""
    entries = tuple(
        tuple(map(str, entry)) if isinstance(entry, tuple) else (str(entry),) for entry in files
    )
    settings: dict[str, object] = {"held_out_size": 0}
    return load_corpus(DataConfig(corpus="files", files=entries, **{**settings, **options}))  # type: ignore[arg-type]


def test_files_of_both_formats_are_combined(tmp_path: Path) -> None:
    table, source, target = (tmp_path / name for name in ("a.tsv", "b.en.gz", "b.de.gz"))
    table.write_bytes(b"Hi.\tHallo!\nRun!\tLauf!\tCC-BY\n")
    source.write_bytes(gzip.compress(b"One.\n\nThree.\n"))
    target.write_bytes(gzip.compress(b"Eins.\nZwei.\nDrei."))  # no line feed at the end

    corpus = load_files(table, (source, target), source_language="xx", target_language="yy")

    english, german = zip(*corpus.train, strict=True)
    assert english == ("Hi.", "Run!", "One.", "Three.")
    assert german == ("Hallo!", "Lauf!", "Eins.", "Drei.")
    assert corpus.removed["empty side"] == 1


def test_files_that_do_not_match_line_by_line(tmp_path: Path) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text("One.\nTwo.\nThree.\n")
    target.write_text("Eins.\nZwei.\n")

    for files in ((source, target), (target, source)):
        with pytest.raises(DataError, match=r"a.en .*a.de"):
            load_files(files)


def test_malformed_lines_of_two_files_leave_the_others_aligned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_bytes(b"One.\nTwo.\nThree.\nFour.\n")
    target.write_bytes(b"Eins.\n\xfc\nDr\0ei.\nVier.\n")

    monkeypatch.setattr(pair_files, "MAX_MALFORMED_SHARE", 0.25)
    corpus = load_files((source, target))

    assert list(corpus.train) == [("One.", "Eins."), ("Four.", "Vier.")]
    assert (corpus.removed["not UTF-8"], corpus.removed["control characters"]) == (1, 1)


def test_a_given_test_set_is_kept_whole(tmp_path: Path) -> None:
    """Repeated and over-long test pairs stay, because the user chose them."""
    test_lines = ["Hi.\tHallo!", "Hi.\tHallo!", f"Long\t{'wort ' * 150}", "Leak.\tLeck."]
    write_table(tmp_path / "test.tsv", test_lines)
    train_lines = [*numbered_lines(100), "LEAK!\tSickern.", "Oh.\t«Hallo»"]
    write_table(tmp_path / "train.tsv", train_lines)

    corpus = load_files(
        tmp_path / "train.tsv",
        test_files=((str(tmp_path / "test.tsv"),),),
        held_out_size=7,
    )

    assert [source for source, _ in corpus.test] == ["Hi.", "Hi.", "Long", "Leak."]
    assert (len(corpus.train), len(corpus.validation)) == (93, 7)
    assert corpus.removed["source leak (train)"] == 1
    assert corpus.removed["target leak (train)"] == 1


def write_multi30k(directory: Path, monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    """Replaces the real files by small ones, with their hashes."""
    (directory / "multi30k").mkdir(exist_ok=True)
    for stem, count, first in (("train", 40, 0), ("val", 5, 100), ("test_2016_flickr", 6, 200)):
        lines = [f"{language} caption {first + number}." for number in range(count)]
        content = gzip.compress("".join(f"{line}\n" for line in lines).encode())
        name = f"{stem}.{language}.gz"
        (directory / "multi30k" / name).write_bytes(content)
        known_hash = f"sha256:{hashlib.sha256(content).hexdigest()}"
        monkeypatch.setitem(sources.MULTI30K_HASHES, name, known_hash)


def test_multi30k_has_its_own_splits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for language in ("fr", "cs"):
        write_multi30k(tmp_path, monkeypatch, language)
    options = {"corpus": "multi30k", "held_out_size": 2000}

    corpus = load(tmp_path, source_language="fr", target_language="cs", **options)

    assert corpus.sizes == {"train": 40, "validation": 5, "test": 6}
    assert corpus.test[5] == ("fr caption 205.", "cs caption 205.")
    with pytest.raises(DataError, match="en, de, fr and cs, not 'es'"):
        load(tmp_path, source_language="en", target_language="es", **options)


def test_tfds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uses a mock instead of the dataset's files, without a network."""
    tfds = pytest.importorskip("tensorflow_datasets", reason="needs tensorflow-datasets")
    import tensorflow as tf

    def as_dataset(self, split, **_):
        if split == "test":
            raise ValueError("Unknown split")
        rows = range(60) if split == "train" else range(100, 104)
        return tf.data.Dataset.from_tensor_slices(
            {"pt": [f"olá {row} ção" for row in rows], "en": [f"hello {row}" for row in rows]}
        )

    monkeypatch.setenv("TRANSFORMER_TF_DATA", str(tmp_path))
    with tfds.testing.mock_data(as_dataset_fn=as_dataset):
        corpus = load_corpus(
            DataConfig(
                corpus="tfds:ted_hrlr_translate/pt_to_en",
                source_language="pt",
                target_language="en",
                held_out_size=10,
            )
        )
        with pytest.raises(DataError, match="has the languages en and pt, not 'de'"):
            load_corpus(DataConfig(corpus="tfds:ted_hrlr_translate/pt_to_en"))

    assert corpus.sizes == {"train": 54, "validation": 4, "test": 6}  # the test set is drawn
    assert corpus.validation[0] == ("olá 100 ção", "hello 100")


def test_missing_tensorflow_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorflow_datasets", reason="needs tensorflow-datasets")
    assert "no_such_thing" in load_error(tmp_path, corpus="tfds:no_such_thing")
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", None)
    with pytest.raises(DataError, match="pip install tensorflow-datasets"):
        load(tmp_path, corpus="tfds:ted_hrlr_translate/pt_to_en")


@pytest.mark.parametrize("split", ["validation", "test"])
def test_held_out_files_without_pairs_are_an_error(tmp_path: Path, split: str) -> None:
    write_table(tmp_path / "train.tsv", numbered_lines(100))
    options = {f"{split}_files": ((write_table(tmp_path / "held_out.tsv", []),),)}

    with pytest.raises(DataError, match=f"data.{split}_files"):
        load_files(tmp_path / "train.tsv", **{"held_out_size": 9} | options)


def test_validation_pairs_that_are_all_test_pairs(tmp_path: Path) -> None:
    write_table(tmp_path / "train.tsv", numbered_lines(100))
    both = ((write_table(tmp_path / "both.tsv", ["Hi.\tHallo!"]),),)

    with pytest.raises(DataError, match="Every validation pair of corpus"):
        load_files(
            tmp_path / "train.tsv",
            **{"held_out_size": 9, "validation_files": both, "test_files": both},
        )


def test_a_named_corpus_takes_held_out_pairs_from_files(tmp_path: Path) -> None:
    """As they are, and without pairs that share a sentence with them in the training pairs."""
    write_lines(tmp_path, numbered_lines(100))
    test = write_table(tmp_path / "test.tsv", ["Satz 3.\tSentence 3.", "Neu.\tNew."])
    validation = write_table(tmp_path / "validation.tsv", ["Satz 5.\tOther."])

    corpus = load(tmp_path, test_files=((test,),), validation_files=((validation,),), swap=True)

    assert list(corpus.test) == [("Sentence 3.", "Satz 3."), ("New.", "Neu.")]
    assert list(corpus.validation) == [("Other.", "Satz 5.")]
    numbers = [number for number in range(100) if number not in (3, 5)]
    assert list(corpus.train) == [(f"Sentence {n}.", f"Satz {n}.") for n in numbers]


@pytest.mark.parametrize("key", ["corpus", "test_files", "mix"])
def test_swapped_columns_are_refused(tmp_path: Path, key: str) -> None:
    phrases = [f"{phrase.source}\t{phrase.target}" for phrase in load_phrasebook()][::20]
    write_lines(tmp_path, phrases[:600])
    correct = (write_table(tmp_path / "correct.tsv", phrases[600:800]),)
    reverse = ["\t".join(reversed(line.split("\t"))) for line in phrases[800:]]
    swapped = (write_table(tmp_path / "swapped.tsv", reverse),)
    options: dict[str, object] = {"held_out_size": 30}
    options["mix"] = (MixConfig(files=correct),)
    name = "the test pairs"
    if key == "corpus":
        options |= {"corpus": "files", "files": (swapped,)}
        name = "swapped.tsv"
    elif key == "mix":
        options["mix"] = (MixConfig(files=correct), MixConfig(files=swapped))
        name = "swapped.tsv"
    else:
        options[key] = (swapped,)
    assert name in load_error(tmp_path, **options)
    if key == "mix":
        options["mix"] = (MixConfig(files=correct), MixConfig(files=swapped, swap=True))
        load(tmp_path, **options)


def test_mixed_pairs_share_no_sentence_with_held_out_pairs(tmp_path: Path) -> None:
    write_lines(tmp_path, numbered_lines(300))
    options = {"held_out_size": 20}
    alone = load(tmp_path, **options)
    held_out = [*alone.validation, *alone.test]
    extra = [
        *(f"Mixed {number}.\tGemischt {number}." for number in range(200)),
        *(f"{source.upper()}\tOther {source}" for source, _ in held_out),
        *(f"Other {target}\t{target}!" for _, target in held_out),
        "Sentence 0.\tSatz 0.",  # in the corpus, maybe held out
    ]
    entry = MixConfig(files=(write_table(tmp_path / "extra.tsv", extra),), weight=0.5, tag="bt")

    corpus = load(tmp_path, mix=(entry,), **options)

    assert splits_of(corpus)[1:] == splits_of(alone)[1:]
    added = list(corpus.train)[len(alone.train) :]
    assert added == [(f"{symbols.TAGS[0]} Mixed {n}.", f"Gemischt {n}.") for n in range(200)]
    assert list(corpus.train)[: len(alone.train)] == list(alone.train)
    assert corpus.weights.tolist() == [1.0] * len(alone.train) + [0.5] * 200
    assert [(each.name, each.pairs, each.weight, each.tag) for each in corpus.sources] == [
        ("tatoeba", len(alone.train), 1.0, ""),
        ("extra.tsv", 200, 0.5, "bt"),
    ]
    assert corpus.summary()["sources"][1]["pairs"] == 200
    assert corpus.table().splitlines()[-1] == "  extra.tsv  200 × 0.5 <bt>"
    assert sum(corpus.removed.values()) + len(all_pairs(corpus)) == 300 + len(extra)


def test_tags_are_numbered_in_the_order_of_their_first_use(tmp_path: Path) -> None:
    write_lines(tmp_path, ["Hi.\tHallo!"])
    mix = tuple(
        MixConfig(files=(write_table(tmp_path / f"{n}.tsv", [f"Mixed {n}.\tMix {n}."]),), tag=tag)
        for n, tag in enumerate(["bt", "words", "", "bt"])
    )

    corpus = load(tmp_path, mix=mix)

    first, second = symbols.TAGS[:2]
    assert tag_names(DataConfig(mix=mix)) == ("bt", "words")
    assert [source for source, _ in corpus.train] == [
        "Hi.",
        f"{first} Mixed 0.",
        f"{second} Mixed 1.",
        "Mixed 2.",
        f"{first} Mixed 3.",
    ]


def test_no_held_out_pairs_are_drawn_from_a_mix(tmp_path: Path) -> None:
    write_lines(tmp_path, numbered_lines(10))
    lines = [f"Mixed {number}.\tGemischt {number}." for number in range(500)]
    mix = (MixConfig(files=(write_table(tmp_path / "a.tsv", lines),)),)

    corpus = load(tmp_path, mix=mix, held_out_size=20)

    assert all(source.startswith("Sentence") for source, _ in [*corpus.validation, *corpus.test])
    assert corpus.sizes == {"train": 508, "validation": 1, "test": 1}


def test_files_with_the_target_first(tmp_path: Path) -> None:
    german_first = write_table(tmp_path / "a.tsv", ["Hallo!\tHi."])
    english_first = write_table(tmp_path / "b.tsv", ["Run!\tLauf!"])
    mix = (MixConfig(files=(english_first,)), MixConfig(files=(german_first,), swap=True))

    corpus = load_files(Path(german_first), swap=True, mix=mix)

    assert list(corpus.train) == [("Hi.", "Hallo!"), ("Run!", "Lauf!")]
    assert corpus.removed["exact duplicate"] == 1
