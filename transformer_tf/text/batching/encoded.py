"""Encoded sentences in flat arrays, in memory or memory-mapped from a cache on disk."""

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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from transformer_tf.errors import DataError

if TYPE_CHECKING:
    from transformer_tf.text.corpora.pairs import StoredPairs
    from transformer_tf.text.tokenization.tokenizer import Tokenizer

_FORMAT = "2"  # version of the files and of the ids
_CHUNK = 20_000  # pairs that are encoded together
_SIDES = ("source", "target")
_WEIGHTS_FILE = "weights"
_INDEX_FILE = "index.json"


class Sequences(Sequence[np.ndarray]):
    """Integer sequences of different lengths, one after the other in a single array.

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
        """Joins lists of ids in one array."""
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
        weights: How often an epoch shows each pair, `(num_pairs,)`; None for once.
    """

    source: Sequences
    target: Sequences
    weights: np.ndarray | None = None

    @classmethod
    def from_lists(cls, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> EncodedPairs:
        """Joins pairs of lists of ids in arrays."""
        source, target = (Sequences.from_lists([pair[side] for pair in pairs]) for side in (0, 1))
        return cls(source, target)

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
    """Encodes pairs and removes those with a side that is too long.

    Args:
        pairs: Sentence pairs.
        source_tokenizer: The tokenizer of the sources.
        target_tokenizer: The tokenizer of the targets.
        max_length: Maximum number of sub-words of a side, without start and end.
        dropout: Share of the merges that BPE-dropout skips (Provilkov et al. 2020). A sentence
            that dropout makes too long is encoded without it.
        seed: Seed of the dropout, one number or several.

    Returns:
        The pairs, in memory and in their order.
    """
    tokenizers = source_tokenizer, target_tokenizer
    chunks = list(_encoded_chunks(pairs, tokenizers, max_length, dropout, seed))
    sides = []
    for number, tokenizer in enumerate(tokenizers):
        ids = np.concatenate([chunk.sides[number].ids for chunk in chunks])
        lengths = np.concatenate([chunk.sides[number].lengths for chunk in chunks])
        sides.append(Sequences(ids.astype(_dtype(tokenizer)), lengths))
    return EncodedPairs(sides[0], sides[1], np.concatenate([chunk.weights for chunk in chunks]))


def cached_pairs(
    pairs: StoredPairs,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    max_length: int,
    directory: Path,
) -> EncodedPairs:
    """Encodes pairs as `encode_pairs` does, and caches them on disk.

    The name of their folder is a hash of everything that the ids depend on: the sentences, both
    models and `max_length`. The folder appears only when complete.

    Args:
        pairs: Sentence pairs.
        source_tokenizer: The tokenizer of the sources.
        target_tokenizer: The tokenizer of the targets.
        max_length: Maximum number of sub-words of a side, without start and end.
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
        from filelock import FileLock

        # Other processes that need the same pairs wait here.
        with FileLock(directory / f".{folder.name}.lock"):
            if (found := _read_folder(folder)) is not None:
                return found
            for leftover in (partial, folder):  # from a killed process, or damaged
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
            "free some space, or choose another folder with data.cache_directory"
        ) from error
    if read is None:
        raise DataError(f"The encoded corpus in {folder} is damaged: delete it and run again.")
    return read


class _Chunk(NamedTuple):
    """Some encoded pairs: the sequences of both sides, and the weight of each pair."""

    sides: list[Sequences]
    weights: np.ndarray


def _encoded_chunks(
    pairs: StoredPairs,
    tokenizers: tuple[Tokenizer, Tokenizer],
    max_length: int,
    dropout: float = 0.0,
    seed: Sequence[int] = (0,),
) -> Iterator[_Chunk]:
    """Encodes the pairs in chunks."""
    for begin in range(0, len(pairs), _CHUNK):
        selected = pairs[begin : begin + _CHUNK]
        chunk = [*selected]
        sides = []
        for number, tokenizer in enumerate(tokenizers):
            texts = [pair[number] for pair in chunk]
            plain = drawn = tokenizer.encode_sentences(texts)
            if dropout:
                own_seed = np.random.SeedSequence([*seed, begin, number]).generate_state(1)[0]
                drawn = tokenizer.encode_sentences(texts, dropout, int(own_seed))
            sides.append((plain, drawn))
        limit = max_length + 2
        kept = [
            index
            for index in range(len(chunk))
            if all(len(plain[index]) <= limit for plain, _ in sides)
        ]
        sequences = [
            Sequences.from_lists(
                [drawn[i] if len(drawn[i]) <= limit else plain[i] for i in kept],
            )
            for plain, drawn in sides
        ]
        yield _Chunk(sequences, selected.weights[kept])


def _dtype(tokenizer: Tokenizer) -> type:
    return np.uint16 if tokenizer.vocab_size <= 1 << 16 else np.int32


def _content_key(pairs: StoredPairs, tokenizers: Iterable[Tokenizer], max_length: int) -> str:
    key = hashlib.blake2b(f"{_FORMAT} {max_length}".encode(), digest_size=16)
    for tokenizer in tokenizers:
        key.update(tokenizer.fingerprint)
    for index in range(len(pairs)):
        key.update(pairs.line(index))
    key.update(pairs.weights.tobytes())
    return key.hexdigest()


def _write_folder(
    folder: Path, chunks: Iterable[_Chunk], tokenizers: tuple[Tokenizer, Tokenizer]
) -> None:
    """Writes the chunks, then an index with their sizes."""
    folder.mkdir(parents=True)
    index: dict[str, Any] = {name: {"ids": 0, "sequences": 0} for name in _SIDES}
    with contextlib.ExitStack() as stack:
        files = {
            (name, kind): stack.enter_context((folder / f"{name}.{kind}").open("wb"))
            for name in _SIDES
            for kind in ("ids", "lengths")
        }
        weights = stack.enter_context((folder / _WEIGHTS_FILE).open("wb"))
        for chunk in chunks:
            chunk.weights.astype(np.float32).tofile(weights)
            for name, sequences, tokenizer in zip(_SIDES, chunk.sides, tokenizers, strict=True):
                sequences.ids.astype(_dtype(tokenizer)).tofile(files[name, "ids"])
                sequences.lengths.tofile(files[name, "lengths"])
                index[name]["ids"] += len(sequences.ids)
                index[name]["sequences"] += len(sequences)
                index[name]["dtype"] = np.dtype(_dtype(tokenizer)).name
    (folder / _INDEX_FILE).write_text(json.dumps(index), encoding="utf-8")


def _read_folder(folder: Path) -> EncodedPairs | None:
    """Maps the files of `_write_folder` into memory; None if they are missing or damaged."""
    try:
        index = json.loads((folder / _INDEX_FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    files = [(_WEIGHTS_FILE, index["source"]["sequences"], "float32")]
    for name in _SIDES:
        files.append((f"{name}.ids", index[name]["ids"], index[name]["dtype"]))
        files.append((f"{name}.lengths", index[name]["sequences"], "int32"))
    arrays = {}
    for name, count, dtype in files:
        path = folder / name
        if not path.is_file() or path.stat().st_size != count * np.dtype(dtype).itemsize:
            return None
        # An empty file cannot be mapped.
        arrays[name] = np.memmap(path, dtype, mode="r") if count else np.zeros(0, dtype)
    sides = [
        Sequences(arrays[f"{name}.ids"], np.asarray(arrays[f"{name}.lengths"])) for name in _SIDES
    ]
    return EncodedPairs(sides[0], sides[1], np.asarray(arrays[_WEIGHTS_FILE]))
