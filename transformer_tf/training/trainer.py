"""From a configuration to a trained checkpoint."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras

from transformer_tf.checkpoint import (
    BEST_WEIGHTS,
    TOKENIZER_FOLDER,
    build_model,
    load_weights,
    save_checkpoint,
)
from transformer_tf.config import Config
from transformer_tf.errors import ConfigError, DataError
from transformer_tf.text.batching import Batch, Batches
from transformer_tf.text.corpora import Corpus, Pair, load_corpus
from transformer_tf.text.download import default_data_directory
from transformer_tf.text.tokenizer import Tokenizer
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


def as_dataset(batches: Batches) -> Any:
    """`Batches` in the form that `fit` takes on the back end in use."""
    if keras.backend.backend() != "tensorflow":
        return BatchSequence(batches)
    import tensorflow as tf

    # `fit` would guess from the first two batches of a PyDataset which sizes are fixed, and stop
    # at the first batch of another size.
    ids = tf.TensorSpec((None, None), tf.int32)
    return (
        tf.data.Dataset.from_generator(
            lambda: (batches[index] for index in range(len(batches))),
            output_signature=({"source": ids, "target_input": ids}, ids),
        )
        .apply(tf.data.experimental.assert_cardinality(len(batches)))
        .prefetch(2)
    )


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
        self.corpus = load_configured_corpus(config)
        folder.mkdir(parents=True, exist_ok=True)
        self._write_corpus_summary()
        self.source_tokenizer, self.target_tokenizer = make_tokenizers(config, self.corpus, folder)
        save_checkpoint(folder, config, self.source_tokenizer, self.target_tokenizer)

        self.batches = self._batches(self.corpus.train, shuffle=True)
        self.validation_batches = self._batches(self.corpus.validation, shuffle=False)
        self.model = build_model(config, self.source_tokenizer, self.target_tokenizer)
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

    def _batches(self, pairs: Sequence[Pair], shuffle: bool) -> Batches:
        training = self.config.training
        encode_source = self.source_tokenizer.encode_sentence
        encode_target = self.target_tokenizer.encode_sentence
        limit = self.config.data.max_length + 2  # start and end
        encoded = [(encode_source(source), encode_target(target)) for source, target in pairs]
        kept = [pair for pair in encoded if max(map(len, pair)) <= limit]
        if not kept:
            raise DataError(f"No pair is left within data.max_length={self.config.data.max_length}")
        return Batches(kept, training.tokens_per_batch, training.max_shapes, training.seed, shuffle)

    def _write_corpus_summary(self) -> None:
        counts = {name: len(getattr(self.corpus, name)) for name in ("train", "validation", "test")}
        summary = {"pairs": counts, "removed": self.corpus.removed}
        (self.folder / CORPUS_FILE).write_text(json.dumps(summary, indent=2), encoding="utf-8")

    def summary(self) -> str:
        """A few lines about what will be trained on what."""
        pairs, batches = self.corpus, self.batches
        return (
            f"{len(pairs.train)} training, {len(pairs.validation)} validation and "
            f"{len(pairs.test)} test pairs; {batches.num_target_tokens} target tokens an epoch in "
            f"{len(batches)} batches of {len(batches.shapes)} shapes, "
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
            ShuffleEachEpoch(self.batches),
            Progress(self.batches, self.config.training.epochs),
            keras.callbacks.TerminateOnNaN(),
            SaveWeights(self.folder),
            keras.callbacks.CSVLogger(metrics),
            Curves(metrics, self.folder / CURVES_FILE),
        ]
        if translate is not None:
            samples = self.config.training.samples
            callbacks.append(TranslateSamples(samples, translate, self.folder / SAMPLES_FILE))
        history = self.model.fit(
            as_dataset(self.batches),
            validation_data=as_dataset(self.validation_batches),
            epochs=self.config.training.epochs,
            callbacks=callbacks,
            shuffle=False,
            verbose=0,
        )
        if (self.folder / BEST_WEIGHTS).is_file():
            load_weights(self.model, self.folder / BEST_WEIGHTS)
        else:
            print("No epoch improved on the validation set", file=sys.stderr)
        return history


def load_configured_corpus(config: Config) -> Corpus:
    """The corpus that a configuration names, in the splits of its seed."""
    data = dataclasses.asdict(config.data)
    del data["max_length"]
    return load_corpus(data.pop("corpus"), seed=config.training.seed, **data)


def make_tokenizers(config: Config, corpus: Corpus, folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """The tokenizers of source and target: official ones, or trained on the training pairs."""
    data, settings = config.data, config.tokenizer
    if settings.kind == "bpemb":
        directory = data.directory or default_data_directory()
        return (
            Tokenizer.official(data.source_language, settings.vocab_size, directory),
            Tokenizer.official(data.target_language, settings.vocab_size, directory),
        )
    files = folder / TOKENIZER_FOLDER
    files.mkdir(parents=True, exist_ok=True)
    sources, targets = ([pair[side] for pair in corpus.train] for side in (0, 1))
    if settings.shared:
        shared = Tokenizer.train(sources + targets, settings.vocab_size, files / "source.model")
        return shared, shared
    return (
        Tokenizer.train(sources, settings.vocab_size, files / "source.model"),
        Tokenizer.train(targets, settings.vocab_size, files / "target.model"),
    )
