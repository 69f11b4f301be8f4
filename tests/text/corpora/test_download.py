"""Downloads, against a server on this machine."""

import hashlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch  # type: ignore[import-untyped, unused-ignore]
import pytest

from transformer_tf.config import DataConfig
from transformer_tf.errors import DataError
from transformer_tf.text.corpora.download import fetch
from transformer_tf.text.corpora.sources import data_directory

CONTENT = bytes(range(256)) * 1031
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()
OTHER_SHA256 = hashlib.sha256(b"another file").hexdigest()


class Server(ThreadingHTTPServer):
    """Serves one file at any path.

    Attributes:
        status: The status of the answers.
        length: The number of bytes to send before the connection breaks.
        hold: No answer is finished before this is set.
        agents: The user agent of each request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.length = len(CONTENT)
        self.hold = threading.Event()
        self.hold.set()
        self.agents: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/file.bin"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.agents.append(self.headers["User-Agent"])
        if self.server.status != 200:
            self.send_error(self.server.status)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:1000])
        self.server.hold.wait(20)
        self.wfile.write(CONTENT[1000 : self.server.length])

    def log_message(self, format: str, *args: object) -> None:
        """Keeps the test output clean."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.hold.set()
        running.shutdown()
        thread.join()


def visible_files(directory: Path) -> list[Path]:
    """Lists all files but the lock."""
    return [
        path for path in directory.rglob("*") if path.is_file() and path.name != ".file.bin.lock"
    ]


def error_of(url: str, directory: Path, known_hash: str | None = None) -> str:
    with pytest.raises(DataError) as caught:
        fetch("corpus/file.bin", url, directory, known_hash)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert str(directory / "corpus" / "file.bin") in message
    return message


@pytest.mark.parametrize("known_hash", [None, f"sha256:{SHA256}", f"md5:{MD5}"])
def test_a_file_is_downloaded_once(known_hash: str | None, server: Server, tmp_path: Path) -> None:
    for _ in range(2):
        path = fetch("corpus/file.bin", server.url, tmp_path, known_hash)
        assert path == tmp_path / "corpus" / "file.bin"
        assert path.read_bytes() == CONTENT
    assert visible_files(tmp_path) == [path]
    assert len(server.agents) == 1
    assert server.agents[0].startswith("transformer_tf/")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_progress_bar_is_for_terminals(
    is_terminal: bool,
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    fetch("file.bin", server.url, tmp_path)

    printed = capsys.readouterr()
    assert ("100%" in printed.err) == is_terminal
    assert is_terminal or not printed.err
    assert printed.out == ""


def test_a_file_put_there_by_hand_needs_no_network(tmp_path: Path) -> None:
    (tmp_path / "file.bin").write_bytes(CONTENT)

    path = fetch("file.bin", "http://127.0.0.1:9/none", tmp_path, f"sha256:{SHA256}")
    assert path.read_bytes() == CONTENT
    assert list(tmp_path.iterdir()) == [path]


def test_a_wrong_file_put_there_by_hand_is_reported_and_kept(
    server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "corpus" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(CONTENT)

    message = error_of(server.url, tmp_path, f"sha256:{OTHER_SHA256}")
    assert SHA256 in message and OTHER_SHA256 in message
    assert path.read_bytes() == CONTENT
    assert not server.agents


def test_a_download_with_a_wrong_hash_is_deleted(server: Server, tmp_path: Path) -> None:
    assert OTHER_SHA256 in error_of(server.url, tmp_path, f"sha256:{OTHER_SHA256}")
    assert visible_files(tmp_path) == []


@pytest.mark.parametrize("status", [404, 503])
def test_an_error_of_the_server(status: int, server: Server, tmp_path: Path) -> None:
    server.status = status
    message = error_of(server.url, tmp_path)

    assert f"HTTP {status}" in message and server.url in message
    assert visible_files(tmp_path) == []


def test_a_lost_connection_leaves_no_partial_file(server: Server, tmp_path: Path) -> None:
    server.length = len(CONTENT) // 2
    assert "the connection was lost" in error_of(server.url, tmp_path)
    assert visible_files(tmp_path) == []

    server.length = len(CONTENT)
    assert fetch("corpus/file.bin", server.url, tmp_path).read_bytes() == CONTENT


def test_without_a_connection(server: Server, tmp_path: Path) -> None:
    url = server.url
    server.shutdown()
    server.server_close()

    message = error_of(url, tmp_path)
    assert "no connection" in message and url in message
    assert visible_files(tmp_path) == []


def test_a_folder_that_cannot_be_created(server: Server, tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("a file where the folder should be")
    assert "Could not store" in error_of(server.url, tmp_path)


def fetch_in_another_process(server: Server, directory: Path) -> subprocess.Popen[bytes]:
    program = (
        "import pathlib, sys, pooch, requests, filelock\n"
        "from transformer_tf.text.corpora.download import fetch\n"
        "print('ready', flush=True)\n"
        "fetch('file.bin', sys.argv[1], pathlib.Path(sys.argv[2]))\n"
    )
    command = [sys.executable, "-c", program, server.url, str(directory)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_second_process_waits_for_the_first(server: Server, tmp_path: Path) -> None:
    server.hold.clear()
    with fetch_in_another_process(server, tmp_path) as first:
        wait_until(lambda: len(server.agents) == 1)
        with fetch_in_another_process(server, tmp_path) as second:
            time.sleep(0.3)  # long enough for a request
            assert second.poll() is None
            server.hold.set()
            assert second.wait(20) == first.wait(20) == 0

    assert len(server.agents) == 1
    assert visible_files(tmp_path) == [tmp_path / "file.bin"]
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_the_data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMER_TF_DATA", str(tmp_path))
    assert data_directory(DataConfig()) == tmp_path
    assert data_directory(DataConfig(directory=tmp_path / "own")) == tmp_path / "own"
    monkeypatch.setenv("TRANSFORMER_TF_DATA", "")
    assert data_directory(DataConfig()) == Path(pooch.os_cache("transformer_tf"))
