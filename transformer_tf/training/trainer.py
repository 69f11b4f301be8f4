"""From a configuration to a trained checkpoint."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import keras
import numpy as np

from transformer_tf.checkpoint import (
    BEST_WEIGHTS,
    SOURCE_MODEL,
    TARGET_MODEL,
    TOKENIZER_FOLDER,
    build_model,
    load_weights,
    save_checkpoint,
)
from transformer_tf.config import Config
from transformer_tf.errors import ConfigError, DataError
from transformer_tf.text.batching import Batch, Batches
from transformer_tf.text.cleaning import removed_table
from transformer_tf.text.corpora import Corpus, cache_directory, data_directory, load_corpus
from transformer_tf.text.encoded import EncodedPairs, cached_pairs, encode_pairs
from transformer_tf.text.pairs import StoredPairs
from transformer_tf.text.restoring import Truecaser
from transformer_tf.text.tokenizer import Tokenizer, training_sentences
from transformer_tf.text.vectors import official_vectors
from transformer_tf.training.callbacks import (
    Curves,
    Progress,
    SaveWeights,
    ShuffleEachEpoch,
    TranslateSamples,
)
from transformer_tf.training.losses import MaskedCrossEntropy
from transformer_tf.training.metrics import Perplexity, TokenAccuracy
from transformer_tf.training.schedule import TransformerSchedule

METRICS_FILE = "metrics.csv"
SAMPLES_FILE = "samples.txt"
CURVES_FILE = "curves.png"
CORPUS_FILE = "corpus.json"


class BatchSequence(keras.utils.PyDataset):
    """`Batches` as `fit` takes them on every back end but TensorFlow."""

    def __init__(self, batches: Batches):
        super().__init__()
        self.batches = batches

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> Batch:
        return self.batches[index]


def endless(batches: Batches) -> Iterator[Batch]:
    """One epoch of batches after the other."""
    for epoch in itertools.count():
        batches.set_epoch(epoch)
        for index in range(len(batches)):
            yield batches[index]


def as_dataset(batches: Batches) -> Any:
    """`Batches` in the form that `fit` takes on the back end in use.

    Returns:
        A dataset of one epoch; an endless one if the pairs are drawn anew each epoch, because
        `fit` wants the same number of batches of every epoch.
    """
    if keras.backend.backend() != "tensorflow":
        return endless(batches) if batches.resampled else BatchSequence(batches)
    import tensorflow as tf

    # `fit` would guess from the first two batches of a PyDataset which sizes are fixed, and stop
    # at the first batch of another size.
    ids = tf.TensorSpec((None, None), tf.int32)
    signature = ({"source": ids, "target_input": ids}, ids)
    if batches.resampled:
        dataset = tf.data.Dataset.from_generator(
            lambda: endless(batches), output_signature=signature
        )
    else:
        dataset = tf.data.Dataset.from_generator(
            lambda: (batches[index] for index in range(len(batches))), output_signature=signature
        )
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(len(batches)))
    return dataset.prefetch(2)


class Trainer:
    """Loads the data, builds the model and trains it.

    Attributes:
        corpus: The sentence pairs of the three splits.
        source_tokenizer: The tokenizer of the source language.
        target_tokenizer: The tokenizer of the target language.
        batches: The training batches.
        validation_batches: The validation batches.
        model: The compiled model.

    Args:
        config: What to train on what.
        folder: Where the run goes; made if missing.

    Raises:
        ConfigError: If the folder holds a run already, or the configuration does not fit the data.
        DataError: If the corpus cannot be had.
    """

    def __init__(self, config: Config, folder: Path):
        self.config = config
        self.folder = folder
        if folder.exists() and any(folder.iterdir()):
            raise ConfigError(f"training.directory={folder} holds files already; name a new folder")
        keras.utils.set_random_seed(config.training.seed)
        self._too_long: dict[str, int] = {}
        self.corpus = load_corpus(config.data, config.training.seed)
        folder.mkdir(parents=True, exist_ok=True)
        self.corpus.save_held_out(folder)
        self.source_tokenizer, self.target_tokenizer = make_tokenizers(config, self.corpus, folder)
        save_checkpoint(folder, config, self.source_tokenizer, self.target_tokenizer)

        self.batches = self._training_batches()
        self.validation_batches = self._batches(
            self._encode(self.corpus.validation, "validation"), shuffle=False
        )
        self._write_corpus_summary()
        self.model = build_model(config, self.source_tokenizer, self.target_tokenizer)
        if config.tokenizer.init_embeddings:
            self._init_embeddings()
        schedule = TransformerSchedule(
            config.model.d_model,
            config.training.warmup_steps,
            config.training.learning_rate_scale,
        )
        self.model.compile(
            optimizer=keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9),
            loss=MaskedCrossEntropy(config.training.label_smoothing),
            metrics=[TokenAccuracy(), Perplexity()],
            # XLA compiles every shape anew; TensorFlow's own kernels take any.
            jit_compile=keras.backend.backend() != "tensorflow",
        )

    def _training_batches(self) -> Batches:
        settings = self.config.tokenizer
        pairs = self._encode(self.corpus.train, "train")
        if not settings.dropout:
            return self._batches(pairs, shuffle=True)

        def resample(epoch: int) -> EncodedPairs:
            return encode_pairs(
                self.corpus.train,
                self.source_tokenizer,
                self.target_tokenizer,
                self.config.data.max_length,
                dropout=settings.dropout,
                seed=(self.config.training.seed, epoch),
            )

        return self._batches(
            pairs,
            shuffle=True,
            resample=resample,
            max_length=self.config.data.max_length + 2,  # start and end
        )

    def _encode(self, pairs: StoredPairs, name: str) -> EncodedPairs:
        """The pairs of a split as ids, without those that are too long to train on."""
        data = self.config.data
        encoded = cached_pairs(
            pairs,
            self.source_tokenizer,
            self.target_tokenizer,
            data.max_length,
            cache_directory(data),
        )
        self._too_long[name] = len(pairs) - len(encoded)
        if not len(encoded):
            raise DataError(f"No {name} pair is left within data.max_length={data.max_length}")
        return encoded

    def _batches(self, pairs: EncodedPairs, **options: Any) -> Batches:
        training = self.config.training
        return Batches(
            pairs, training.tokens_per_batch, training.max_shapes, training.seed, **options
        )

    def _init_embeddings(self) -> None:
        """Gives both embeddings the pretrained vectors of their BPEmb models."""
        data = self.config.data
        for tokenizer, language, embedding in (
            (self.source_tokenizer, data.source_language, self.model.source_embedding),
            (self.target_tokenizer, data.target_language, self.model.target_embedding),
        ):
            vectors = official_vectors(
                tokenizer, language, self.config.model.d_model, data_directory(data)
            )
            start = keras.ops.convert_to_numpy(embedding.embeddings)
            embedding.embeddings.assign(np.where(np.isnan(vectors), start, vectors))

    def _write_corpus_summary(self) -> None:
        summary = {
            "pairs": self.corpus.sizes,
            "removed": self.corpus.removed,
            "over max_length": self._too_long,
        }
        (self.folder / CORPUS_FILE).write_text(json.dumps(summary, indent=2), encoding="utf-8")

    def corpus_table(self) -> str:
        """What each cleaning step removed from the corpus, and what is left, as a table."""
        table = removed_table(self.corpus.removed, self.corpus.sizes)
        over = ", ".join(f"{count} {name}" for name, count in self._too_long.items())
        limit = self.config.data.max_length
        return f"{table}\nof these, over {limit} sub-words and not trained on: {over}"

    def summary(self) -> str:
        """A few lines about what will be trained on what."""
        batches = self.batches
        return (
            f"{len(batches.pairs)} training pairs, {batches.num_target_tokens} target tokens an "
            f"epoch in {len(batches)} batches of {len(batches.shapes)} shapes, "
            f"{batches.padding_share:.1%} padding\n"
            f"{self.model.count_params():,} parameters, {self.config.training.precision}, "
            f"{keras.backend.backend()}; the run goes to {self.folder}"
        )

    def fit(
        self, translate: Callable[[list[str]], list[str]] | None = None
    ) -> keras.callbacks.History:
        """Trains for the configured epochs and leaves the model with its best weights.

        Args:
            translate: Translates the sample sentences at each validation; None for no samples.

        Returns:
            The history of the metrics.
        """
        metrics = self.folder / METRICS_FILE
        callbacks: list[keras.callbacks.Callback] = [
            Progress(self.batches, self.config.training.epochs),
            keras.callbacks.TerminateOnNaN(),
            SaveWeights(self.folder),
            keras.callbacks.CSVLogger(metrics),
            Curves(metrics, self.folder / CURVES_FILE),
        ]
        steps_per_epoch = None
        if self.batches.resampled:
            steps_per_epoch = len(self.batches)
        else:
            callbacks.insert(0, ShuffleEachEpoch(self.batches))
        if translate is not None:
            samples = self.config.training.samples
            callbacks.append(TranslateSamples(samples, translate, self.folder / SAMPLES_FILE))
        history = self.model.fit(
            as_dataset(self.batches),
            validation_data=as_dataset(self.validation_batches),
            epochs=self.config.training.epochs,
            steps_per_epoch=steps_per_epoch,
            callbacks=callbacks,
            shuffle=False,
            verbose=0,
        )
        if (self.folder / BEST_WEIGHTS).is_file():
            load_weights(self.model, self.folder / BEST_WEIGHTS)
        else:
            print("No epoch improved on the validation set", file=sys.stderr)
        return history


def make_tokenizers(config: Config, corpus: Corpus, folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """The tokenizers of source and target: official ones, or trained on the training pairs.

    Args:
        config: Which ones.
        corpus: The training pairs, to train them on or to learn the capitals from.
        folder: The folder of the run.
    """
    data, settings = config.data, config.tokenizer
    sources, targets = (training_sentences(corpus.train, side) for side in (0, 1))
    if settings.kind == "bpemb":
        directory = data_directory(data)
        source = Tokenizer.official(data.source_language, settings.vocab_size, directory)
        target = Tokenizer.official(data.target_language, settings.vocab_size, directory)
        target.truecaser = Truecaser.learn(targets)
        return source, target
    (folder / TOKENIZER_FOLDER).mkdir(parents=True, exist_ok=True)
    if settings.shared:
        shared = Tokenizer.train(
            chain(sources, targets), settings.vocab_size, folder / SOURCE_MODEL
        )
        return shared, shared
    return (
        Tokenizer.train(sources, settings.vocab_size, folder / SOURCE_MODEL),
        Tokenizer.train(targets, settings.vocab_size, folder / TARGET_MODEL),
    )
