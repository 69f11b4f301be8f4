"""The formats of files with sentence pairs."""

import tracemalloc
from pathlib import Path

import pytest

from transformer_tf.errors import DataError
from transformer_tf.text.corpora.cleaning import PAIR_STEPS
from transformer_tf.text.corpora.pair_files import read_pairs

TMX = """<?xml version="1.0" encoding="{encoding}"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="EN-us"><seg>A &amp; <bpt i="1">&lt;b&gt;</bpt>b<ept i="1">x</ept>.</seg></tuv>
<tuv xml:lang="de"><prop>note</prop><seg>Grüß <hi>dich</hi>.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Alone.</seg></tuv><tuv xml:lang="fr"><seg>Seul.</seg></tuv></tu>
<tu><tuv lang="de"><seg>Lauf!</seg></tuv><tuv lang="en"><seg>Run!</seg></tuv></tu>
</body></tmx>
"""


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
    path.write_bytes(b"Hi;Hallo\nGreen,Gr\xfcn\n")
    assert "2 of the 2 lines are malformed: 1 not UTF-8" in error_of(path)
    path.write_text("a,b" + 200_000 * "x")
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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_tmx(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    path.write_bytes(TMX.format(encoding=encoding).encode(encoding))
    pairs = [("A & b.", "Grüß dich."), ("Alone.", ""), ("Run!", "Lauf!")]
    assert read(path) == pairs
    assert read(path, languages=("de", "en")) == [pair[::-1] for pair in pairs]


def test_tmx_whose_entities_expand_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    entities = '<!ENTITY a0 "aaaaaaaaaa">' + "".join(
        f'<!ENTITY a{number} "{10 * f"&a{number - 1};"}">' for number in range(1, 10)
    )
    text = TMX.format(encoding="utf-8").replace("Alone", "&a9;")
    path.write_text(text.replace('"tmx14.dtd">', f'"tmx14.dtd" [{entities}]>'))
    assert "is not valid TMX (limit on input amplification" in error_of(path)


def test_a_large_tmx_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    sides = (f'<tuv xml:lang="{code}"><seg>Hallo</seg></tuv>' for code in ("en", "de"))
    unit = f"<tu>{''.join(sides)}</tu>"
    path.write_text(f"<tmx><body>{20_000 * unit}</body></tmx>")
    tracemalloc.start()
    assert sum(1 for _ in read_pairs([path], ("en", "de"), {})) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def test_damaged_tmx(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    path.write_text(TMX.format(encoding="utf-8")[:-50])
    assert f"{path} is not valid TMX" in error_of(path)
