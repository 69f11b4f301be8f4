import io
import os
from pathlib import Path

import pytest

from transformer_tf.errors import DataError
from transformer_tf.utils.lines import (
    LineWriter,
    blocks,
    iterate_lines,
    read_lines,
    split_lines,
    write_lines,
)


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


def test_missing_files(tmp_path):
    with pytest.raises(DataError, match="Cannot read .*nowhere: No such file"):
        read_lines(tmp_path / "nowhere")
    with pytest.raises(DataError, match="Cannot write .*x/y: No such file"):
        write_lines(tmp_path / "x" / "y", ["a"])


def test_a_failed_write_leaves_no_file(tmp_path):
    def lines():
        yield "first"
        raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="No space left"):
        write_lines(tmp_path / "out", lines())
    assert os.listdir(tmp_path) == []
    write_lines(tmp_path / "out", ["ä", ""])
    assert (tmp_path / "out").read_bytes() == "ä\n\n".encode()
    assert read_lines(tmp_path / "out") == ["ä", ""]


def test_lines_of_a_stream_are_read_lazily():
    stream = io.BytesIO(b"\xef\xbb\xbfeins\r\nzwei\n\xfc\n")
    lines = iterate_lines(stream, "somewhere")
    assert next(lines) == "eins"
    assert next(lines) == "zwei"
    with pytest.raises(DataError, match=r"somewhere: line 3 .*0xfc.*iconv"):
        next(lines)


def test_a_block_ends_when_no_line_comes_and_before_an_error():
    """The program at the other end of a pipe waits for its answer."""
    reader, writer = os.pipe()
    with open(reader, "rb") as received, open(writer, "wb", buffering=0) as sent:
        found = blocks(iterate_lines(received, "pipe"), 3)
        sent.write(b"one\n")
        assert next(found) == ["one"]
        sent.write(b"1\n2\n3\n4\n")
        assert [next(found), next(found)] == [["1", "2", "3"], ["4"]]
        sent.write(b"good\n\xfc\nlost\n")
        assert next(found) == ["good"]
        with pytest.raises(DataError, match="line 7"):
            next(found)
    assert list(blocks(["one", "two"], 2)) == [["one", "two"]]


def test_a_block_is_about_a_second_of_work(monkeypatch):
    clock = 0.0
    monkeypatch.setattr("time.monotonic", lambda: clock)
    sizes = []
    for block in blocks(map(str, range(2000)), 512):
        sizes.append(len(block))
        clock += len(block) / (1000 if sum(sizes) < 1000 else 60)  # lines in a second
    assert sizes[:6] == [16, 32, 64, 128, 256, 512]
    assert sizes[6:8] == [512 // 2, 512 // 4]
    assert max(sizes[8:]) <= 64
    assert sum(sizes) == 2000


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_long_line_is_refused(end):
    content = b"\xef\xbb\xbf" + f"{'😀' * 7}{end}".encode()
    assert list(iterate_lines(io.BytesIO(content), "x", 7)) == ["😀" * 7]
    with pytest.raises(DataError, match="x: line 1 has more than 6 characters"):
        list(iterate_lines(io.BytesIO(content), "x", 6))


def test_a_writer_replaces_a_file(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"an older line, longer than the others\n")
    with LineWriter(path) as writer:
        writer.write(["über", ""])
        writer.flush()
        assert path.read_text(encoding="utf-8") == "über\n\n"
        writer.write(["zwei"])
    assert path.read_bytes() == "über\n\nzwei\n".encode()


def test_a_writer_goes_on_after_the_lines_of_a_file(tmp_path, monkeypatch):
    (tmp_path / "out").write_text("a\nb\n")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with LineWriter(tmp_path / "out", total=3, done=2) as writer:
        assert (writer._bar.n, writer._bar.total) == (2, 3)
        writer.write(["c"])
        assert writer._bar.n == 3
    assert (tmp_path / "out").read_text() == "a\nb\nc\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_reported_in_one_line():
    with (
        pytest.raises(DataError, match="Cannot write /dev/full: No space left on device"),
        LineWriter(Path("/dev/full")) as writer,
    ):
        writer.write(["x"] * 10)
        writer.flush()
