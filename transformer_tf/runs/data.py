"""The training and validation batches of a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from transformer_tf.config import DataConfig, TrainingConfig
from transformer_tf.errors import DataError
from transformer_tf.runs.folder import CORPUS_FILE
from transformer_tf.runs.tokenizers import Tokenizers
from transformer_tf.text.batching.batches import Batches
from transformer_tf.text.batching.encoded import EncodedPairs, encode_pairs
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.text.corpora.corpus import HELD_OUT, Corpus, load_held_out
from transformer_tf.text.placeholders import make_placeholders, with_placeholders
from transformer_tf.utils.files import atomic_write_bytes

_HASH_BLOCK = 1_000_000  # ids hashed at a time, since all of them may not fit in memory


class TrainingData:
    """The encoded pairs of a corpus as training and validation batches.

    Args:
        data: The section `data` of the configuration.
        training: The section `training`.
        corpus: The corpus.
        tokenizers: The source and the target tokenizer.
        rows_multiple: The number of rows of each batch is a multiple of this.

    Attributes:
        train: The training batches.
        validation: The validation batches.
        over_length: Number of pairs of each split that exceed `data.max_length`.
        fingerprint: A hash of the training pairs.

    Raises:
        DataError: If a split has no pair within `data.max_length`.
    """

    def __init__(
        self,
        data: DataConfig,
        training: TrainingConfig,
        corpus: Corpus,
        tokenizers: Tokenizers,
        rows_multiple: int = 1,
    ):
        self.max_length = data.max_length
        self.corpus = corpus
        self.over_length: dict[str, int] = {}
        placeholders = make_placeholders(data, tokenizers[0])

        def make_batches(
            name: str, pairs: Sequence[Pair], weights: np.ndarray | None = None
        ) -> Batches:
            if placeholders is not None:
                pairs = with_placeholders(pairs, placeholders)
            encoded = encode_pairs(pairs, *tokenizers, data.max_length, weights)
            self.over_length[name] = len(pairs) - len(encoded)
            if not len(encoded):
                raise DataError(f"No {name} pair is left within data.max_length={data.max_length}")
            return Batches(
                encoded,
                training.tokens_per_batch,
                training.max_buckets,
                training.seed,
                shuffle=name == "train",
                rows_multiple=rows_multiple,
            )

        self.train = make_batches("train", corpus.train, corpus.weights)
        self.validation = make_batches("validation", corpus.validation)
        self.fingerprint = _fingerprint(self.train.pairs)

    def write_summary(self, folder: Path) -> None:
        """Writes the numbers of pairs kept, removed and by source to `corpus.json`."""
        summary = self.corpus.summary() | {"over max_length": self.over_length}
        atomic_write_bytes(folder / CORPUS_FILE, json.dumps(summary, indent=2).encode())

    def table(self) -> str:
        """Formats the number of pairs that each cleaning step removed, and those left."""
        over = ", ".join(f"{count} {name}" for name, count in self.over_length.items())
        return f"{self.corpus.table()}\nleft out, over {self.max_length} sub-words: {over}"


def check_held_out(corpus: Corpus, folder: Path) -> None:
    """Checks that a corpus has the validation and test pairs of a run.

    Raises:
        DataError: If it does not.
    """
    for name in HELD_OUT:
        if load_held_out(folder, name) != list(getattr(corpus, name)):
            raise DataError(f"The {name} pairs are not those that the run in {folder} began with")


def _fingerprint(pairs: EncodedPairs) -> str:
    digest = hashlib.sha256()
    for side in (pairs.source, pairs.target):
        digest.update(np.ascontiguousarray(side.lengths, dtype="int64").tobytes())
        for begin in range(0, len(side.ids), _HASH_BLOCK):
            block = side.ids[begin : begin + _HASH_BLOCK]
            digest.update(np.ascontiguousarray(block, dtype="int32").tobytes())
    return digest.hexdigest()
