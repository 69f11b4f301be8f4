"""Downloads data files to a folder, in which users can also put files by hand."""

from __future__ import annotations

import sys
from pathlib import Path

from transformer_tf.errors import DataError, one_line

_TIMEOUT = 30.0  # seconds without data
_USER_AGENT = "transformer_tf (+python-requests)"  # some servers refuse an HTTP library's default


def fetch(relative_path: str, url: str, directory: Path, known_hash: str | None = None) -> Path:
    """Returns the path of a data file; downloads the file if it is missing.

    The file appears only when complete.

    Args:
        relative_path: Where the file belongs under `directory`.
        url: The address to download it from.
        directory: The data folder; created if missing.
        known_hash: The hash of the file, `"sha256:..."` or `"md5:..."`; None accepts any content.

    Raises:
        DataError: If the file cannot be downloaded or stored, or has another hash. The message is
            one line. An existing file is never changed.
    """
    import pooch

    path = Path(directory) / relative_path
    if path.is_file():
        if known_hash and not pooch.hashes.hash_matches(str(path), known_hash):
            raise DataError(
                f"{path} is not the expected file ({known_hash}): delete it and run again to "
                "download it."
            )
        return path
    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(), timeout=_TIMEOUT, headers={"User-Agent": _USER_AGENT}
    )
    try:
        pooch.retrieve(url, known_hash, path.name, path.parent, downloader=downloader)
    except (OSError, ValueError) as error:
        response = getattr(error, "response", None)  # of a failed request
        reason = one_line(error)
        if response is not None:
            response.close()
            reason = f"HTTP {response.status_code}"
        raise DataError(
            f"Could not download {path} from {url} ({reason}). Run again, or put the file there "
            "by hand."
        ) from error
    return path
