"""Makes the tokenizers and the training and validation batches of a run from its corpus."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from transformer_tf.checkpoint import (
    CONFIG_FILE,
    SOURCE_MODEL,
    TARGET_MODEL,
    TOKENIZER_FOLDER,
    open_checkpoint,
    save_checkpoint,
)
from transformer_tf.config import Config, DataConfig, TrainingConfig, load_saved_config, save_config
from transformer_tf.errors import ConfigError, DataError
from transformer_tf.runs.folder import CORPUS_FILE
from transformer_tf.text.batching.batches import Batches
from transformer_tf.text.batching.encoded import EncodedPairs, encode_pairs
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.text.corpora.corpus import (
    HELD_OUT,
    Corpus,
    load_held_out,
    tag_names,
)
from transformer_tf.text.corpora.sources import data_directory
from transformer_tf.text.slots import learn_known_words, make_slots, with_slots
from transformer_tf.text.tokenization.restoring import Truecaser
from transformer_tf.text.tokenization.tokenizer import (
    Tokenizer,
    auto_vocab_size,
    training_sentences,
)
from transformer_tf.training.distribution import ProcessGroup, check_equal
from transformer_tf.utils.files import atomic_write_bytes

_HASH_BLOCK = 1_000_000  # ids hashed at a time, since all of them may not fit in memory


def make_tokenizers(config: Config, corpus: Corpus, folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Loads tokenizers or trains new ones on the training pairs.

    Args:
        config: The configuration; its `data` and `tokenizer` sections are used.
        corpus: The corpus. Official tokenizers learn capitalization from it.
        folder: The folder to write trained models to.

    Returns:
        The source and the target tokenizer.

    Raises:
        CheckpointError: If `training.start_from` is not a complete checkpoint.
        ConfigError: If `data.mix` has tags that its tokenizer lacks.
    """
    data, settings = config.data, config.tokenizer
    if config.training.start_from is not None:
        return _tokenizers_of(config.training.start_from.expanduser(), data)
    sources, targets = (training_sentences(corpus.train, side) for side in (0, 1))
    if settings.kind == "bpemb":
        size, directory = int(settings.vocab_size), data_directory(data)
        source = Tokenizer.official(data.source_language, size, directory)
        target = Tokenizer.official(data.target_language, size, directory)
        target.truecaser = Truecaser.learn(targets)
        return source, target
    (folder / TOKENIZER_FOLDER).mkdir(parents=True, exist_ok=True)
    tags = tag_names(data)
    auto = settings.vocab_size == "auto"
    size = auto_vocab_size(len(corpus.train)) if auto else int(settings.vocab_size)
    if settings.shared:
        sentences = chain(sources, targets)
        shared = Tokenizer.train(sentences, size, folder / SOURCE_MODEL, tags, exact=not auto)
        return shared, shared
    return (
        Tokenizer.train(sources, size, folder / SOURCE_MODEL, tags, exact=not auto),
        Tokenizer.train(targets, size, folder / TARGET_MODEL, exact=not auto),
    )


def _tokenizers_of(checkpoint: Path, data: DataConfig) -> tuple[Tokenizer, Tokenizer]:
    _, _, source, target = open_checkpoint(checkpoint)
    tags = tag_names(data)
    if (tags or data.slots) and not source.has_reserved:
        raise ConfigError(
            f"The tokenizer of training.start_from={checkpoint} has no reserved sub-words, which "
            "data.slots and the tags of data.mix need"
        )
    source.tags = tags or source.tags
    return source, target


def start_checkpoint(
    config: Config, corpus: Corpus, folder: Path, group: ProcessGroup
) -> tuple[Tokenizer, Tokenizer]:
    """Makes the tokenizers of a new run and writes its checkpoint, without the weights.

    Args:
        config: The configuration of the run.
        corpus: The corpus.
        folder: The folder of the run.
        group: The processes of the run. Each makes the same tokenizers; the main process writes.

    Returns:
        The source and the target tokenizer.

    Raises:
        ConfigError: If the processes made different tokenizers.
    """
    if group.is_main:
        corpus.save_held_out(folder)
        tokenizers = make_tokenizers(config, corpus, folder)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            tokenizers = make_tokenizers(config, corpus, Path(scratch))
    if config.data.slots:
        before, now = tokenizers[0].known_words, learn_known_words(corpus.train)
        # The known words of the checkpoint to start from stay known.
        tokenizers[0].known_words = now if before is None else before | (now or frozenset())
    fingerprint = "".join(tokenizer.fingerprint.hex() for tokenizer in tokenizers)
    check_equal(group, "tokenizers", fingerprint)
    if group.is_main:
        save_checkpoint(folder, config, *tokenizers)
    return tokenizers


def resume_checkpoint(
    config: Config, corpus: Corpus, folder: Path, group: ProcessGroup
) -> tuple[Tokenizer, Tokenizer]:
    """Reads the tokenizers of a run and updates its saved configuration.

    Args:
        config: The configuration to resume the run with.
        corpus: The corpus.
        folder: The folder of the run.
        group: The processes of the run.

    Returns:
        The source and the target tokenizer.

    Raises:
        DataError: If the corpus has other held-out pairs than the run.
    """
    for name in HELD_OUT:
        if load_held_out(folder, name) != list(getattr(corpus, name)):
            raise DataError(f"The {name} pairs are not those that the run in {folder} began with")
    tokenizers = Tokenizer.load(folder / SOURCE_MODEL), Tokenizer.load(folder / TARGET_MODEL)
    if group.is_main and load_saved_config(folder / CONFIG_FILE) != config:
        save_config(config, folder / CONFIG_FILE)
    return tokenizers


class TrainingData:
    """The encoded pairs of a corpus as training and validation batches.

    Args:
        config: The configuration; its `data`, `tokenizer` and `training` sections are used.
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
        config: Config,
        corpus: Corpus,
        tokenizers: tuple[Tokenizer, Tokenizer],
        rows_multiple: int = 1,
    ):
        self.config = config.data
        self.corpus = corpus
        self.tokenizers = tokenizers
        self.over_length: dict[str, int] = {}
        training = config.training

        self.train = self._batches("train", corpus.train, training, rows_multiple, corpus.weights)
        self.validation = self._batches("validation", corpus.validation, training, rows_multiple)
        self.fingerprint = _fingerprint(self.train.pairs)

    def write_summary(self, folder: Path) -> None:
        """Writes the numbers of pairs kept, removed and by source to `corpus.json`."""
        summary = self.corpus.summary() | {"over max_length": self.over_length}
        atomic_write_bytes(folder / CORPUS_FILE, json.dumps(summary, indent=2).encode())

    def table(self) -> str:
        """Formats the number of pairs that each cleaning step removed, and those left."""
        table = self.corpus.table()
        over = ", ".join(f"{count} {name}" for name, count in self.over_length.items())
        return f"{table}\nleft out, over {self.config.max_length} sub-words: {over}"

    def _batches(
        self,
        name: str,
        pairs: Sequence[Pair],
        training: TrainingConfig,
        rows_multiple: int,
        weights: np.ndarray | None = None,
    ) -> Batches:
        """Encodes a split and groups it into batches, without the pairs that are too long."""
        slots = make_slots(self.config, self.tokenizers[0].known_words)
        if slots is not None:
            pairs = with_slots(pairs, slots)
        max_length = self.config.max_length
        encoded = encode_pairs(pairs, *self.tokenizers, max_length, weights)
        self.over_length[name] = len(pairs) - len(encoded)
        if not len(encoded):
            raise DataError(f"No {name} pair is left within data.max_length={max_length}")
        return Batches(
            encoded,
            training.tokens_per_batch,
            training.max_buckets,
            training.seed,
            shuffle=name == "train",
            rows_multiple=rows_multiple,
        )


def _fingerprint(pairs: EncodedPairs) -> str:
    digest = hashlib.sha256()
    for side in (pairs.source, pairs.target):
        digest.update(np.ascontiguousarray(side.lengths, dtype="int64").tobytes())
        for begin in range(0, len(side.ids), _HASH_BLOCK):
            block = side.ids[begin : begin + _HASH_BLOCK]
            digest.update(np.ascontiguousarray(block, dtype="int32").tobytes())
    return digest.hexdigest()
