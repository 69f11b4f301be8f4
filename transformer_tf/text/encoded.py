"""Encoded sentences in flat arrays: in memory, or memory-mapped from a cache on disk."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock

from transformer_tf.errors import DataError

if TYPE_CHECKING:
    from transformer_tf.text.pairs import StoredPairs
    from transformer_tf.text.tokenizer import Tokenizer

_FORMAT = "1"  # of the files, and of what the ids mean
_CHUNK = 20_000  # pairs encoded at a time
_SIDES = ("source", "target")
_INDEX_FILE = "index.json"


class Sequences(Sequence[np.ndarray]):
    """Integer sequences of different lengths, one behind the other in a single array.

    Args:
        ids: All ids.
        lengths: Length of each sequence.
    """

    def __init__(self, ids: np.ndarray, lengths: np.ndarray):
        self.ids = ids
        self.lengths = lengths
        self._ends = np.cumsum(lengths, dtype=np.int64)

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[int]]) -> Sequences:
        """Puts lists of ids into one array."""
        lengths = np.fromiter(map(len, lists), dtype=np.int32, count=len(lists))
        ids = np.fromiter(chain.from_iterable(lists), dtype=np.int32, count=int(lengths.sum()))
        return cls(ids, lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: Any) -> Any:
        end = self._ends[index]
        return self.ids[end - self.lengths[index] : end]


@dataclasses.dataclass(frozen=True)
class EncodedPairs:
    """Sentence pairs as ids, each sentence with start and end.

    Attributes:
        source: The sources.
        target: The targets, in the same order.
    """

    source: Sequences
    target: Sequences

    @classmethod
    def from_lists(cls, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> EncodedPairs:
        """Puts pairs of lists of ids into arrays."""
        return cls(*(Sequences.from_lists([pair[side] for pair in pairs]) for side in (0, 1)))

    def __len__(self) -> int:
        return len(self.source)


def encode_pairs(
    pairs: StoredPairs,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    max_length: int,
    *,
    dropout: float = 0.0,
    seed: Sequence[int] = (0,),
) -> EncodedPairs:
    """Encodes pairs and leaves out those with a side that is too long.

    Args:
        pairs: Sentence pairs.
        source_tokenizer: Cuts the sources.
        target_tokenizer: Cuts the targets.
        max_length: Most sub-words of a side, start and end not counted.
        dropout: Share of the merges that BPE-dropout skips (Provilkov et al. 2020). A sentence
            that only then is too long is cut without.
        seed: Seed of the dropout, one number or several.

    Returns:
        The pairs, in memory and in their order.
    """
    tokenizers = source_tokenizer, target_tokenizer
    chunks = list(_encoded_chunks(pairs, tokenizers, max_length, dropout, seed))
    sides = []
    for number, tokenizer in enumerate(tokenizers):
        ids: list[np.ndarray] = [chunk[number].ids.astype(_dtype(tokenizer)) for chunk in chunks]
        lengths = [chunk[number].lengths for chunk in chunks]
        sides.append(Sequences(np.concatenate(ids), np.concatenate(lengths)))
    return EncodedPairs(*sides)


def cached_pairs(
    pairs: StoredPairs,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    max_length: int,
    directory: Path,
) -> EncodedPairs:
    """Encodes pairs as `encode_pairs` does, once: from then on they are read from disk.

    The name of their folder is a hash of everything that the ids depend on: the sentences, both
    models and `max_length`. It appears when it is complete, whatever interrupts the encoding.

    Args:
        pairs: Sentence pairs.
        source_tokenizer: Cuts the sources.
        target_tokenizer: Cuts the targets.
        max_length: Most sub-words of a side, start and end not counted.
        directory: The cache folder.

    Returns:
        The pairs, memory-mapped.

    Raises:
        DataError: If the cache cannot be written.
    """
    tokenizers = source_tokenizer, target_tokenizer
    folder = directory / f"encoded-{_content_key(pairs, tokenizers, max_length)}"
    partial = directory / f".{folder.name}.partial"
    try:
        if (found := _read_folder(folder)) is not None:
            return found
        directory.mkdir(parents=True, exist_ok=True)
        # Others who want the same wait, and find it done. What a killed process left goes.
        with FileLock(directory / f".{folder.name}.lock"):
            if (found := _read_folder(folder)) is not None:
                return found
            for leftover in (partial, folder):  # and what is damaged
                if leftover.exists():
                    shutil.rmtree(leftover)
            try:
                _write_folder(partial, _encoded_chunks(pairs, tokenizers, max_length), tokenizers)
                os.replace(partial, folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
            read = _read_folder(folder)
    except OSError as error:
        raise DataError(
            f"Cannot write the encoded corpus to {directory} ({error.strerror or error}): "
            "make room, or name another folder with data.cache_directory"
        ) from error
    if read is None:
        raise DataError(f"The encoded corpus in {folder} does not read as it was written.")
    return read


def _encoded_chunks(
    pairs: StoredPairs,
    tokenizers: tuple[Tokenizer, Tokenizer],
    max_length: int,
    dropout: float = 0.0,
    seed: Sequence[int] = (0,),
) -> Iterator[list[Sequences]]:
    """Encodes some pairs at a time; of each chunk, the sequences of both sides."""
    for begin in range(0, len(pairs), _CHUNK):
        chunk = [*pairs[begin : begin + _CHUNK]]
        sides = []
        for number, tokenizer in enumerate(tokenizers):
            texts = [pair[number] for pair in chunk]
            plain = tokenizer.encode_sentences(texts)
            if dropout:
                # Its own seed for each chunk and side: 32 bits of well-mixed noise.
                noise = np.random.SeedSequence([*seed, begin, number]).generate_state(1)[0]
                drawn = tokenizer.encode_sentences(texts, dropout, int(noise))
                sides.append((plain, drawn))
            else:
                sides.append((plain, plain))
        limit = max_length + 2
        kept = [
            index
            for index in range(len(chunk))
            if all(len(plain[index]) <= limit for plain, _ in sides)
        ]
        yield [
            Sequences.from_lists(
                [drawn[i] if len(drawn[i]) <= limit else plain[i] for i in kept],
            )
            for plain, drawn in sides
        ]


def _dtype(tokenizer: Tokenizer) -> type:
    return np.uint16 if tokenizer.vocab_size <= 1 << 16 else np.int32


def _content_key(pairs: StoredPairs, tokenizers: Iterable[Tokenizer], max_length: int) -> str:
    key = hashlib.blake2b(f"{_FORMAT} {max_length}".encode(), digest_size=16)
    for tokenizer in tokenizers:
        key.update(tokenizer.fingerprint)
    for index in range(len(pairs)):
        key.update(pairs.line(index))
    return key.hexdigest()


def _write_folder(
    folder: Path, chunks: Iterable[list[Sequences]], tokenizers: tuple[Tokenizer, Tokenizer]
) -> None:
    """Writes chunks one behind the other, and last of all an index of what there should be."""
    folder.mkdir(parents=True)
    index: dict[str, Any] = {name: {"ids": 0, "sequences": 0} for name in _SIDES}
    with contextlib.ExitStack() as stack:
        files = {
            (name, kind): stack.enter_context((folder / f"{name}.{kind}").open("wb"))
            for name in _SIDES
            for kind in ("ids", "lengths")
        }
        for chunk in chunks:
            for name, sequences, tokenizer in zip(_SIDES, chunk, tokenizers, strict=True):
                sequences.ids.astype(_dtype(tokenizer)).tofile(files[name, "ids"])
                sequences.lengths.tofile(files[name, "lengths"])
                index[name]["ids"] += len(sequences.ids)
                index[name]["sequences"] += len(sequences)
                index[name]["dtype"] = np.dtype(_dtype(tokenizer)).name
    (folder / _INDEX_FILE).write_text(json.dumps(index), encoding="utf-8")


def _read_folder(folder: Path) -> EncodedPairs | None:
    """Maps a folder that `_write_folder` wrote; None if it is missing, or not as it was."""
    try:
        index = json.loads((folder / _INDEX_FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    sides = []
    for name in _SIDES:
        arrays = []
        for kind, count, dtype in (
            ("ids", index[name]["ids"], index[name]["dtype"]),
            ("lengths", index[name]["sequences"], "int32"),
        ):
            path = folder / f"{name}.{kind}"
            if not path.is_file() or path.stat().st_size != count * np.dtype(dtype).itemsize:
                return None
            # An empty file cannot be mapped.
            arrays.append(
                np.memmap(path, dtype=dtype, mode="r") if count else np.zeros(0, dtype=dtype)
            )
        sides.append(Sequences(arrays[0], np.asarray(arrays[1])))
    return EncodedPairs(*sides)
