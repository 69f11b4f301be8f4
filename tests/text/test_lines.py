import os

import pytest

from transformer_tf.errors import DataError
from transformer_tf.text.lines import read_lines, split_lines, write_lines


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("ü\u2028x\x0by\n".encode(), ["ü\u2028x\x0by"]),
    ],
)
def test_lines(content, lines):
    assert split_lines(content, "x") == lines


def test_latin_1_is_named_with_its_line(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"fine\nsch\xf6n\n")
    with pytest.raises(DataError, match=r"latin.txt: line 2 is not UTF-8 \(byte 0xf6\).*iconv"):
        read_lines(path)


def test_missing_files(tmp_path):
    with pytest.raises(DataError, match="Cannot read .*nowhere: No such file"):
        read_lines(tmp_path / "nowhere")
    with pytest.raises(DataError, match="Cannot write .*x/y: No such file"):
        write_lines(tmp_path / "x" / "y", ["a"])


def test_a_file_is_whole_or_not_there(tmp_path):
    def lines():
        yield "first"
        raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="No space left"):
        write_lines(tmp_path / "out", lines())
    assert os.listdir(tmp_path) == []
    write_lines(tmp_path / "out", ["ä", ""])
    assert (tmp_path / "out").read_bytes() == "ä\n\n".encode()
    assert read_lines(tmp_path / "out") == ["ä", ""]
