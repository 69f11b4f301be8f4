"""An HTTP server for translators: Python's own, with a thread for each connection."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from transformer_tf.errors import DataError, one_line
from transformer_tf.serve.api import Api, Fields, RequestError
from transformer_tf.translator import Translator

FORM = "application/x-www-form-urlencoded"
MAX_IGNORED = 100_000_000  # bytes of a request that is too large
SECONDS_TO_END = 10.0  # for the answers that are under way


class TranslationServer(ThreadingHTTPServer):
    """Answers LibreTranslate's requests, and serves the web page of the same models.

    Args:
        address: The host and the port; port 0 for any free one, see `server_address`.
        translators: The translators by the codes of their languages, such as `("en", "de")`.
        folders: Their checkpoints, for the page.
        char_limit: Maximum number of characters of a request.
        max_requests: Maximum number of requests at once; others get the status 503.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        translators: Mapping[tuple[str, str], Translator],
        folders: list[Path],
        char_limit: int = 10_000,
        max_requests: int = 64,
    ):
        self.api = Api(translators, char_limit)
        self.folders = {folder.resolve().name: folder for folder in folders}
        self.max_bytes = 12 * char_limit + 4096  # JSON writes a character in at most 12 bytes
        self.max_requests = max_requests
        self.free = threading.Semaphore(max_requests)
        self._files: dict[str, bytes] = {}  # of the page
        self._packing = threading.Lock()
        super().__init__(address, Handler)

    def server_close(self) -> None:
        """Closes the server after the answers that are under way."""
        super().server_close()
        end = time.monotonic() + SECONDS_TO_END
        for _ in range(self.max_requests):
            self.free.acquire(timeout=max(0, end - time.monotonic()))

    def handle_error(self, request, client_address) -> None:
        """Reports an error in a thread, unless a client has gone or is too slow."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def page_file(self, path: str) -> bytes | None:
        """Returns a file of the web page, or None; it is made when it is first needed."""
        name = path[1:].removesuffix(".gz")
        if path != "/" and (name not in self.folders or name == path[1:]):
            return None
        with self._packing:
            if name not in self._files:
                from transformer_tf.export.web.pack import pack_checkpoint
                from transformer_tf.export.web.site import listed_model, render_site

                if name:
                    self._files[name] = pack_checkpoint(self.folders[name])
                else:
                    models = [listed_model(folder) for folder in self.folders.values()]
                    self._files[name] = render_site(models).encode()
            return self._files[name]


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of a connection."""

    server: TranslationServer
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds to wait for a client's bytes
    wbufsize = -1  # headers and body in one packet
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answers with what is at a path."""
        with self._errors():
            path, api = unquote(urlsplit(self.path).path), self.server.api
            if path == "/health":
                self._send_json({"status": "ok"})
            elif path == "/languages":
                self._send_json(api.languages())
            elif path == "/frontend/settings":
                self._send_json(api.settings())
            elif file := self.server.page_file(path):
                self._send(file, "text/html; charset=utf-8" if path == "/" else "application/gzip")
            else:
                raise RequestError(f"There is nothing at {path}", HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Translates."""
        with self._errors():
            fields = self._fields()
            if urlsplit(self.path).path != "/translate":
                raise RequestError("POST to /translate", HTTPStatus.NOT_FOUND)
            if not self.server.free.acquire(blocking=False):
                raise RequestError(
                    "Too many requests at once: try again later", HTTPStatus.SERVICE_UNAVAILABLE
                )
            try:
                self._send_json(self.server.api.translate(fields))
            finally:
                self.server.free.release()

    def do_OPTIONS(self) -> None:
        """Lets web pages of other addresses ask for translations, as LibreTranslate does."""
        self._send(b"", "text/plain")

    def _fields(self) -> Fields:
        """Reads the body of a request: JSON or a form."""
        length, most = self.headers.get("Content-Length", ""), self.server.max_bytes
        if not length.isdecimal() or len(length) > 12:
            self.close_connection = True
            raise RequestError("Content-Length is missing", HTTPStatus.LENGTH_REQUIRED)
        if int(length) > most:
            self.close_connection = True
            left = min(int(length), MAX_IGNORED)  # a client reads the answer once it has sent all
            while left and (ignored := self.rfile.read(min(left, most))):
                left -= len(ignored)
            raise RequestError(
                f"The request has {length} bytes; at most {most} are allowed",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
        body = self.rfile.read(int(length))
        try:
            if self.headers.get_content_type() == FORM:
                return dict(parse_qsl(body.decode(), keep_blank_values=True))
            fields = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise RequestError("The request is neither JSON nor a form") from error
        if not isinstance(fields, dict):
            raise RequestError('The request must be a JSON object: {"q": …}')
        return fields

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Answers with an error as JSON."""
        try:
            yield
        except RequestError as error:
            self._send_json({"error": str(error)}, error.status)
        except DataError as error:  # a line is too long
            self._send_json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        except OSError:
            raise
        except Exception as error:  # for example, a tokenizer that the page does not support
            print(f"error: {error!r}", file=sys.stderr)
            self._send_json({"error": one_line(error)}, HTTPStatus.INTERNAL_SERVER_ERROR)

    def _send_json(self, value: Any, status: int = HTTPStatus.OK) -> None:
        body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        self._send(body, "application/json", status)

    def _send(self, body: bytes, kind: str, status: int = HTTPStatus.OK) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "Content-Type, Authorization")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def send_error(self, code, message=None, explain=None) -> None:
        """Answers what is not HTTP, or has another method, with JSON too."""
        self.close_connection = True
        self._send_json({"error": message or HTTPStatus(code).phrase}, code)

    def log_message(self, *_: Any) -> None:
        """Writes no log: texts are private."""
