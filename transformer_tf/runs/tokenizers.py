"""The tokenizers of a run: made from its training pairs, taken from a checkpoint, or resumed."""

from __future__ import annotations

import copy
from itertools import chain
from pathlib import Path

from transformer_tf.checkpoint import (
    SOURCE_MODEL,
    TARGET_MODEL,
    TOKENIZER_FOLDER,
    open_checkpoint,
)
from transformer_tf.config import DataConfig, TokenizerConfig
from transformer_tf.text.corpora.corpus import Corpus, tag_names
from transformer_tf.text.corpora.sources import data_directory
from transformer_tf.text.placeholders import learn_known_words
from transformer_tf.text.tokenization.tokenizer import (
    Tokenizer,
    auto_vocab_size,
    training_sentences,
)

Tokenizers = tuple[Tokenizer, Tokenizer]
"""The source and the target tokenizer."""


def make_tokenizers(
    settings: TokenizerConfig,
    data: DataConfig,
    corpus: Corpus,
    folder: Path,
    start_from: Path | None = None,
) -> Tokenizers:
    """Makes the tokenizers of a new run.

    Args:
        settings: The section `tokenizer` of the configuration.
        data: The section `data`.
        corpus: The corpus. New tokenizers learn sub-words and known words from it.
        folder: The folder to write trained models to.
        start_from: The checkpoint to take the tokenizers from, or None.

    Raises:
        CheckpointError: If it is not a complete checkpoint.
    """
    if start_from is not None:
        source, target = _tokenizers_of(start_from.expanduser(), data)
    else:
        source, target = _new_tokenizers(settings, data, corpus, folder)
    if data.placeholders:
        if target is source:
            target = copy.copy(source)  # only the source needs known words
        before, now = source.known_words, learn_known_words(corpus.train, data.source_language)
        # The known words of the checkpoint to start from stay known.
        source.known_words = now if before is None else before | (now or frozenset())
    return source, target


def resumed_tokenizers(folder: Path) -> Tokenizers:
    """Loads the tokenizers of a run."""
    return Tokenizer.load(folder / SOURCE_MODEL), Tokenizer.load(folder / TARGET_MODEL)


def _new_tokenizers(
    settings: TokenizerConfig, data: DataConfig, corpus: Corpus, folder: Path
) -> Tokenizers:
    """Trains tokenizers on the training pairs, or loads the official ones."""
    sources, targets = (training_sentences(corpus.train, side) for side in (0, 1))
    if settings.kind == "bpemb":
        size, directory = int(settings.vocab_size), data_directory()
        source = Tokenizer.official(data.source_language, size, directory)
        target = Tokenizer.official(data.target_language, size, directory)
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


def _tokenizers_of(checkpoint: Path, data: DataConfig) -> Tokenizers:
    """Loads the tokenizers of the checkpoint that a run starts from."""
    _, _, source, target = open_checkpoint(checkpoint)
    source.tags = tag_names(data) or source.tags
    return source, target
