"""Downloads, against a server on this machine: what arrives, and what never stays behind."""

import hashlib
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch  # type: ignore[import-untyped, unused-ignore]
import pytest

from transformer_tf.errors import DataError, TransformerTFError
from transformer_tf.text import download
from transformer_tf.text.download import default_data_directory, fetch

CONTENT = bytes(range(256)) * 1031
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OTHER_SHA256 = hashlib.sha256(b"another file").hexdigest()


class Server(ThreadingHTTPServer):
    """Serves /good, /cut (ends half-way) and /busy-once (503 first), and counts requests."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: Counter[str] = Counter()
        self.user_agents: list[str] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests[self.path] += 1
        self.server.user_agents.append(self.headers.get("User-Agent", ""))
        if self.path == "/busy-once" and self.server.requests[self.path] == 1:
            self.send_error(503)
        elif self.path in ("/good", "/busy-once", "/cut"):
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT[: len(CONTENT) // 2] if self.path == "/cut" else CONTENT)
        else:
            self.send_error(404)

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
        running.shutdown()
        thread.join()


def files_under(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file()]


def test_fetch_downloads_once(server: Server, tmp_path: Path) -> None:
    path = fetch("corpus/file.bin", server.url("/good"), tmp_path, sha256=SHA256.upper())

    assert path == tmp_path / "corpus" / "file.bin"
    assert path.read_bytes() == CONTENT
    assert files_under(tmp_path) == [path]
    assert fetch("corpus/file.bin", server.url("/good"), tmp_path, sha256=SHA256) == path
    assert server.requests == {"/good": 1}


def test_fetch_names_itself(server: Server, tmp_path: Path) -> None:
    fetch("file.bin", server.url("/good"), tmp_path)

    assert server.user_agents[0].startswith("transformer_tf/")
    assert server.user_agents[0].endswith(" (+python-requests)")


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


def test_broken_connection_leaves_nothing_behind(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the connection broke off"):
        fetch("file.bin", server.url("/cut"), tmp_path)

    assert files_under(tmp_path) == []
    assert server.requests["/cut"] == 3


def test_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_half_then_interrupt(
        self: pooch.HTTPDownloader, url: str, output_file: str, pooch: None
    ) -> None:
        Path(output_file).write_bytes(CONTENT[:1000])
        raise KeyboardInterrupt

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", write_half_then_interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch("file.bin", "http://127.0.0.1:9/good", tmp_path)

    assert files_under(tmp_path) == []


def test_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    assert fetch("file.bin", server.url("/busy-once"), tmp_path).read_bytes() == CONTENT
    assert server.requests["/busy-once"] == 2


def test_missing_on_server_is_not_asked_again(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="HTTP 404"):
        fetch("file.bin", server.url("/none"), tmp_path)

    assert server.requests["/none"] == 1
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


@pytest.mark.parametrize("relative_path", ["/etc/file", "../file", "corpus/../../file", ""])
def test_path_outside_the_data_folder(relative_path: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Received: relative_path="):
        fetch(relative_path, "http://127.0.0.1:9/none", tmp_path)


def test_default_data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMER_TF_DATA", str(tmp_path))
    assert default_data_directory() == tmp_path
    monkeypatch.setenv("TRANSFORMER_TF_DATA", "")
    assert default_data_directory() == Path(pooch.os_cache("transformer_tf"))
