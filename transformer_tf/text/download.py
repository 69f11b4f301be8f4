"""Fetch a data file once, check it, and keep it in a folder the user can see and fill by hand."""

import contextlib
import dataclasses
import importlib.metadata
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import filelock
import pooch  # type: ignore[import-untyped, unused-ignore]
import requests

from transformer_tf.errors import DataError

DATA_DIRECTORY_VARIABLE = "TRANSFORMER_TF_DATA"

_TIMEOUT = 30.0  # seconds without a byte, not the time of the whole download
_CHUNK_BYTES = 1 << 16
_RETRY_DELAYS: Sequence[float] = (1.0, 3.0)  # seconds before the second and the third attempt
_RETRIED_STATUS = frozenset({429, 500, 502, 503, 504})
_HASH_ALGORITHMS = ("md5", "sha1", "sha256", "sha512")
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")


def default_data_directory() -> Path:
    """Return the folder in which downloaded data is kept.

    Returns:
        The folder named by the environment variable `TRANSFORMER_TF_DATA` if that is set and not
        empty, else the user's cache folder for this package.
    """
    configured = os.environ.get(DATA_DIRECTORY_VARIABLE)
    if configured:
        return Path(configured).expanduser()
    return Path(pooch.os_cache("transformer_tf"))


def fetch(relative_path: str, url: str, directory: Path, known_hash: str | None = None) -> Path:
    """Return `directory / relative_path`, downloading it from `url` if it is not there.

    The download goes to a hidden file in the same folder, is checked, and is then renamed: the
    final path holds either the complete file or nothing, whatever interrupts the download. If the
    server can send a part of a file, an interrupted download leaves its hidden file for the next
    attempt, in this call or a later one, to go on from. Of several processes that want the same
    file one downloads it, and the others wait.

    Args:
        relative_path: Where the file belongs under `directory`, with forward slashes.
        url: The address to download it from, `http` or `https`.
        directory: The data folder; made if missing.
        known_hash: The file's hash in hexadecimal, `"sha256:..."` or `"md5:..."` (without a name:
            SHA-256), or `None` to accept any content.

    Returns:
        The path of the file.

    Raises:
        DataError: If the file cannot be downloaded or stored, or is not the one that `known_hash`
            names. The message is one line. A file that was there already is never replaced or
            deleted, and next to it nothing is written.
        ValueError: If `relative_path` is absolute or leads out of `directory`, or if `known_hash`
            names no algorithm that is known here.
    """
    parts = PurePosixPath(relative_path)
    if parts.is_absolute() or ".." in parts.parts or not parts.name:
        raise ValueError(
            "`relative_path` must name a file inside the data folder. "
            f"Received: relative_path={relative_path!r}"
        )
    expected = None if known_hash is None else _Hash.parse(known_hash)
    path = Path(directory) / parts
    if path.is_file():
        _check_present(path, expected)
        return path

    by_hand = f"To go on without a download, put the file at {path} by hand."
    partial = _Partial(path, url)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock(path):
            if path.is_file():  # another process has fetched it meanwhile
                _check_present(path, expected)
                return path
            with partial:
                _download(url, partial)
                if expected and (found := expected.of(partial.path)) != expected.digest:
                    partial.forget_origin()
                    raise DataError(
                        f"Downloaded {relative_path} from {url}, but its {expected.algorithm} is "
                        f"{found}, expected {expected.digest}; the download was discarded. "
                        f"{by_hand}"
                    )
                os.replace(partial.path, path)
    except requests.RequestException as error:
        raise DataError(
            f"Could not download {relative_path} from {url} ({_reason(error)}). "
            f"{partial.hint()}{by_hand}"
        ) from error
    except OSError as error:
        raise DataError(
            f"Could not store {relative_path}, downloaded from {url}, at {path} "
            f"({error.strerror or error})."
        ) from error
    return path


@dataclasses.dataclass(frozen=True)
class _Hash:
    """A hash that a file should have, in lower-case hexadecimal."""

    algorithm: str
    digest: str

    @classmethod
    def parse(cls, known_hash: str) -> "_Hash":
        """Read `"algorithm:digest"`, or a digest alone, as pooch writes them."""
        algorithm, _, digest = known_hash.lower().rpartition(":")
        algorithm = algorithm or "sha256"
        if algorithm not in _HASH_ALGORITHMS:
            raise ValueError(
                '`known_hash` must be written "sha256:..." or "md5:...". '
                f"Received: known_hash={known_hash!r}"
            )
        return cls(algorithm, digest)

    def of(self, path: Path) -> str:
        """Return what this hash is for the file that is there."""
        return str(pooch.file_hash(str(path), alg=self.algorithm)).lower()


def _check_present(path: Path, expected: _Hash | None) -> None:
    """Refuse a file that is there but is another one than `expected`."""
    if expected and (found := expected.of(path)) != expected.digest:
        raise DataError(
            f"{path} is not the file expected (its {expected.algorithm} is {found}, expected "
            f"{expected.digest}): delete it and run again to download it afresh."
        )


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold back the other processes that want to fetch the same file until the block ends."""
    lock_path = path.with_name(f".{path.name}.lock")
    with filelock.FileLock(lock_path):
        try:
            yield
        finally:
            # On Unix filelock leaves its file. It goes while the lock is still held: a process
            # that has opened it to wait finds it without a name, and starts over with a new one.
            with contextlib.suppress(OSError):
                lock_path.unlink()


@dataclasses.dataclass(frozen=True)
class _Origin:
    """Which bytes an unfinished download consists of.

    Attributes:
        url: Where they came from.
        validator: What the server calls this version of the file: its entity tag or its date.
        size: How many bytes the whole file has, if the server has said so.
    """

    url: str
    validator: str
    size: int | None


class _Partial:
    """The unfinished download of a file: a hidden file, and beside it another with its origin.

    Bytes of unknown origin cannot be gone on with, so leaving the `with` block removes them, while
    a process that is killed leaves them for the next one to overwrite.
    """

    def __init__(self, path: Path, url: str) -> None:
        self.path = path.with_name(f".{path.name}.part")
        self._origin_path = path.with_name(f".{path.name}.part.json")
        self._url = url

    def __enter__(self) -> "_Partial":
        return self

    def __exit__(self, *exception: object) -> None:
        if not self.size() or self.origin() is None:
            for path in (self.path, self._origin_path):
                with contextlib.suppress(OSError):
                    path.unlink()

    def size(self) -> int:
        """Return how many bytes have arrived."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def origin(self) -> _Origin | None:
        """Return where the bytes come from, or `None` if that is unknown or they are of no use."""
        try:
            origin = _Origin(**json.loads(self._origin_path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # absent, or cut short when the process was killed
            return None
        too_many = origin.size is not None and self.size() > origin.size
        return None if origin.url != self._url or too_many else origin

    def set_origin(self, validator: str, size: int | None) -> None:
        """Note which version of the file the bytes belong to."""
        origin = _Origin(self._url, validator, size)
        self._origin_path.write_text(json.dumps(dataclasses.asdict(origin)), encoding="utf-8")

    def forget_origin(self) -> None:
        """Make the bytes that have arrived worthless, so that the next attempt starts afresh."""
        self._origin_path.unlink(missing_ok=True)

    def hint(self) -> str:
        """Say, as the start of a message, whether another run need not begin again."""
        size = self.size()
        return f"Run again to go on after the {size} bytes that arrived. " if size else ""


class _BadAnswerError(requests.ConnectionError):
    """An answer without the bytes that were asked for; another attempt starts afresh."""


class _Transfer:
    """Puts the answer to one request into the file, at the place where it belongs.

    An instance is the hook that `requests` calls with each answer before its body is read.
    """

    def __init__(self, partial: _Partial, file: BinaryIO, start: int, origin: _Origin | None):
        self._partial = partial
        self._file = file
        self._start = start
        self._origin = origin
        self._size: int | None = None

    def __call__(self, response: requests.Response, **_: object) -> None:
        try:
            self._prepare(response)
        except BaseException:
            response.close()
            raise

    def _prepare(self, response: requests.Response) -> None:
        if response.status_code == 200:
            self._begin(response)
        elif self._origin and self._start and response.status_code in (206, 416):
            self._go_on(response, self._origin)
        elif response.ok and not response.is_redirect:
            raise requests.HTTPError("an answer without the file", response=response)

    def _begin(self, response: requests.Response) -> None:
        """Drop what had arrived: the whole file follows."""
        self._partial.forget_origin()
        self._file.truncate(0)
        if _is_encoded(response):
            return  # its length is that of other bytes than those that will be stored
        self._size = _number(response.headers.get("Content-Length"))
        if validator := _validator(response):
            self._partial.set_origin(validator, self._size)

    def _go_on(self, response: requests.Response, origin: _Origin) -> None:
        """Let the part be appended that follows, if it continues what had arrived."""
        part = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if (
            response.status_code == 206
            and part is not None
            and int(part[1]) == self._start
            and not _is_encoded(response)
            and _may_be_of(response, origin)
        ):
            self._size = _number(part[3]) or origin.size or int(part[2]) + 1
        if self._size is None or origin.size not in (None, self._size):
            self._partial.forget_origin()
            raise _BadAnswerError("the server did not send the rest of the file")

    def check_complete(self) -> None:
        """Raise a `requests` error unless as many bytes are there as the server promised."""
        if self._size not in (None, self._partial.size()):
            raise requests.exceptions.ChunkedEncodingError("another length than announced")


def _download(url: str, partial: _Partial) -> None:
    """Complete `partial` from `url`, trying again after failures that may pass."""
    for delay in (*_RETRY_DELAYS, None):
        try:
            _attempt(url, partial)
            return
        except requests.RequestException as error:
            if delay is None or not _may_pass(error):
                raise
            time.sleep(delay)


def _attempt(url: str, partial: _Partial) -> None:
    """Ask once for the bytes that `partial` lacks."""
    origin = partial.origin()
    start = partial.size() if origin else 0
    if origin and start == origin.size:  # the last run was interrupted after the last byte
        return
    # Lengths and ranges count the bytes that travel: they must be those that are stored.
    headers = {"User-Agent": _user_agent(), "Accept-Encoding": "identity"}
    if origin and start:
        headers |= {"Range": f"bytes={start}-", "If-Range": origin.validator}
    with partial.path.open("ab") as file:
        transfer = _Transfer(partial, file, start, origin)
        downloader = pooch.HTTPDownloader(
            progressbar=sys.stderr.isatty(),  # drawn with tqdm; a log file gets none of it
            chunk_size=_CHUNK_BYTES,
            timeout=_TIMEOUT,
            headers=headers,
            hooks={"response": transfer},
        )
        downloader(url, file, None)
    transfer.check_complete()


def _validator(response: requests.Response) -> str | None:
    """Return what identifies this version of the file to the byte, or `None`."""
    if response.headers.get("Accept-Ranges", "").lower() == "none":
        return None
    tag = response.headers.get("ETag", "")
    if tag.startswith('"'):  # not W/"...", which promises a like meaning, not like bytes
        return tag
    return response.headers.get("Last-Modified")


def _is_encoded(response: requests.Response) -> bool:
    """Tell whether the bytes that travel are not those of the file, though that was asked for."""
    return response.headers.get("Content-Encoding", "identity").lower() != "identity"


def _may_be_of(response: requests.Response, origin: _Origin) -> bool:
    """Tell whether a part can belong to the version begun: not every server minds `If-Range`."""
    header = "ETag" if origin.validator.startswith('"') else "Last-Modified"
    return response.headers.get(header, origin.validator) == origin.validator


def _number(text: str | None) -> int | None:
    """Read a number of bytes from a header, `None` if it has none."""
    return int(text) if text and text.isascii() and text.isdigit() else None


def _user_agent() -> str:
    """Say who asks: some servers refuse the default name of an HTTP library."""
    try:
        version = importlib.metadata.version("transformer_tf")
    except importlib.metadata.PackageNotFoundError:  # run from a checkout, not installed
        version = "0"
    return f"transformer_tf/{version} (+python-requests)"


def _may_pass(error: requests.RequestException) -> bool:
    """Tell a failure worth another attempt (network, busy server) from a lasting one."""
    if error.response is not None:
        return error.response.status_code in _RETRIED_STATUS
    return isinstance(
        error,
        requests.ConnectionError | requests.Timeout | requests.exceptions.ChunkedEncodingError,
    )


def _reason(error: requests.RequestException) -> str:
    """Describe a failed request in a few words, without line breaks."""
    if error.response is not None:
        return f"HTTP {error.response.status_code} {error.response.reason}".strip()
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.exceptions.SSLError):
        return "the server's certificate could not be verified"
    if isinstance(error, requests.exceptions.ProxyError):
        return "no connection to the proxy"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke off"
    if isinstance(error, requests.ConnectionError) and not isinstance(error, _BadAnswerError):
        return "no connection to the server"
    return " ".join(str(error).split())
