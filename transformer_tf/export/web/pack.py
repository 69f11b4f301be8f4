"""A checkpoint as one block of bytes that the page's engine reads: `engine/pack.js`.

| bytes | content |
| --- | --- |
| 4 | length of the header, little-endian |
| … | the header: JSON in UTF-8, padded with spaces to end at a multiple of 16 bytes |
| … | the tensors, each beginning at a multiple of 16 bytes |
"""

from __future__ import annotations

import gzip
import json
import os
import string
import struct
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sentencepiece import sentencepiece_model_pb2

from transformer_tf.checkpoint import model_arguments, open_checkpoint
from transformer_tf.config import Config
from transformer_tf.config.schema import MAX_EXTRA_LENGTH, MAX_LENGTH_RATIO
from transformer_tf.errors import CheckpointError
from transformer_tf.text.placeholders import Placeholders, load_table, make_placeholders
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.utils.languages import common_words
from transformer_tf.weights import by_layer, quantize, read_weights, weight_shapes

Quantization = Literal["int8", "float16"]

ALIGNMENT = 16  # of tensors in bytes, and of rows in numbers: what the kernel reads at a time
_DIGITS = string.digits + string.ascii_lowercase
ARRAYS = {
    "embedding": ("embeddings", "position_embeddings"),
    "norm": ("gamma", "beta"),
    "": ("kernel", "bias"),
}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, _, BYTE = range(1, 7)  # types of SentencePiece's pieces


def pack_checkpoint(folder: Path, quantization: Quantization = "int8") -> bytes:
    """Packs a checkpoint for the page, compressed with gzip.

    Args:
        folder: The checkpoint.
        quantization: How matrices are stored: `"int8"` with a scale for each row, or `"float16"`.
            Vectors (biases, norms) are `float32`.

    Raises:
        CheckpointError: If the checkpoint cannot be read, or the page does not support its
            tokenizer.
    """
    config, path, source, target = open_checkpoint(folder)
    weights = read_weights(path, weight_shapes(**model_arguments(config, source, target)))
    tensors: dict[str, npt.NDArray[Any]] = {}
    for layer, arrays in by_layer(weights).items():
        kind = next(kind for kind in ARRAYS if layer.endswith(kind))
        for name, value in zip(ARRAYS[kind], arrays, strict=False):
            tensors.update(_pack_tensor(f"{layer}/{name}", value, quantization))
    header = _header(config, source, target)
    header["model"]["num_decoder_layers"] = len(weights["decoder"]["layers"])
    return gzip.compress(write_pack(header, tensors), mtime=0)


def write_pack(header: dict[str, Any], tensors: dict[str, npt.NDArray[Any]]) -> bytes:
    """Writes a pack.

    Args:
        header: The header; the table of the tensors is added.
        tensors: Arrays `(rows, stride)` by name.
    """
    table, data = {}, bytearray()
    for name, values in tensors.items():
        table[name] = {
            "offset": len(data),
            "type": values.dtype.name,
            "rows": values.shape[0],
            "stride": values.shape[1],
        }
        data += values.tobytes()
        data += bytes(-len(data) % ALIGNMENT)
    text = json.dumps({**header, "tensors": table}, ensure_ascii=False).encode()
    text += b" " * (-(len(text) + 4) % ALIGNMENT)
    return struct.pack("<I", len(text)) + text + data


def _pack_tensor(
    name: str, value: npt.NDArray[np.float32], quantization: Quantization
) -> dict[str, npt.NDArray[Any]]:
    if value.ndim == 1 or name.endswith("position_embeddings"):
        return {name: value.reshape(1, -1)}
    # A row for each output: a column of a linear layer, or a token of an embedding.
    rows = value if name.endswith("embeddings") else value.T
    rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % ALIGNMENT)))
    if quantization == "float16":
        if np.abs(rows).max() > np.finfo(np.float16).max:
            raise CheckpointError(f"A weight of {name} is too large for float16")
        return {name: np.ascontiguousarray(rows, dtype=np.float16)}
    steps, scales = quantize(rows)
    return {name: np.ascontiguousarray(steps), f"{name}/scale": scales.T}


def _header(config: Config, source: Tokenizer, target: Tokenizer) -> dict[str, Any]:
    model, decoding, alignment = config.model, config.decoding, config.decoding.alignment
    languages = {"source": config.data.source_language, "target": config.data.target_language}
    return {
        "model": {
            "num_layers": model.num_layers,
            "d_model": model.d_model,
            "num_heads": model.num_heads,
            "pre_norm": model.pre_norm,
            "position": model.position,
            "pad_id": source.pad_id,
        },
        "decoding": {
            "beam_size": decoding.beam_size,
            "length_penalty": decoding.length_penalty,
            "max_length": decoding.max_length,
            "split_sentences": decoding.split_sentences,
            "max_length_ratio": MAX_LENGTH_RATIO,
            "max_extra_length": MAX_EXTRA_LENGTH,
            **{"top_k": 0, "top_p": 1.0, "seed": 0},  # where the page's sampling begins
        },
        "alignment_heads": alignment.maps() if alignment else [],
        "alignment_query": alignment.query if alignment else "output",
        "max_source_length": config.data.max_length,
        "languages": languages,
        "common_words": {side: common_words(code) for side, code in languages.items()},
        "placeholders": placeholders_header(make_placeholders(config.data, source)),
        "tokenizers": {"source": tokenizer_header(source), "target": tokenizer_header(target)},
    }


def placeholders_header(placeholders: Placeholders | None) -> dict[str, Any] | None:
    """Returns what `engine/placeholders.js` needs besides the characters of the source."""
    if placeholders is None:
        return None
    known_words = placeholders.known_words
    return {
        "source": load_table(placeholders.source_language),
        "target": load_table(placeholders.target_language),
        "target_language": placeholders.target_language,
        "copies_unknown": placeholders.alphabet is not None,
        "known_words": None if known_words is None else front_coded(known_words),
    }


def front_coded(words: Iterable[str]) -> str:
    """Joins words, each as the number of its first letters that the word before has, and the rest.

    The number is one digit in base 36: "boat" and "boats" become "0boat 4s". This makes the single
    file of `checkpoints/en-de` 0.1 of 12.5 MB smaller.
    """
    parts, before = [], ""
    for word in sorted(words):
        prefix = os.path.commonprefix([before, word])[: len(_DIGITS) - 1]
        # JavaScript counts a letter above U+FFFF as two.
        shared = len(list(takewhile(lambda letter: letter <= "\uffff", prefix)))
        parts.append(f"{_DIGITS[shared]}{word[shared:]}")
        before = word
    return " ".join(parts)


def tokenizer_header(tokenizer: Tokenizer) -> dict[str, Any]:
    """Returns the pieces of a tokenizer: control pieces, symbols and bytes, then merges in order.

    Raises:
        CheckpointError: If `engine/tokenizer.js` would split text differently.
    """
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(tokenizer.content)
    pieces, spec = proto.pieces, proto.trainer_spec
    merged = [piece for piece in pieces if piece.type == NORMAL]
    first = len(pieces) - len(merged)
    reasons = {
        "lower-cases": tokenizer.lowercase,
        "normalizes text": (
            proto.normalizer_spec.precompiled_charsmap
            and not (tokenizer.space_after_opening_marks and _keeps(tokenizer, "ﬁ①ｈe\u0301½"))
        ),
        "is no BPE model": spec.model_type != spec.BPE,
        "has no pieces for bytes": not spec.byte_fallback,
        "has pieces of several words": any("▁" in piece.piece[1:] for piece in merged),
        "has symbols of several characters": any(
            len(piece.piece) > 1 for piece in pieces if piece.type == USER_DEFINED
        ),
        "has pieces in another order": (
            any(
                piece.type not in (UNKNOWN, CONTROL, USER_DEFINED, BYTE) for piece in pieces[:first]
            )
            or any(one.score <= other.score for one, other in zip(merged, merged[1:], strict=False))
        ),
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    if reason:
        raise CheckpointError(
            f"The web page does not support this tokenizer: {tokenizer.model_file} {reason}"
        )
    return {
        "pieces": [piece.piece for piece in pieces],
        "first_merge": first,
        "unk_id": tokenizer.unk_id,
        "space_after_opening_marks": tokenizer.space_after_opening_marks,
    }


def _keeps(tokenizer: Tokenizer, text: str) -> bool:
    """Returns whether SentencePiece leaves the characters of a word as they are."""
    return bool(tokenizer.processor.normalize(text) == f"▁{text}")
