import gzip
import sys
from itertools import chain

import pytest

from tools import corpora
from tools.corpora import (
    CONVERSATION,
    LENGTHS,
    WRITTEN,
    KnownPairs,
    back_translations,
    draw_written,
    prepare,
    untranslated,
    with_marks,
)
from tools.corpora.__main__ import main
from tools.corpora.back_translations import is_sound, known_words
from transformer_tf.text.corpora.cleaning import fold

HELD_OUT = {"validation": [("Hello, Tom!", "Hallo, Tom!")], "test": [("Bye.", "Tschüss.")]}


def numbered(name, count, words):
    """Pairs of sentences that differ in every pair; names keep digits out of the words."""
    return [
        (f"{name} {'word ' * (words - 2)}{n}.", f"{name} {'Wort ' * (words - 2)}{n}.")
        for n in range(count)
    ]


@pytest.fixture
def data(tmp_path):
    """A small data directory, with a pair of XQuAD in two files and leaks of held-out pairs."""

    def write(path, pairs):
        path = tmp_path / path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
        path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())

    for number, path in enumerate(CONVERSATION["de"].values()):
        write(path, numbered(f"Talk {number}", 5, words=6))
    write("extra/en-de/tatoeba_more.tsv.gz", [("hello tom", "Hallo."), ("Ciao.", "tschüss!")])
    write("extra/en-de/questions.tsv.gz", [("Who won?", "Wer hat gewonnen?")])
    write("extra/en-de/wiktionary_words.tsv.gz", [("barn", "Scheune"), ("bye", "auf Wiedersehen")])
    for names in WRITTEN["de"].values():
        for name in names.split():
            pairs = chain(*(numbered(name, 20, words) for words in (5, 15, 25)))
            write(f"extra/real/en-de/{name}.tsv.gz", pairs)
    write("extra/real/en-de/xquad.tsv.gz", [("Who won?", "Wer hat gewonnen?")])
    for code in ("en", "de"):
        for name in ("tatoeba", "commonvoice"):
            path = tmp_path / f"extra/monolingual/{name}_{code}.txt.gz"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(gzip.compress(b"The barn.\n" * 3))
    return tmp_path


@pytest.fixture(autouse=True)
def few_sentences(monkeypatch):
    monkeypatch.setattr(corpora, "written_pairs", lambda name: numbered(name, 30, words=8))


def test_known_pairs_leave_out_held_out_sentences_and_doubles():
    known = KnownPairs()
    known.hold_out([("Hello, Tom!", "Hallo, Tom!")])
    pairs = [("hello tom", "Hi."), ("Hi, Tom.", "Hallo Tom"), ("Hi.", "Hallo."), ("Hi.", "Hallo.")]
    assert known.free(pairs) == known.new(pairs) == [("Hi.", "Hallo.")]
    assert known.new(pairs) == []


def test_written_pairs_are_drawn_by_length_and_by_the_root_of_the_size_of_a_file():
    sizes = {"manual": 900, "letters": 100}
    files = {
        name: [pair for words in (5, 15, 25) for pair in numbered(name, size, words)]
        for name, size in sizes.items()
    }
    drawn = draw_written(files, 120)
    assert len(set(drawn)) == 120
    for lengths in LENGTHS:
        starts = [source.split()[0] for source, _ in drawn if len(source.split()) in lengths]
        assert (starts.count("manual"), starts.count("letters")) == (30, 10)
    assert drawn == draw_written({name: files[name][::-1] for name in reversed(files)}, 120)


@pytest.mark.parametrize("swap", [False, True])
def test_no_training_pair_shares_a_sentence_with_a_held_out_pair(data, swap):
    files = prepare("de", data, HELD_OUT, swap, written_size=30, daily_size=7)
    sizes = {name: len(files[name]) for name in files if name.startswith(("validation", "test"))}
    assert sizes == {"validation": 1, "test": 1, "validation_written": 30, "validation_daily": 7}
    held_out = [files.pop(name) for name in sizes]
    for side in (0, 1):
        kept = {fold(pair[side]) for pairs in held_out for pair in pairs}
        assert not kept & {fold(pair[side]) for pairs in files.values() for pair in pairs}
    assert files["tatoeba_more"] == []
    files_with_double = [name for name in files if "Who won?" in chain(*files[name])]
    assert files_with_double == ["questions"]
    assert [pair[swap] for pair in files["wiktionary"]] == ["barn"]
    assert files["augmented"]


def test_the_command_writes_the_same_files_each_time(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TRANSFORMER_TF_DATA", str(data))
    outputs = []
    for folder in ("first", "second"):
        monkeypatch.setattr(sys, "argv", ["corpora", "en-de", str(tmp_path / folder)])
        main()
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    names = [line.split()[0] for line in outputs[0].splitlines()]
    assert names == [*dict.fromkeys(names)]
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == sorted(names)


def test_phrases_get_the_mark_that_people_type():
    phrases = [("Bye", "Adiós"), ("Stop", "¡Alto!"), ("Who", "Quién"), ("What a pity", "Qué pena")]
    phrases += [("Hi, how are you", "Hola, ¿qué tal?"), ("Help", "Ayuda"), ("Help!", "¡Socorro!")]
    assert with_marks(phrases, spanish=True) == [
        ("Bye.", "Adiós."), ("Bye!", "¡Adiós!"), ("Stop.", "¡Alto!"), ("Stop!", "¡Alto!"),
        ("Who?", "¿Quién?"), ("What a pity.", "Qué pena."), ("What a pity!", "¡Qué pena!"),
        ("Hi, how are you?", "Hola, ¿qué tal?"), ("Help.", "Ayuda."),
    ]  # fmt: skip
    assert with_marks([("Bye", "Tschüss")], spanish=False)[1] == ("Bye!", "Tschüss!")


def test_sentences_to_translate_back_are_in_no_pair(data):
    pairs_by_file = {"validation": [("x", "the BARN")], "tatoeba": [("y", "It burns.")]}
    assert untranslated(data, "de", {}) == ["The barn."]
    assert untranslated(data, "de", pairs_by_file) == []


@pytest.mark.parametrize(
    ("source", "sound"),
    [
        ("He has 2 red houses here.", True),
        ("He has 2 Häuser red here.", False),
        ("He has has 2 red houses here.", False),
        ("He has 3 red houses here.", False),
        ("He has 2.", False),
    ],
)
def test_back_translations_with_visible_mistakes_are_not_sound(source, sound):
    known = known_words(["He has two red houses here."])
    assert is_sound(source, "Er hat hier 2 rote Häuser.", known) == sound


def test_the_command_joins_sound_back_translations(tmp_path, monkeypatch):
    (tmp_path / "tatoeba.tsv").write_text("He sleeps.\tEr schläft.\n")
    (tmp_path / "untranslated.txt").write_text("Er schläft nicht.\nSie schläft.\n")
    (tmp_path / "translated.txt").write_text("He sleeps.\nShe schläft.\n")
    monkeypatch.setattr(sys, "argv", ["back_translations", str(tmp_path)])
    back_translations.main()
    assert (tmp_path / "back_translated.tsv").read_text() == "He sleeps.\tEr schläft nicht.\n"
