"""Fetch a data file once, check it, and keep it in a folder the user can see and fill by hand."""

import contextlib
import importlib.metadata
import os
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pooch  # type: ignore[import-untyped, unused-ignore]
import requests

from transformer_tf.errors import DataError

DATA_DIRECTORY_VARIABLE = "TRANSFORMER_TF_DATA"

_TIMEOUT = 30.0  # seconds without a byte, not the time of the whole download
_CHUNK_BYTES = 1 << 16
_RETRY_DELAYS: Sequence[float] = (1.0, 3.0)  # seconds before the second and the third attempt
_RETRIED_STATUS = frozenset({429, 500, 502, 503, 504})


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


def fetch(relative_path: str, url: str, directory: Path, sha256: str | None = None) -> Path:
    """Return `directory / relative_path`, downloading it from `url` if it is not there.

    The download goes to a temporary file in the same folder, is checked, and is then renamed: the
    final path holds either the complete file or nothing, whatever interrupts the download.

    Args:
        relative_path: Where the file belongs under `directory`, with forward slashes.
        url: The address to download it from, `http` or `https`.
        directory: The data folder; made if missing.
        sha256: The file's SHA-256 in hexadecimal, or `None` to accept any content.

    Returns:
        The path of the file.

    Raises:
        DataError: If the file cannot be downloaded or stored, or is not the one that `sha256`
            names. The message is one line. A file that was there already is never replaced or
            deleted.
        ValueError: If `relative_path` is absolute or leads out of `directory`.
    """
    parts = PurePosixPath(relative_path)
    if parts.is_absolute() or ".." in parts.parts or not parts.name:
        raise ValueError(
            "`relative_path` must name a file inside the data folder. "
            f"Received: relative_path={relative_path!r}"
        )
    path = Path(directory) / parts
    if path.is_file():
        if sha256 is not None and (found := _sha256(path)) != sha256.lower():
            raise DataError(
                f"{path} is not the file expected (its sha256 is {found}, expected "
                f"{sha256.lower()}): delete it and run again to download it afresh."
            )
        return path

    by_hand = f"To go on without a download, put the file at {path} by hand."
    # Hidden, and unlike any other process's, so that two runs may fetch the same file at once.
    partial = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _download(url, partial)
        if sha256 is not None and (found := _sha256(partial)) != sha256.lower():
            raise DataError(
                f"Downloaded {relative_path} from {url}, but its sha256 is {found}, expected "
                f"{sha256.lower()}; the download was discarded. {by_hand}"
            )
        os.replace(partial, path)
    except requests.RequestException as error:
        raise DataError(
            f"Could not download {relative_path} from {url} ({_reason(error)}). {by_hand}"
        ) from error
    except OSError as error:
        raise DataError(
            f"Could not store {relative_path}, downloaded from {url}, at {path} "
            f"({error.strerror or error})."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()
    return path


def _download(url: str, path: Path) -> None:
    """Download `url` to `path`, trying again after failures that may pass."""
    downloader = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(),  # pooch draws it with tqdm; a log file gets none of it
        chunk_size=_CHUNK_BYTES,
        timeout=_TIMEOUT,
        headers={"User-Agent": _user_agent()},
    )
    for delay in (*_RETRY_DELAYS, None):
        try:
            downloader(url, str(path), None)
            return
        except requests.RequestException as error:
            if delay is None or not _may_pass(error):
                raise
            time.sleep(delay)


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
    if isinstance(error, requests.ConnectionError):
        return "no connection to the server"
    return " ".join(str(error).split())


def _sha256(path: Path) -> str:
    """Return a file's SHA-256 in lower-case hexadecimal."""
    return str(pooch.file_hash(str(path), alg="sha256")).lower()
