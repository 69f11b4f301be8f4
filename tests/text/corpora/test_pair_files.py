"""The formats of files with sentence pairs."""

from pathlib import Path

import pytest

from transformer_tf.errors import DataError
from transformer_tf.text.corpora.cleaning import PAIR_STEPS
from transformer_tf.text.corpora.pair_files import read_pairs


def read(*paths: Path, languages: tuple[str, str] = ("en", "de")) -> list[tuple[str, str]]:
    return list(read_pairs(paths, languages, dict.fromkeys(PAIR_STEPS, 0)))


def error_of(*paths: Path) -> str:
    with pytest.raises(DataError) as caught:
        read(*paths)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_csv_with_quotes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('\ufeff"Hi, Tom.","He, ""Tom"".",id\r\nRun!,"Lauf\nweg!"\r\n'.encode())
    assert read(path) == [("Hi, Tom.", 'He, "Tom".'), ("Run!", "Lauf\nweg!")]


def test_malformed_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"Hi;Hallo\nGreen;Gr\xfcn\n")
    assert "1 of the 2 lines are malformed: 1 not UTF-8" in error_of(path)
    path.write_text('a,"b\n')
    assert f"{path} is not valid CSV" in error_of(path)


@pytest.mark.parametrize("header", ["source\ttarget", "EN\tde\tattribution", "eng\tdeu"])
def test_a_header_line_is_skipped(header: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(f"{header}\nHi.\tHallo!\nSource\tTarget\n")
    assert read(path) == [("Hi.", "Hallo!"), ("Source", "Target")]


def test_a_first_line_that_is_not_a_header(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("Source\tQuelle\n")
    assert read(path) == [("Source", "Quelle")]
