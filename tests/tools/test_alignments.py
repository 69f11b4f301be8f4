"""Word alignments of prepared files, with a stand-in for eflomal."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.corpora import alignments
from tools.corpora.alignments import simplified, symmetrize


def test_words_without_signs_and_values():
    assert simplified("The room – it's $45.90, Tom!") == "the room – its 0000 tom"
    assert simplified("Das „Zimmer“ kostet 45,90.") == "das zimmer kostet 0000"


def test_grow_diag_final_and_by_hand():
    both = {(0, 0), (1, 1)}
    # (2, 1) is beside (1, 1), then (3, 1) beside (2, 1); both link a source word without links.
    grown = {(2, 1), (3, 1)}
    # Neither word of (6, 4) has a link at the end; source word 6 of (6, 5) has one by then.
    final = {(6, 4)}
    # Far from any link, with a word that has one; and between two words that have one.
    dropped = {(6, 5), (0, 3), (1, 0)}
    forward = both | {(2, 1), (6, 4), (1, 0), (0, 3)}
    reverse = both | {(3, 1), (6, 5)}
    assert symmetrize(forward, reverse) == both | grown | final
    assert dropped <= forward | reverse
    assert symmetrize(both, both) == both
    assert symmetrize(set(), {(2, 0)}) == {(2, 0)}


def test_each_training_file_gets_a_file_of_links(tmp_path, monkeypatch):
    files = {
        "a.tsv": ["Hi.\tHallo!", "Go on!\tMach nur weiter!"],
        "b.tsv": ["Good night.\tGute Nacht."],
        "test.tsv": ["No.\tNein."],
        "validation_daily.tsv": ["Yes.\tJa."],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))

    def eflomal(command, check):
        assert command[0] == "eflomal-align" and check
        paths = {command[n]: Path(command[n + 1]) for n in (1, 3, 5, 7)}
        assert paths["-s"].read_text() == "hi\ngo on\ngood night\n"
        assert paths["-t"].read_text() == "hallo\nmach nur weiter\ngute nacht\n"
        paths["-f"].write_text("0-0\n0-0 1-2 0-1\n1-1 0-0\n")
        paths["-r"].write_text("0-0\n1-2 0-0\n\n")

    monkeypatch.setattr(subprocess, "run", eflomal)
    monkeypatch.setattr(sys, "argv", ["alignments", str(tmp_path)])
    alignments.main()
    assert (tmp_path / "a.align").read_text() == "0-0\n0-0 0-1 1-2\n"
    assert (tmp_path / "b.align").read_text() == "0-0 1-1\n"
    assert len(list(tmp_path.glob("*.align"))) == 2


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["alignments", str(tmp_path)])
    with pytest.raises(FileNotFoundError, match=f"{tmp_path} has no files of training pairs"):
        alignments.main()
    (tmp_path / "a.tsv").write_text("Hi.\tHallo!\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="eflomal is not installed; install it with"):
        alignments.main()
