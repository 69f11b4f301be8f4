"""Downloads data files to a folder, in which users can also put files by hand."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_tf.errors import DataError, one_line

if TYPE_CHECKING:
    import requests

_TIMEOUT = 30.0  # seconds without data


def fetch(relative_path: str, url: str, directory: Path, known_hash: str | None = None) -> Path:
    """Returns the path of a data file; downloads the file if it is missing.

    The file appears only when complete. If several processes request it, one downloads it and
    the others wait.

    Args:
        relative_path: Where the file belongs under `directory`.
        url: The address to download it from.
        directory: The data folder; created if missing.
        known_hash: The hash of the file, `"sha256:..."` or `"md5:..."`; None accepts any content.

    Raises:
        DataError: If the file cannot be downloaded or stored, or has another hash. The message is
            one line. An existing file is never changed.
    """
    path = Path(directory) / relative_path
    if path.is_file():
        _check(path, known_hash)
        return path

    import filelock
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(),
        timeout=_TIMEOUT,
        headers={"User-Agent": _user_agent()},  # some servers refuse an HTTP library's default
    )
    by_hand = f"Run again, or put the file at {path} by hand."
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(path.with_name(f".{path.name}.lock")):
            if not path.is_file():
                pooch.retrieve(url, known_hash, path.name, path.parent, downloader=downloader)
    except requests.RequestException as error:
        if error.response is not None:
            error.response.close()
        raise DataError(
            f"Could not download {relative_path} from {url} ({_reason(error)}). {by_hand}"
        ) from error
    except OSError as error:
        raise DataError(
            f"Could not store {relative_path}, downloaded from {url}, at {path} "
            f"({error.strerror or error})."
        ) from error
    except ValueError as error:  # from pooch: the hash differs, and the download was deleted
        raise DataError(
            f"The download of {relative_path} from {url} is not the expected file (its hash is not "
            f"{known_hash}) and was deleted. {by_hand}"
        ) from error
    return path


def _check(path: Path, known_hash: str | None) -> None:
    """Raises an error if a file does not have the known hash."""
    if known_hash is None:
        return
    import pooch

    algorithm, _, expected = known_hash.partition(":")
    found = pooch.file_hash(str(path), alg=algorithm)
    if found != expected:
        raise DataError(
            f"{path} is not the expected file (its {algorithm} is {found}, expected {expected}): "
            "delete it and run again to download it."
        )


def _user_agent() -> str:
    try:
        version = importlib.metadata.version("transformer_tf")
    except importlib.metadata.PackageNotFoundError:  # run from a clone, not installed
        version = "0"
    return f"transformer_tf/{version} (+python-requests)"


def _reason(error: requests.RequestException) -> str:
    """Describes a failed request in a few words, on one line."""
    import requests

    if error.response is not None:
        return f"HTTP {error.response.status_code} {error.response.reason}".strip()
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.exceptions.SSLError):
        return "the server's certificate could not be verified"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection was lost"
    if isinstance(error, requests.ConnectionError):
        return "no connection to the server"
    return one_line(error)
