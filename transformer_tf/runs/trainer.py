"""The trainer: from a configuration to a trained checkpoint, with exact resume."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
from keras.callbacks import Callback

from transformer_tf.catalog import find_pair
from transformer_tf.checkpoint import (
    BEST_WEIGHTS,
    CONFIG_FILE,
    LAST_WEIGHTS,
    SOURCE_MODEL,
    TARGET_MODEL,
    build_model,
    load_weights,
    open_checkpoint,
    save_checkpoint,
    save_weights,
)
from transformer_tf.config import Config, TrainingConfig, save_config
from transformer_tf.errors import (
    CheckpointError,
    ConfigError,
    DataError,
    Interrupted,
    TrainingDivergedError,
)
from transformer_tf.hashes import recorded_write
from transformer_tf.runs.data import TrainingData, check_held_out
from transformer_tf.runs.folder import STATE_FILE, FolderLock
from transformer_tf.runs.plan import Plan, check_schedule, make_schedule, plan_in_time, plan_run
from transformer_tf.runs.reports import Reporter
from transformer_tf.runs.state import check_finite, get_arrays, load_state, save_state, set_arrays
from transformer_tf.runs.tokenizers import make_tokenizers, resumed_tokenizers
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.text.corpora.corpus import Corpus, WrongLanguageError, load_corpus
from transformer_tf.training.averaging import WeightAverage
from transformer_tf.training.callbacks import (
    LossCheck,
    ProgressLine,
    StateSaver,
    StepCounter,
    StopCheck,
    StopSignal,
)
from transformer_tf.training.distribution import ProcessGroup, check_equal, use_devices
from transformer_tf.training.loop import TIMED_STEPS, seconds_per_step, train_until
from transformer_tf.training.model import compile_training_model
from transformer_tf.training.progress import Progress
from transformer_tf.training.stream import BatchStream
from transformer_tf.training.validation import (
    NUM_SAMPLES,
    SampleTranslator,
    evaluate,
    evenly_spaced,
    score_translations,
)
from transformer_tf.utils.startup import command_line
from transformer_tf.utils.tables import grouped

SAVE_MINUTES = 5  # between states; a state is also saved after each validation


class Trainer:
    """Prepares a run and trains its model: `Trainer(config, folder).prepare().fit()`.

    The trainer locks the run's folder from `prepare` until `fit` returns or the trainer is closed,
    with `close` or at the end of a `with` statement. A run that fails before its first state leaves
    no folder.

    Args:
        config: The run's configuration.
        folder: The folder of the run; created if missing.
        resume: Whether to resume the run in the folder.
        group: The processes of the run, from `distribution.join`; by default this one alone.

    Attributes:
        corpus: The sentence pairs of the three splits.
        samples: The sentences to translate at each validation.
        source_tokenizer: The tokenizer of the source language.
        target_tokenizer: The tokenizer of the target language.
        data: The training and validation batches.
        stream: The training batches of all epochs.
        plan: The steps, the validations and the warm-up of the run.
        model: The Transformer that is trained.
        training_model: The compiled model with its loss.
        average: The moving average of the weights, or None.
        progress: The progress of the run.
    """

    def __init__(
        self, config: Config, folder: Path, resume: bool = False, group: ProcessGroup | None = None
    ):
        self.config = config
        self.folder = folder
        self.resume = resume
        self.group = group or ProcessGroup()
        self._lock: FolderLock | None = None

    def __enter__(self) -> Trainer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Unlocks the folder of the run for other trainers."""
        if self._lock is not None:
            self._lock.release()

    def prepare(self) -> Trainer:
        """Loads the data and builds the model, with the weights and the progress to go on from.

        Returns:
            The trainer.

        Raises:
            ConfigError: If the folder contains files and `resume` is False, if another trainer
                uses the folder, or if the configuration does not fit the data.
            DataError: If the corpus is not available, or is not the one the run began with.
            CheckpointError: If the state to resume from is damaged.
        """
        training = self.config.training
        if self.group.size > 1 and training.max_minutes:
            # The processes could stop after different steps.
            raise ConfigError("training.max_minutes needs one process; use training.max_steps")
        if training.max_steps and not self.resume:  # an error before the data are read
            check_schedule(training, plan_run(training, sys.maxsize))
        if self.group.is_main:
            self._lock = FolderLock(self.folder, self.resume)
        with self._leaving_no_failed_start():
            self.corpus = self._load_corpus()
            self._prepare_tokenizers()
            self._prepare_batches()
            self._prepare_model()
        return self

    @contextlib.contextmanager
    def _leaving_no_failed_start(self) -> Iterator[None]:
        """Unlocks the folder after an error, and deletes it if the run has no state yet."""
        try:
            yield
        except BaseException:
            self.close()
            if self._lock is not None and not self.resume:
                self._lock.discard()
            raise

    def _load_corpus(self) -> Corpus:
        """Loads the corpus. For pairs in other languages, names the checkpoint to start from."""
        training = self.config.training
        try:
            return load_corpus(self.config.data, training.seed)
        except WrongLanguageError as error:
            if training.start_from is None:
                raise
            with contextlib.suppress(CheckpointError):  # none for these languages
                start = find_pair(*error.languages).name
                raise DataError(f"{error} training.start_from={start}") from error
            raise

    def _prepare_tokenizers(self) -> None:
        """Makes or loads the tokenizers, and writes the checkpoint without the weights."""
        config, group = self.config, self.group
        if self.resume:
            check_held_out(self.corpus, self.folder)
            tokenizers = resumed_tokenizers(self.folder)
            if group.is_main:
                with recorded_write(self.folder / CONFIG_FILE) as partial:
                    save_config(config, partial)
        else:
            if group.is_main:
                self.corpus.save_held_out(self.folder)
            with group.own_folder(self.folder) as folder:
                tokenizers = make_tokenizers(
                    config.tokenizer, config.data, self.corpus, folder, config.training.start_from
                )
            fingerprint = "".join(tokenizer.fingerprint.hex() for tokenizer in tokenizers)
            check_equal(group, "tokenizers", fingerprint)
            if group.is_main:
                save_checkpoint(self.folder, config, *tokenizers)
        self.source_tokenizer, self.target_tokenizer = tokenizers

    def _prepare_batches(self) -> None:
        """Encodes the corpus, chooses the samples and plans the steps of the run."""
        training, group = self.config.training, self.group
        samples = training.samples
        if samples is None:
            pairs = evenly_spaced(self.corpus.validation, NUM_SAMPLES)
            samples = tuple(source for source, _ in pairs)
        self.samples = samples
        tokenizers = self.source_tokenizer, self.target_tokenizer
        num_devices = use_devices(training.devices, group)
        self.data = TrainingData(self.config.data, training, self.corpus, tokenizers, num_devices)
        check_equal(group, "training pairs", self.data.fingerprint)
        if group.is_main:
            self.data.write_summary(self.folder)
        rows = group.index, group.size
        self.stream = BatchStream(self.data.train, *rows)
        self._validation_stream = BatchStream(self.data.validation, *rows)

    def _prepare_model(self) -> None:
        """Builds the model and loads the state of the run, or the weights to start from."""
        config, training = self.config, self.config.training
        keras.utils.set_random_seed(training.seed)
        self.model = build_model(config, self.source_tokenizer, self.target_tokenizer)
        state = load_state(self.folder) if self.resume else None
        if state is None and training.start_from is not None:
            _, weights, _, _ = open_checkpoint(training.start_from.expanduser())
            load_weights(self.model, weights)
        self.progress, arrays = state or (Progress(fingerprint=self.data.fingerprint), [])
        self._plan_run()
        self._compile()
        if self.progress.fingerprint != self.data.fingerprint:
            raise DataError(
                f"The training pairs are not those that the run in {self.folder} began with"
            )
        decay = training.ema_decay
        self.average = WeightAverage(decay, self.progress) if decay else None
        if state is not None:
            set_arrays(self.training_model, self.average, arrays)

    def _plan_run(self) -> None:
        """Plans the steps of a new or a resumed run."""
        training, progress, steps = self.config.training, self.progress, self.stream.steps_per_epoch
        self.plan = plan_run(training, steps)
        if not self.resume:
            check_schedule(training, self.plan)
        elif progress.plan and progress.limits == _limits(training):
            self.plan = Plan(**progress.plan)
        elif training.max_minutes and progress.step:
            seconds = progress.seconds / progress.step
            self.plan = plan_in_time(training, steps, 60 * training.max_minutes, seconds)

    def _compile(self) -> None:
        """Compiles the model with the learning rate of the plan."""
        training = self.config.training
        schedule = make_schedule(training, self.plan, self.config.model.d_model)
        self.training_model = compile_training_model(self.model, training, schedule)

    def _plan_minutes(self) -> None:
        """Plans a new run with a time limit by the time of a few steps and of a validation.

        The first steps are then trained again, from the same weights.
        """
        training, progress = self.config.training, self.progress
        assert training.max_minutes is not None
        began_at = time.monotonic()
        validation = progress.seconds
        if not progress.rows:
            self._score()
            validation = time.monotonic() - began_at
        arrays = get_arrays(self.training_model, None)
        compiled_at = time.monotonic()
        step = seconds_per_step(self.training_model, self.stream)
        compilation = time.monotonic() - compiled_at - TIMED_STEPS * step
        set_arrays(self.training_model, None, arrays)
        progress.seconds += time.monotonic() - began_at
        left = 60 * training.max_minutes - progress.seconds - max(compilation, 0)
        self.plan = plan_in_time(training, self.stream.steps_per_epoch, left, step, validation)
        self._compile()

    def summary(self) -> str:
        """Describes the run in three lines: the batches, the plan and the model."""
        batches = self.data.train
        resumed = f", resumed after step {self.progress.step}" if self.progress.step else ""
        return (
            f"{grouped(len(batches.pairs))} training pairs, "
            f"{grouped(batches.num_target_tokens)} target tokens per epoch in "
            f"{grouped(len(batches))} batches of {len(batches.shapes)} shapes, "
            f"{batches.padding_share:.1%} padding\n"
            f"{self.plan.summary()}\n"
            f"{grouped(self.model.count_params())} parameters, vocabularies of "
            f"{grouped(self.source_tokenizer.vocab_size)} and "
            f"{grouped(self.target_tokenizer.vocab_size)}, "
            f"{self.config.training.precision}, "
            f"{keras.backend.backend()}{resumed}"
        )

    def fit(
        self, make_translator: Callable[[], SampleTranslator] | None = None
    ) -> list[dict[str, Any]]:
        """Trains to the end of the run. A single process then loads the best weights.

        Args:
            make_translator: Returns a translator with the present weights of `model`, for each
                validation; None for no translations.

        Returns:
            The metrics of each validation.

        Raises:
            TrainingDivergedError: If the loss or a variable is NaN or infinite. The state and the
                weights before are kept.
            Interrupted: After Ctrl-C or SIGTERM. The state is saved.
            CheckpointError: If a state cannot be written.
        """
        self._signal, self._make_translator = StopSignal(), make_translator
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._leaving_no_failed_start())
            stack.callback(self.close)
            line = ProgressLine(self.progress, self.plan.max_steps, self.stream.steps_per_epoch)
            stack.callback(line.close)
            self._reporter = Reporter(self.folder, line.write) if self.group.is_main else None
            self._begin(line)
            if self.group.size == 1:
                # Several processes could stop after different steps and wait for each other.
                stack.enter_context(self._signal.listen())
            try:
                self._train(self._callbacks(line))
            except TrainingDivergedError as error:
                raise TrainingDivergedError(f"{error}. {self._divergence_advice()}") from error
        if self.group.size == 1 and (self.folder / BEST_WEIGHTS).is_file():
            load_weights(self.model, self.folder / BEST_WEIGHTS)
        return self.progress.rows

    def _begin(self, line: ProgressLine) -> None:
        """Validates the checkpoint that a run starts from, and plans a run with a time limit."""
        training, progress = self.config.training, self.progress
        if training.start_from is not None and not progress.step and not progress.rows:
            row = {"step": 0, "epoch": 0.0, "loss": None, "accuracy": None}
            self._report(self._validate(row))
        if training.max_minutes is None:
            return
        if progress.step == 0:
            self._plan_minutes()
            line.total = self.plan.max_steps
            line.write(f"in {training.max_minutes:g} minutes about {self.plan.summary()}")
        progress.limits, progress.plan = _limits(training), dataclasses.asdict(self.plan)

    def _callbacks(self, line: ProgressLine) -> list[Callback]:
        """Returns what happens after each step, in this order."""
        progress, average = self.progress, self.average
        return [
            StepCounter(progress),
            line,
            LossCheck(progress, self.stream.describe),
            *([average] if average else []),
            StateSaver(self._save, SAVE_MINUTES),
            StopCheck(lambda: self._signal.received or self._out_of_time()),
        ]

    def _train(self, callbacks: list[Callback]) -> None:
        """Trains from validation to validation."""
        progress, every = self.progress, self.plan.validate_every
        while not self.finished:
            end = min((progress.step // every + 1) * every, self.plan.max_steps)
            row = train_until(self.training_model, self.stream, end, progress, callbacks)
            # After the last step of an interval or of the run, validate even if a signal came: a
            # resumed run begins with the step after it.
            samples = None
            if progress.step == end or self.finished or not self._signal.received:
                samples = self._validate(row)
            self._report(samples)
            if self._signal.received and not self.finished:
                raise Interrupted(
                    f"stopped after step {progress.step}; resume with: "
                    f"{command_line('train')} --resume {shlex.quote(str(self.folder))}"
                )

    def _report(self, samples: list[Pair] | None) -> None:
        """Saves the state and, after a validation, writes the reports."""
        self._save()
        if self._reporter is not None and samples is not None:
            self._reporter.write(self.progress.rows, samples)

    @property
    def finished(self) -> bool:
        """Whether the run has reached one of its limits."""
        training, progress = self.config.training, self.progress
        return bool(
            progress.step >= self.plan.max_steps
            or self._out_of_time()
            or (training.patience and progress.validations_since_best >= training.patience)
        )

    def _out_of_time(self) -> bool:
        minutes, progress = self.config.training.max_minutes, self.progress
        return bool(minutes and progress.step and progress.seconds >= 60 * minutes)

    def _validate(self, row: dict[str, Any]) -> list[Pair]:
        """Adds validation metrics to a row, saves the weights and translates the samples."""
        began_at, progress = time.monotonic(), self.progress
        with self.average.in_place(self.model) if self.average else contextlib.nullcontext():
            metrics, samples = self._score()
            row |= {f"val_{name}": value for name, value in metrics.items()}
            self._save_weights(LAST_WEIGHTS)
            if progress.add_perplexity(metrics["perplexity"]):
                self._save_weights(BEST_WEIGHTS)
        progress.rows.append(row)
        progress.seconds += time.monotonic() - began_at
        return samples

    def _score(self) -> tuple[dict[str, float], list[Pair]]:
        """Returns the validation metrics of the present weights, and the translated samples."""
        metrics, samples = evaluate(self.training_model, self._validation_stream), []
        if not math.isfinite(metrics["loss"]):  # the last update broke the weights
            raise TrainingDivergedError(
                f"The validation loss is {metrics['loss']} after step {self.progress.step}"
            )
        if self._make_translator is not None and self.group.is_main:
            translator = self._make_translator()
            metrics |= score_translations(translator, self.corpus.validation)
            translations = translator.translate(self.samples)
            samples = list(zip(self.samples, translations, strict=True))
        return metrics, samples

    def _check_folder(self) -> None:
        """Checks that the folder is still this trainer's, and a checkpoint. Runs before a write."""
        assert self._lock is not None  # the main process holds it
        self._lock.check()
        needed = (CONFIG_FILE, SOURCE_MODEL, TARGET_MODEL)
        if not all((self.folder / name).is_file() for name in needed):  # someone deleted it
            save_checkpoint(self.folder, self.config, self.source_tokenizer, self.target_tokenizer)

    def _save_weights(self, name: str) -> None:
        check_finite(self.model.weights)
        if self.group.is_main:
            self._check_folder()
            save_weights(self.model, self.folder / name)

    def _save(self) -> None:
        arrays = get_arrays(self.training_model, self.average)
        if self.group.is_main:
            self._check_folder()
            save_state(self.folder, self.progress, arrays)

    def _divergence_advice(self) -> str:
        training = self.config.training
        options = [f"training.learning_rate_scale={training.learning_rate_scale / 2:g}"]
        if training.clip_norm is None:
            options.append("training.clip_norm=1")
        if training.precision == "mixed_float16":
            options.append("training.precision=mixed_bfloat16")
        advice = f"Try a new run with {' or '.join(options)}"
        kept = (self.folder / STATE_FILE).is_file()
        return f"An earlier state is kept in {self.folder}. {advice}" if kept else advice


def _limits(training: TrainingConfig) -> dict[str, float | None]:
    """Returns the values of the keys that the plan of a run with a time limit depends on."""
    names = ("max_minutes", "max_epochs", "max_steps", "validate_every", "cooldown_steps")
    return {name: getattr(training, name) for name in names}
