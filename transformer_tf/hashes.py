"""The SHA-256 of each file of a checkpoint, in `hashes.txt`: loading finds a file that has changed.

Each line has a hash and the path of a file in the folder, like the output of `sha256sum`. That of
`config.yaml` leaves out the section `decoding`, which may be edited.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from transformer_tf.catalog import CONFIG_FILE, visible_files
from transformer_tf.errors import CheckpointError
from transformer_tf.utils.files import atomic_write, atomic_write_bytes

HASHES_FILE = "hashes.txt"
_PATTERNS = (CONFIG_FILE, "tokenizers/*", "*.weights.h5", "model.bin")
_DECODING = re.compile(rb"^decoding:.*(?:\n|\Z)(?:[ #-].*(?:\n|\Z)|\n)*", re.MULTILINE)


def record_hashes(folder: Path) -> None:
    """Writes the hashes of the configuration, the tokenizers and the weights of a checkpoint."""
    files = [path for pattern in _PATTERNS for path in visible_files(folder, pattern)]
    names = (path.relative_to(folder).as_posix() for path in files)
    _write(folder, {name: [_hash(folder / name)] for name in names})


def check_hashes(folder: Path, weights: Path) -> None:
    """Compares the files that a translator uses with their hashes, if there are any.

    Args:
        folder: The checkpoint.
        weights: Its weights that are used.

    Raises:
        CheckpointError: If a file has changed, is missing or is new.
    """
    recorded = _read(folder)
    if recorded is None:
        return
    tokenizers = {
        path.relative_to(folder).as_posix() for path in visible_files(folder, _PATTERNS[1])
    }
    tokenizers |= {name for name in recorded if name.startswith("tokenizers/")}
    for name in (CONFIG_FILE, *sorted(tokenizers), weights.name):
        path = folder / name
        if not path.is_file() or _hash(path) not in recorded.get(name, ()):
            raise CheckpointError(
                f"{path} is not the file that was saved with this checkpoint: restore it, or "
                f"delete {folder / HASHES_FILE} if you changed it yourself"
            )


@contextlib.contextmanager
def recorded_write(path: Path) -> Iterator[Path]:
    """Replaces a file at the top of a checkpoint, as `atomic_write` does, and its hash.

    A process that is killed between the two leaves both hashes, so that the checkpoint is whole
    with the old file and with the new one.

    Args:
        path: The file.

    Yields:
        The temporary file to write to.
    """
    folder, name = path.parent, path.name
    with atomic_write(path) as partial:
        yield partial
        recorded = _read(folder)
        if recorded is not None:
            new = _hash(partial)
            _write(folder, {**recorded, name: [*recorded.get(name, ()), new]})
    if recorded is not None:
        _write(folder, {**recorded, name: [new]})


def _hash(path: Path) -> str:
    if path.suffix == ".yaml":
        content = path.read_bytes().replace(b"\r\n", b"\n")
        return hashlib.sha256(_DECODING.sub(b"", content)).hexdigest()
    hasher = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            hasher.update(block)
    return hasher.hexdigest()


def _read(folder: Path) -> dict[str, list[str]] | None:
    try:
        lines = (folder / HASHES_FILE).read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return None
    recorded: dict[str, list[str]] = {}
    for line in lines:
        digest, _, name = line.partition("  ")
        recorded.setdefault(name, []).append(digest)
    return recorded


def _write(folder: Path, recorded: Mapping[str, Iterable[str]]) -> None:
    lines = (f"{digest}  {name}\n" for name, digests in recorded.items() for digest in digests)
    atomic_write_bytes(folder / HASHES_FILE, "".join(lines).encode())
