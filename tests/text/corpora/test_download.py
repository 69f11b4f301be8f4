"""Downloads, against a server on this machine."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch  # type: ignore[import-untyped, unused-ignore]
import pytest

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
        agents: The user agent of each request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.length = len(CONTENT)
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
        self.wfile.write(CONTENT[: self.server.length])

    def log_message(self, format: str, *args: object) -> None:
        """Keeps the test output clean."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def error_of(url: str, directory: Path, known_hash: str | None = None) -> str:
    with pytest.raises(DataError) as caught:
        fetch("corpus/file.bin", url, directory, known_hash)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert str(directory / "corpus" / "file.bin") in message
    return message


def files_in(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file()]


@pytest.mark.parametrize("known_hash", [None, f"sha256:{SHA256}", f"md5:{MD5}"])
def test_a_file_is_downloaded_once(known_hash: str | None, server: Server, tmp_path: Path) -> None:
    for _ in range(2):
        path = fetch("corpus/file.bin", server.url, tmp_path, known_hash)
        assert path == tmp_path / "corpus" / "file.bin"
        assert path.read_bytes() == CONTENT
    assert files_in(tmp_path) == [path]
    assert len(server.agents) == 1
    assert server.agents[0].startswith("transformer_tf")


def test_a_file_put_there_by_hand_needs_no_network(server: Server, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "file.bin").write_bytes(CONTENT)

    path = fetch("corpus/file.bin", server.url, tmp_path, f"sha256:{SHA256}")
    assert files_in(tmp_path) == [path]
    assert OTHER_SHA256 in error_of(server.url, tmp_path, f"sha256:{OTHER_SHA256}")
    assert path.read_bytes() == CONTENT
    assert not server.agents


def test_a_failed_download_leaves_no_file(server: Server, tmp_path: Path) -> None:
    """A wrong hash, an error of the server, and a lost connection."""
    assert OTHER_SHA256 in error_of(server.url, tmp_path, f"sha256:{OTHER_SHA256}")
    server.status = 404
    message = error_of(server.url, tmp_path)
    assert "HTTP 404" in message and server.url in message
    server.status, server.length = 200, len(CONTENT) // 2
    assert server.url in error_of(server.url, tmp_path)
    assert files_in(tmp_path) == []

    server.length = len(CONTENT)
    assert fetch("corpus/file.bin", server.url, tmp_path).read_bytes() == CONTENT


def test_the_data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMER_TF_DATA", str(tmp_path))
    assert data_directory() == tmp_path
    monkeypatch.setenv("TRANSFORMER_TF_DATA", "")
    assert data_directory() == Path(pooch.os_cache("transformer_tf"))
