"""Downloads, against a server on this machine: what arrives, and what never stays behind."""

import contextlib
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch  # type: ignore[import-untyped, unused-ignore]
import pytest
from requests import Response

from transformer_tf.errors import DataError, TransformerTFError
from transformer_tf.text import download
from transformer_tf.text.download import default_data_directory, fetch

CONTENT = bytes(range(256)) * 1031
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()
OTHER_SHA256 = hashlib.sha256(b"another file").hexdigest()
HALF = len(CONTENT) // 2
DATE = "Tue, 01 Feb 2022 03:04:05 GMT"


class Server(ThreadingHTTPServer):
    """Serves one file at any path, in the way its attributes say, and notes what it is asked.

    Attributes:
        content: The file.
        headers: Sent with the file, such as `{"ETag": '"1"'}`.
        status: For each coming request a status to answer with instead of the file.
        lengths: For each coming request how many bytes to send before the connection breaks.
        ranges: How a request for a part is met: "honoured" as HTTP has it, "ignored",
            "unconditional" (If-Range is ignored), "anonymous" (the same, without a validator),
            "piecewise" (half of the rest), "refused" with 416 or "shifted" by a byte.
        hold: Until it is set, no answer is finished.
    """

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.headers: dict[str, str] = {}
        self.status: list[int] = []
        self.lengths: list[int] = []
        self.ranges = "honoured"
        self.hold = threading.Event()
        self.hold.set()
        self.requests: Counter[str] = Counter()
        self.received: list[Message] = []
        self.sent = 0

    def url(self, path: str = "/good") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def asked_ranges(self) -> list[str | None]:
        return [headers["Range"] for headers in self.received]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        server.requests[self.path] += 1
        server.received.append(self.headers)
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/good")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif server.status:
            self.send_error(server.status.pop(0))
        else:
            self.send_file(*self.part())

    def part(self) -> tuple[int, int]:
        """The status, and which byte to begin with."""
        asked = self.headers["Range"]
        mode = self.server.ranges
        if asked is None or mode == "ignored":
            return 200, 0
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if mode == "refused":
            return 416, start
        validators = (self.server.headers.get(name) for name in ("ETag", "Last-Modified"))
        if mode in ("honoured", "piecewise") and self.headers["If-Range"] not in validators:
            return 200, 0
        return 206, start + (mode == "shifted")

    def send_file(self, status: int, start: int) -> None:
        server = self.server
        if status == 416:
            self.send_error(416)
            return
        size = len(server.content)
        end = size
        if status == 206 and server.ranges == "piecewise":
            end = (start + size) // 2
            server.ranges = "honoured"
        body = server.content[start:end]
        self.send_response(status)
        anonymous = status == 206 and server.ranges == "anonymous"
        for name, value in server.headers.items():
            if not anonymous:
                self.send_header(name, value)
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if server.lengths:
            body = body[: server.lengths.pop(0)]
        middle = len(body) // 2
        self.wfile.write(body[:middle])
        server.hold.wait(20)
        self.wfile.write(body[middle:])
        server.sent += len(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(download, "_RETRY_DELAYS", (0.0, 0.0))
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.hold.set()
        running.shutdown()
        thread.join()


def files_under(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file()]


def test_fetch_downloads_once(server: Server, tmp_path: Path) -> None:
    path = fetch("corpus/file.bin", server.url("/good"), tmp_path, known_hash=SHA256.upper())

    assert path == tmp_path / "corpus" / "file.bin"
    assert path.read_bytes() == CONTENT
    assert files_under(tmp_path) == [path]
    assert fetch("corpus/file.bin", server.url("/good"), tmp_path, known_hash=SHA256) == path
    assert server.requests == {"/good": 1}


def test_fetch_names_itself(server: Server, tmp_path: Path) -> None:
    fetch("file.bin", server.url("/good"), tmp_path)

    assert server.received[0]["User-Agent"].startswith("transformer_tf/")
    assert server.received[0]["User-Agent"].endswith(" (+python-requests)")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_bar_is_for_terminals(
    server: Server,
    tmp_path: Path,
    is_terminal: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    fetch("file.bin", server.url("/good"), tmp_path)

    printed = capsys.readouterr()
    assert ("100%" in printed.err) == is_terminal
    assert printed.out == ""


def test_fetch_takes_a_file_put_there_by_hand(tmp_path: Path) -> None:
    (tmp_path / "file.bin").write_bytes(CONTENT)

    assert fetch("file.bin", "http://127.0.0.1:9/none", tmp_path, SHA256).read_bytes() == CONTENT


def test_fetch_leaves_a_wrong_file_alone_and_names_both_hashes(
    server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(CONTENT)

    with pytest.raises(DataError) as caught:
        fetch("file.bin", server.url("/good"), tmp_path, OTHER_SHA256)

    for part in (str(path), SHA256, OTHER_SHA256):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == CONTENT
    assert not server.requests


def test_wrong_hash_leaves_nothing_behind(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        fetch("corpus/file.bin", server.url("/good"), tmp_path, OTHER_SHA256)

    for part in (SHA256, OTHER_SHA256, str(tmp_path / "corpus" / "file.bin")):
        assert part in str(caught.value)
    assert files_under(tmp_path) == []
    assert server.requests["/good"] == 1  # the same bytes would come again


def test_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.status = [503]

    assert fetch("file.bin", server.url(), tmp_path).read_bytes() == CONTENT
    assert server.requests["/good"] == 2


@pytest.mark.parametrize("status", [204, 206, 404, 416])
def test_an_answer_without_the_file_is_not_asked_for_again(
    status: int, server: Server, tmp_path: Path
) -> None:
    server.status = [status]
    with pytest.raises(DataError, match=f"HTTP {status}"):
        fetch("file.bin", server.url(), tmp_path)

    assert server.requests["/good"] == 1
    assert files_under(tmp_path) == []


def test_no_connection_gives_one_line_with_file_address_and_place(
    server: Server, tmp_path: Path
) -> None:
    url = server.url("/good")
    server.shutdown()
    server.server_close()

    with pytest.raises(TransformerTFError) as caught:
        fetch("corpus/file.bin", url, tmp_path)

    message = str(caught.value)
    assert isinstance(caught.value, DataError)
    assert "no connection" in message
    for part in ("corpus/file.bin", url, str(tmp_path / "corpus" / "file.bin")):
        assert part in message
    assert len(message.splitlines()) == 1
    assert files_under(tmp_path) == []


def test_folder_that_cannot_be_made(server: Server, tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("a file where the folder should be")

    with pytest.raises(DataError, match="Could not store corpus/file.bin"):
        fetch("corpus/file.bin", server.url("/good"), tmp_path)


def test_present_file_in_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "file.bin").write_bytes(CONTENT)
    folder.chmod(0o555)
    os.utime(folder, (1, 1))  # root may write in spite of the mode, but not without a trace

    assert fetch("file.bin", "http://127.0.0.1:9/none", folder, SHA256).read_bytes() == CONTENT
    assert folder.stat().st_mtime == 1


@pytest.mark.parametrize("written", [SHA256, f"sha256:{SHA256}", f"md5:{MD5.upper()}"])
def test_known_hash(written: str, server: Server, tmp_path: Path) -> None:
    for _ in range(2):  # downloaded, then present
        assert fetch("file.bin", server.url(), tmp_path, written).read_bytes() == CONTENT
    server.content = CONTENT[:-1] + b"!"
    with pytest.raises(DataError, match=r"but its (md5|sha256) is [0-9a-f]+, expected"):
        fetch("other.bin", server.url(), tmp_path, written)
    assert files_under(tmp_path) == [tmp_path / "file.bin"]


def test_known_hash_of_an_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Received: known_hash='crc:1'"):
        fetch("file.bin", "http://127.0.0.1:9/none", tmp_path, "crc:1")


def start_of(asked: str | None) -> int:
    assert asked is not None
    return int(asked.removeprefix("bytes=").removesuffix("-"))


def break_off(server: Server, directory: Path, match: str = "the connection broke off") -> None:
    """Fetch file.bin in vain: half of it comes, and nothing more at the other attempts."""
    server.lengths = [HALF, 0, 0]
    with pytest.raises(DataError, match=match) as caught:
        fetch("file.bin", server.url(), directory, SHA256)
    assert len(str(caught.value).splitlines()) == 1
    assert not server.lengths
    server.received.clear()
    server.sent = 0


@pytest.mark.parametrize(
    ("headers", "validator"),
    [
        ({"ETag": '"1"', "Last-Modified": DATE}, '"1"'),
        ({"ETag": 'W/"1"', "Last-Modified": DATE}, DATE),
        ({"Last-Modified": DATE}, DATE),
    ],
)
def test_broken_download_goes_on_in_the_same_call(
    headers: dict[str, str], validator: str, server: Server, tmp_path: Path
) -> None:
    server.headers = headers
    server.lengths = [HALF]
    path = fetch("file.bin", server.url(), tmp_path, SHA256)

    assert path.read_bytes() == CONTENT
    assert files_under(tmp_path) == [path]
    first, second = server.received
    assert first["Range"] is None and first["If-Range"] is None
    assert second["If-Range"] == validator
    start = start_of(second["Range"])
    assert 0 < start <= HALF
    assert server.sent == HALF + len(CONTENT) - start


def test_broken_download_goes_on_in_the_next_call(server: Server, tmp_path: Path) -> None:
    server.headers = {"ETag": '"1"'}
    break_off(server, tmp_path, match="Run again to go on after the [0-9]+ bytes")
    assert not (tmp_path / "file.bin").exists()
    path = fetch("file.bin", server.url(), tmp_path, SHA256)

    assert path.read_bytes() == CONTENT
    assert files_under(tmp_path) == [path]
    (asked,) = server.asked_ranges()
    assert server.sent == len(CONTENT) - start_of(asked) < len(CONTENT)


def test_redirected_download_goes_on(server: Server, tmp_path: Path) -> None:
    server.headers = {"ETag": '"1"'}
    server.lengths = [HALF]

    assert fetch("file.bin", server.url("/moved"), tmp_path, SHA256).read_bytes() == CONTENT
    assert server.requests == {"/moved": 2, "/good": 2}
    assert server.sent < HALF + len(CONTENT)


def test_part_that_is_shorter_than_asked_for_is_not_taken_for_the_rest(
    server: Server, tmp_path: Path
) -> None:
    server.headers = {"ETag": '"1"'}
    server.lengths = [HALF]
    server.ranges = "piecewise"

    assert fetch("file.bin", server.url(), tmp_path).read_bytes() == CONTENT
    assert len(server.received) == 3


@pytest.mark.parametrize(
    "headers", [{}, {"ETag": 'W/"1"'}, {"ETag": '"1"', "Accept-Ranges": "none"}]
)
def test_without_a_validator_nothing_is_kept(
    headers: dict[str, str], server: Server, tmp_path: Path
) -> None:
    server.headers = headers
    server.lengths = [HALF, HALF, HALF]
    with pytest.raises(DataError, match="the connection broke off") as caught:
        fetch("file.bin", server.url(), tmp_path)

    assert "Run again" not in str(caught.value)
    assert files_under(tmp_path) == []
    assert server.asked_ranges() == [None, None, None]
    assert fetch("file.bin", server.url(), tmp_path, SHA256).read_bytes() == CONTENT


def test_changed_file_comes_whole(server: Server, tmp_path: Path) -> None:
    server.headers = {"ETag": '"1"'}
    break_off(server, tmp_path)
    server.headers = {"ETag": '"2"'}
    server.content = CONTENT[::-1]
    path = fetch("file.bin", server.url(), tmp_path)

    assert path.read_bytes() == CONTENT[::-1]
    assert files_under(tmp_path) == [path]
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("ranges", "requests"),
    [("ignored", 1), ("refused", 2), ("shifted", 2), ("unconditional", 2), ("anonymous", 2)],
)
def test_server_that_does_not_send_the_rest(
    ranges: str, requests: int, server: Server, tmp_path: Path
) -> None:
    server.headers = {"ETag": '"1"'}
    break_off(server, tmp_path)
    server.ranges = ranges
    if ranges == "unconditional":  # the rest of another file
        server.headers = {"ETag": '"2"'}
        server.content = CONTENT[::-1]
    if ranges == "anonymous":  # a file of another size
        server.content = CONTENT[::-1] + b"!"
    path = fetch("file.bin", server.url(), tmp_path)

    assert path.read_bytes() == server.content
    assert files_under(tmp_path) == [path]
    assert [asked is not None for asked in server.asked_ranges()] == [True, False][:requests]


def test_bytes_from_another_address_are_not_gone_on_with(server: Server, tmp_path: Path) -> None:
    server.headers = {"ETag": '"1"'}
    break_off(server, tmp_path)

    assert fetch("file.bin", server.url("/other"), tmp_path, SHA256).read_bytes() == CONTENT
    assert server.asked_ranges() == [None]


def test_damaged_note_of_the_origin(server: Server, tmp_path: Path) -> None:
    server.headers = {"ETag": '"1"'}
    break_off(server, tmp_path)
    (tmp_path / ".file.bin.part.json").write_text('{"url": "http')

    assert fetch("file.bin", server.url(), tmp_path, SHA256).read_bytes() == CONTENT
    assert server.asked_ranges() == [None]


def test_wrong_hash_after_going_on_leaves_nothing_behind(server: Server, tmp_path: Path) -> None:
    server.headers = {"ETag": '"1"'}
    break_off(server, tmp_path)
    with pytest.raises(DataError, match="the download was discarded"):
        fetch("file.bin", server.url(), tmp_path, OTHER_SHA256)

    assert files_under(tmp_path) == []


@pytest.mark.parametrize("headers", [{"ETag": '"1"'}, {}])
def test_interrupt_keeps_what_can_be_gone_on_with(
    headers: dict[str, str], server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_chunk_then_interrupt(self: Response, chunk_size: int) -> Iterator[bytes]:
        with contextlib.closing(self):
            yield self.raw.read(chunk_size)
            raise KeyboardInterrupt

    server.headers = headers
    with monkeypatch.context() as patch:
        patch.setattr(Response, "iter_content", one_chunk_then_interrupt)
        with pytest.raises(KeyboardInterrupt):
            fetch("file.bin", server.url(), tmp_path)
    names = {path.name for path in files_under(tmp_path)}
    assert names == ({".file.bin.part", ".file.bin.part.json"} if headers else set())

    path = fetch("file.bin", server.url(), tmp_path, SHA256)
    assert path.read_bytes() == CONTENT
    assert files_under(tmp_path) == [path]
    assert server.asked_ranges() == [None, "bytes=65536-" if headers else None]


def test_interrupt_after_the_last_byte(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    server.headers = {"ETag": '"1"'}
    with monkeypatch.context() as patch:
        patch.setattr(pooch, "file_hash", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fetch("file.bin", server.url(), tmp_path, SHA256)

    assert fetch("file.bin", server.url(), tmp_path, SHA256).read_bytes() == CONTENT
    assert server.requests["/good"] == 1


def fetch_in_another_process(server: Server, directory: Path) -> subprocess.Popen[bytes]:
    program = (
        "import pathlib, sys\n"
        "from transformer_tf.text.download import fetch\n"
        "print('ready', flush=True)\n"
        "fetch('file.bin', sys.argv[1], pathlib.Path(sys.argv[2]))\n"
    )
    command = [sys.executable, "-c", program, server.url(), str(directory)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_killed_process_is_gone_on_from(server: Server, tmp_path: Path) -> None:
    server.headers = {"ETag": '"1"'}
    server.hold.clear()
    partial = tmp_path / ".file.bin.part"
    with fetch_in_another_process(server, tmp_path) as process:
        wait_until(lambda: partial.exists() and partial.stat().st_size > 0)
        process.kill()
    server.hold.set()
    size = partial.stat().st_size
    path = fetch("file.bin", server.url(), tmp_path, SHA256)

    assert path.read_bytes() == CONTENT
    assert files_under(tmp_path) == [path]
    assert server.asked_ranges() == [None, f"bytes={size}-"]


def test_second_process_waits_for_the_first(server: Server, tmp_path: Path) -> None:
    server.hold.clear()
    with fetch_in_another_process(server, tmp_path) as first:
        wait_until(lambda: server.requests["/good"] == 1)
        with fetch_in_another_process(server, tmp_path) as second:
            time.sleep(0.3)  # long enough for a request
            assert second.poll() is None
            server.hold.set()
            assert second.wait(20) == first.wait(20) == 0

    assert server.requests["/good"] == 1
    assert files_under(tmp_path) == [tmp_path / "file.bin"]
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_second_thread_tries_where_the_first_failed(server: Server, tmp_path: Path) -> None:
    server.status = [404]
    outcomes: list[str] = []

    def run() -> None:
        try:
            outcomes.append(fetch("file.bin", server.url(), tmp_path).name)
        except DataError:
            outcomes.append("failed")

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["failed", "file.bin"]
    assert files_under(tmp_path) == [tmp_path / "file.bin"]


@pytest.mark.parametrize("relative_path", ["/etc/file", "../file", "corpus/../../file", ""])
def test_path_outside_the_data_folder(relative_path: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Received: relative_path="):
        fetch(relative_path, "http://127.0.0.1:9/none", tmp_path)


def test_default_data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMER_TF_DATA", str(tmp_path))
    assert default_data_directory() == tmp_path
    monkeypatch.setenv("TRANSFORMER_TF_DATA", "")
    assert default_data_directory() == Path(pooch.os_cache("transformer_tf"))
