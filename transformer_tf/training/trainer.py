"""From a configuration to a trained checkpoint, in as many parts as it takes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sys
import tempfile
import time
import types
from itertools import chain
from pathlib import Path
from typing import Any

import keras
import numpy as np
from filelock import FileLock, Timeout

from transformer_tf.checkpoint import (
    BEST_WEIGHTS,
    CONFIG_FILE,
    LAST_WEIGHTS,
    SOURCE_MODEL,
    TARGET_MODEL,
    TOKENIZER_FOLDER,
    build_model,
    load_weights,
    save_checkpoint,
    save_weights,
)
from transformer_tf.config import Config, load_config, save_config
from transformer_tf.errors import (
    CheckpointError,
    ConfigError,
    DataError,
    Interrupted,
    TrainingDivergedError,
)
from transformer_tf.files import write_whole
from transformer_tf.scoring import score
from transformer_tf.startup import command_line
from transformer_tf.text.batching import Batches
from transformer_tf.text.cleaning import removed_table
from transformer_tf.text.corpora import (
    HELD_OUT,
    Corpus,
    cache_directory,
    data_directory,
    load_corpus,
    load_held_out,
)
from transformer_tf.text.encoded import EncodedPairs, cached_pairs, encode_pairs
from transformer_tf.text.pairs import StoredPairs
from transformer_tf.text.restoring import Truecaser
from transformer_tf.text.tokenizer import Tokenizer, training_sentences
from transformer_tf.text.variants import with_variants
from transformer_tf.text.vectors import official_vectors
from transformer_tf.training.averaging import WeightAverage
from transformer_tf.training.callbacks import (
    AverageWeights,
    ProgressBar,
    SaveNowAndThen,
    StopOnDivergence,
    StopSignal,
)
from transformer_tf.training.distribution import Group, check_all_alike, share_batches
from transformer_tf.training.model import compile_training_model
from transformer_tf.training.reports import TensorBoard, Translates, draw_curves, write_metrics
from transformer_tf.training.state import Progress, load_state, remove_leftovers, save_state
from transformer_tf.training.stream import BatchStream, as_dataset
from transformer_tf.transformer import Transformer

METRICS_FILE = "metrics.csv"
SAMPLES_FILE = "samples.txt"
CURVES_FILE = "curves.png"
CORPUS_FILE = "corpus.json"
LOCK_FILE = ".lock"
_IDS_AT_A_TIME = 1_000_000


class Trainer:
    """Loads the data, builds the model and trains it.

    Attributes:
        corpus: The sentence pairs of the three splits.
        source_tokenizer: The tokenizer of the source language.
        target_tokenizer: The tokenizer of the target language.
        batches: The training batches.
        model: The Transformer that is trained.
        translation_model: The same for use between the steps. A copy where translations are
            computed in another precision, and in one of several processes, because what is shared
            among them can only be used by all at once.
        training_model: The compiled model with its loss.
        progress: How far the run has come.
        max_steps: Number of batches to train on in all.

    Args:
        config: What to train on what.
        folder: Where the run goes; made if missing.
        resume: Whether to go on with the run in the folder.
        group: The processes that share the run, started with `distribution.join`.

    Raises:
        ConfigError: If the folder holds files already and `resume` is not asked for, if another
            process trains in it, or if the configuration does not fit the data.
        DataError: If the corpus cannot be had, or is not the one the run began with.
        CheckpointError: If all states to resume from are damaged.
    """

    def __init__(
        self, config: Config, folder: Path, resume: bool = False, group: Group | None = None
    ):
        self.config = config
        self.folder = folder
        self.group = group or Group()
        if self.group.size > 1:
            _check_several_processes(config)
        if not resume and self.group.writes and folder.exists() and _in_use(folder):
            raise ConfigError(
                f"training.directory={folder} holds files already: name a new folder, or go on "
                f"with the run in it: --resume {folder}"
            )
        training = config.training
        self._too_long: dict[str, int] = {}
        self.corpus = load_corpus(config.data, training.seed)
        if self.group.writes:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _lock(folder)
            remove_leftovers(folder)
        self._prepare_tokenizers(resume)

        several = self.group.size > 1
        precision = config.decoding.precision
        copy = None
        if several or precision != training.precision:
            copy = self._build_model(precision)  # before it would be shared, too
        self._rows_multiple = share_batches(training.devices, self.group)
        self.batches = self._training_batches()
        self._stream = BatchStream(
            self.batches, training.accumulation_steps, self.group.number, self.group.size
        )
        self._validation = BatchStream(
            self._batches(self._encode(self.corpus.validation, "validation"), shuffle=False),
            process=self.group.number,
            processes=self.group.size,
        )
        fingerprint = _fingerprint(self.batches.pairs)
        check_all_alike(self.group, "training pairs", fingerprint)
        if self.group.writes:
            self._write_corpus_summary()
        self.max_steps = min(
            training.max_epochs * self._stream.steps_per_epoch,
            training.max_steps or sys.maxsize,
        )
        # Batches of a last, incomplete group would be computed for nothing.
        self.max_steps -= self.max_steps % training.accumulation_steps
        if not self.max_steps:
            raise ConfigError(
                f"The training ends before training.accumulation_steps="
                f"{training.accumulation_steps} batches make an update"
            )
        keras.utils.set_random_seed(training.seed)
        self.model = self._build_model()
        self.translation_model = copy or self.model
        if config.tokenizer.init_embeddings:
            self._init_embeddings()
        self.training_model = compile_training_model(self.model, config, self.max_steps)
        self.average = WeightAverage(training.average_decay) if training.average_decay else None
        self._last_saved: int | None = None
        self.progress = Progress(fingerprint=fingerprint)
        if resume:
            self._restore()

    def _prepare_tokenizers(self, resume: bool) -> None:
        """Reads the tokenizers of the run, or makes them and writes what a checkpoint needs."""
        folder = self.folder
        if resume:
            for name in HELD_OUT:
                if load_held_out(folder, name) != list(getattr(self.corpus, name)):
                    raise DataError(
                        f"The {name} pairs are not those that the run in {folder} began with"
                    )
            self.source_tokenizer = Tokenizer.load(folder / SOURCE_MODEL)
            self.target_tokenizer = Tokenizer.load(folder / TARGET_MODEL)
            if self.group.writes and load_config(folder / CONFIG_FILE) != self.config:
                save_config(self.config, folder / CONFIG_FILE)
            return
        if not self.group.writes:
            # Every process makes the same ones, and only the first may write to the folder.
            self._scratch = tempfile.TemporaryDirectory()
            folder = Path(self._scratch.name)
        else:
            self.corpus.save_held_out(folder)
        tokenizers = make_tokenizers(self.config, self.corpus, folder)
        self.source_tokenizer, self.target_tokenizer = tokenizers
        check_all_alike(
            self.group, "tokenizers", "".join(each.fingerprint.hex() for each in tokenizers)
        )
        save_checkpoint(folder, self.config, *tokenizers)

    def _training_batches(self) -> Batches:
        settings = self.config.tokenizer
        training_pairs = self._training_pairs()
        pairs = self._encode(training_pairs, "train")
        if not settings.dropout:
            return self._batches(pairs, shuffle=True)

        def resample(epoch: int) -> EncodedPairs:
            return encode_pairs(
                training_pairs,
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

    def _training_pairs(self) -> StoredPairs:
        data, corpus = self.config.data, self.corpus
        if not data.variants:
            return corpus.train
        held_out = chain(corpus.validation, corpus.test)
        seed = self.config.training.seed
        return with_variants(corpus.train, held_out, data.variants, seed, cache_directory(data))

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
            pairs,
            training.tokens_per_batch,
            training.max_shapes,
            training.seed,
            rows_multiple=self._rows_multiple,
            **options,
        )

    def _build_model(self, precision: str | None = None) -> Transformer:
        return build_model(self.config, self.source_tokenizer, self.target_tokenizer, precision)

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
        write_whole(self.folder / CORPUS_FILE, json.dumps(summary, indent=2).encode())

    def corpus_table(self) -> str:
        """What each cleaning step removed from the corpus, and what is left, as a table."""
        table = removed_table(self.corpus.removed, self.corpus.sizes)
        over = ", ".join(f"{count} {name}" for name, count in self._too_long.items())
        limit = self.config.data.max_length
        variants = " (of train with its variants)" if self.config.data.variants else ""
        return f"{table}\nover {limit} sub-words and not trained on: {over}{variants}"

    def summary(self) -> str:
        """A few lines about what will be trained on what."""
        batches = self.batches
        resumed = f", resumed after step {self.progress.step}" if self.progress.step else ""
        return (
            f"{len(batches.pairs)} training pairs, {batches.num_target_tokens} target tokens an "
            f"epoch in {len(batches)} batches of {len(batches.shapes)} shapes, "
            f"{batches.padding_share:.1%} padding\n"
            f"{self.model.count_params():,} parameters, {self.config.training.precision}, "
            f"{keras.backend.backend()}; the run goes to {self.folder}{resumed}"
        )

    def fit(self, translator: Translates | None = None) -> list[dict[str, Any]]:
        """Trains to the end and leaves the model with its best weights.

        Args:
            translator: Translates with the model at each validation; None for no translations.

        Returns:
            The metrics of each validation.

        Raises:
            TrainingDivergedError: If the loss is no longer finite. The states before are kept.
            Interrupted: After Ctrl-C or SIGTERM. The state is saved.
            CheckpointError: If a state cannot be written.
        """
        training = self.config.training
        board = TensorBoard(self.folder) if training.tensorboard and self.group.writes else None
        self._bar = ProgressBar(self.progress.step, self.max_steps)
        self._signal = StopSignal()
        try:
            # Of several processes each would stop after another step, and wait for the others.
            alone = self.group.size == 1
            with self._signal.listen() if alone else contextlib.nullcontext():
                while not self._finished():
                    end = self._next_validation()
                    row = self._train_until(end)
                    # At the end of an interval the validation belongs to what is saved: a resumed
                    # run begins with the next step.
                    if self.progress.step == end or not self._signal.received:
                        self._validate(row, translator, board)
                    self._save()
                    if self._signal.received and not self._finished():
                        raise Interrupted(
                            f"stopped after step {self.progress.step}; "
                            f"go on with: {command_line('train')} --resume {self.folder}"
                        )
        finally:
            self._bar.close()
            if board is not None:
                board.close()
        if (self.folder / BEST_WEIGHTS).is_file():
            load_weights(self.translation_model, self.folder / BEST_WEIGHTS)
        elif self.translation_model is not self.model:  # nothing was validated
            self.translation_model.set_weights(self.model.get_weights())
        return self.progress.rows

    def _finished(self) -> bool:
        training, progress = self.config.training, self.progress
        return bool(
            progress.step >= self.max_steps
            or (training.max_minutes and progress.seconds >= 60 * training.max_minutes)
            or (training.patience and progress.validations_since_best >= training.patience)
        )

    def _next_validation(self) -> int:
        """The step after which to validate next."""
        every = self.config.training.validate_every or self._stream.steps_per_epoch
        return min((self.progress.step // every + 1) * every, self.max_steps)

    def _train_until(self, end: int) -> dict[str, Any]:
        """Trains up to a step, or to a signal or the end of the time, and returns the metrics."""
        training = self.config.training
        begin = self.progress.step
        seconds_before, started = self.progress.seconds, time.monotonic()

        def seconds() -> float:
            return seconds_before + time.monotonic() - started

        def stop() -> bool:
            return self._signal.received or bool(
                training.max_minutes and seconds() >= 60 * training.max_minutes
            )

        def save(step: int) -> None:
            self.progress.step, self.progress.seconds = step, seconds()
            self._save()

        watch = StopOnDivergence(begin, self._stream.describe)
        callbacks = [self._bar, watch]
        if self.average is not None:
            callbacks.append(AverageWeights(begin, self.average, self.model))
        callbacks.append(SaveNowAndThen(begin, save, training.save_minutes, stop, end))
        try:
            history = self.training_model.fit(
                as_dataset(lambda: self._stream.take(begin, end), end - begin),
                steps_per_epoch=end - begin,
                callbacks=callbacks,
                shuffle=False,
                verbose=0,
            )
        except TrainingDivergedError as error:
            raise TrainingDivergedError(f"{error}. {self._advice()}") from error
        self.progress.step = watch.step
        self.progress.seconds = seconds()
        metrics = {name: float(values[-1]) for name, values in history.history.items()}
        tokens = metrics.pop("tokens")
        took = self.progress.seconds - seconds_before
        return {
            "step": self.progress.step,
            "epoch": round(self.progress.step / self._stream.steps_per_epoch, 3),
            **metrics,
            "learning_rate": float(
                keras.ops.convert_to_numpy(self.training_model.optimizer.learning_rate)
            ),
            "tokens_per_second": tokens / max(took, 1e-9),
            "seconds": took,
        }

    def _advice(self) -> str:
        training = self.config.training
        last = self._last_saved
        kept = f"The state after step {last} is kept" if last is not None else "No state is kept"
        options = [f"training.learning_rate_scale={training.learning_rate_scale / 2:g}"]
        if training.clip_norm is None:
            options.append("training.clip_norm=1")
        if training.precision == "mixed_float16":
            options.append("training.precision=mixed_bfloat16")
        return f"{kept} in {self.folder}. Try a new run with {' or '.join(options)}"

    def _validate(
        self, row: dict[str, Any], translator: Translates | None, board: TensorBoard | None
    ) -> None:
        """Completes a row of metrics, keeps the weights if they are the best, and reports."""
        started = time.monotonic()
        model, progress = self.model, self.progress
        samples: list[tuple[str, Any]] = []
        with self.average.in_place(model) if self.average else contextlib.nullcontext():
            row.update({f"val_{name}": value for name, value in self._evaluate().items()})
            if not np.isfinite(row["val_loss"]):  # the last step was one too many
                raise TrainingDivergedError(
                    f"The validation loss is {row['val_loss']} after step {progress.step}. "
                    + self._advice()
                )
            if model is not self.translation_model:
                self.translation_model.set_weights(model.get_weights())
            if translator is not None and self.group.writes:
                row.update(self._translation_scores(translator))
                samples = [
                    (sentence, _sample(translator, sentence))
                    for sentence in self.config.training.samples
                ]
            self._save_weights(LAST_WEIGHTS)
            score = row.get(f"val_{self.config.training.best_metric}", np.nan)
            if self._is_better(score):
                progress.best = score
                progress.validations_since_best = 0
                self._save_weights(BEST_WEIGHTS)
            else:
                progress.validations_since_best += 1
        progress.rows.append(row)
        progress.seconds += time.monotonic() - started
        if self.group.writes:
            self._report(row, samples, board)

    def _save_weights(self, name: str) -> None:
        if self.group.writes:
            save_weights(self.translation_model, self.folder / name)

    def _report(
        self, row: dict[str, Any], samples: list[tuple[str, Any]], board: TensorBoard | None
    ) -> None:
        """Tells of a validation, on the screen and in the folder."""
        progress = self.progress
        line = "  ".join(f"{name} {_short(value)}" for name, value in row.items())
        self._bar.write(line)
        if samples:
            text = "\n".join(
                [f"after step {progress.step}"]
                + [f"  {sentence}\n  → {made.translation}" for sentence, made in samples]
            )
            self._bar.write(text)
            with (self.folder / SAMPLES_FILE).open("a", encoding="utf-8") as file:
                file.write(text + "\n")
        write_metrics(progress.rows, self.folder / METRICS_FILE)
        draw_curves(progress.rows, self.folder / CURVES_FILE)
        if board is not None:
            board.write(row, samples)

    def _evaluate(self) -> dict[str, float]:
        steps = self._validation.steps_per_epoch
        metrics = self.training_model.evaluate(
            as_dataset(lambda: self._validation.take(0, steps), steps),
            steps=steps,
            verbose=0,
            return_dict=True,
        )
        return {name: float(value) for name, value in metrics.items() if name != "tokens"}

    def _translation_scores(self, translator: Translates) -> dict[str, float]:
        held_out = self.corpus.validation
        count = min(self.config.training.validation_translations, len(held_out))
        # From everywhere: many a corpus begins with its shortest sentences.
        pairs = [held_out[number * len(held_out) // count] for number in range(count)]
        if not pairs:
            return {}
        made = translator.translate([source for source, _ in pairs], n_best=1)
        scores = score(made, [target for _, target in pairs])
        return {"val_bleu": scores.bleu, "val_chrf": scores.chrf}

    def _is_better(self, score: float) -> bool:
        if not np.isfinite(score):
            return False
        if self.progress.best is None:
            return True
        lower_is_better = self.config.training.best_metric == "perplexity"
        return score < self.progress.best if lower_is_better else score > self.progress.best

    def _variables(self) -> list[Any]:
        """All variables that the next step depends on, in a fixed order."""
        optimizer = self.training_model.optimizer
        return [*self.training_model.variables, *optimizer.variables]

    def _save(self) -> None:
        self._last_saved = self.progress.step
        if not self.group.writes:
            return
        self.progress.epoch_lengths = self._stream.lengths
        arrays = [
            (variable.path, keras.ops.convert_to_numpy(variable)) for variable in self._variables()
        ]
        if self.average is not None:
            arrays += [("average", value) for value in self.average.values]
        save_state(self.folder, self.progress, arrays, self.config.training.keep_states)

    def _restore(self) -> None:
        """Goes on from the latest state, if there is one."""
        state = load_state(self.folder)
        if state is None:
            return
        progress, arrays = state
        if progress.fingerprint != self.progress.fingerprint:
            raise DataError(
                f"The training pairs are not those that the run in {self.folder} began with"
            )
        variables = self._variables()
        averages = [value for name, value in arrays if name == "average"]
        saved = [(name, value) for name, value in arrays if name != "average"]
        if [(_kind(v.path), tuple(v.shape)) for v in variables] != [
            (_kind(name), value.shape) for name, value in saved
        ]:
            raise CheckpointError(
                f"The state in {self.folder} is that of another model or another version"
            )
        for variable, (_, value) in zip(variables, saved, strict=True):
            variable.assign(value)
        if self.average is not None:
            self.average.restore(averages)
        self._stream.lengths = progress.epoch_lengths
        self.progress = progress
        self._last_saved = progress.step
        if self.group.writes:
            self._drop_samples_to_come()

    def _drop_samples_to_come(self) -> None:
        """Leaves out of the samples those of validations that the run will come to again."""
        path = self.folder / SAMPLES_FILE
        if not path.is_file():
            return
        steps = {row["step"] for row in self.progress.rows}
        text = path.read_text(encoding="utf-8")
        before, *blocks = re.split(r"^(?=after step \d+$)", text, flags=re.MULTILINE)
        kept = [block for block in blocks if int(block.split()[2]) in steps]
        if len(kept) < len(blocks):
            write_whole(path, "".join([before, *kept]).encode())


def _sample(translator: Translates, sentence: str) -> Any:
    """A sample's translation, with its attention unless it is too long to be shown."""
    if translator.fits(sentence):
        return translator.attend(sentence)
    (translation,) = translator.translate([sentence], n_best=1)
    return types.SimpleNamespace(translation=translation, scores={})


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


def _check_several_processes(config: Config) -> None:
    """Refuses what each of several processes would decide for itself.

    Raises:
        ConfigError: For such a setting.
    """
    if config.training.max_minutes:
        raise ConfigError("training.max_minutes needs one process; use training.max_steps")
    if config.training.best_metric != "perplexity":
        raise ConfigError("training.best_metric of several processes must be perplexity")


def _in_use(folder: Path) -> bool:
    """Whether a folder has more in it than a start that failed may leave."""
    started = {CONFIG_FILE, CORPUS_FILE, TOKENIZER_FOLDER, *(f"{name}.tsv" for name in HELD_OUT)}
    names = {path.name for path in folder.iterdir()}
    return bool({name for name in names if not name.startswith(".")} - started)


def _lock(folder: Path) -> FileLock:
    """Keeps other processes from training in the same folder, as long as this one lives."""
    lock = FileLock(folder / LOCK_FILE)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ConfigError(f"Another process is training in {folder}") from error
    return lock


def _fingerprint(pairs: EncodedPairs) -> str:
    """A hash that tells training sets apart."""
    digest = hashlib.sha256()
    for side in (pairs.source, pairs.target):
        digest.update(np.ascontiguousarray(side.lengths, dtype="int64").tobytes())
        for begin in range(0, len(side.ids), _IDS_AT_A_TIME):  # memory may not hold them all
            part = side.ids[begin : begin + _IDS_AT_A_TIME]
            digest.update(np.ascontiguousarray(part, dtype="int32").tobytes())
    return digest.hexdigest()


def _kind(path: str) -> str:
    """The path of a variable without the numbers that Keras counts objects of a process with."""
    return re.sub(r"_\d+", "", path)


def _short(value: float) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
