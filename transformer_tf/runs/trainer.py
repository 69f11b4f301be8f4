"""The training loop: from a configuration to a trained checkpoint, with exact resume."""

from __future__ import annotations

import contextlib
import math
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
from filelock import FileLock
from keras.callbacks import Callback, History, LambdaCallback

from transformer_tf.checkpoint import (
    BEST_WEIGHTS,
    LAST_WEIGHTS,
    build_model,
    load_weights,
    open_checkpoint,
    save_weights,
)
from transformer_tf.config import Config, TrainingConfig
from transformer_tf.errors import (
    ConfigError,
    DataError,
    Interrupted,
    TrainingDivergedError,
)
from transformer_tf.runs.data import TrainingData, resume_checkpoint, start_checkpoint
from transformer_tf.runs.folder import (
    check_unused,
    discard_start,
    drop_samples,
    lock_folder,
    make_folder,
)
from transformer_tf.runs.plan import check_schedule, make_schedule, plan_run
from transformer_tf.runs.reports import Reporter
from transformer_tf.runs.state import (
    Progress,
    get_arrays,
    load_state,
    save_state,
    set_arrays,
)
from transformer_tf.text.corpora.corpus import load_corpus
from transformer_tf.text.corpora.sources import data_directory
from transformer_tf.text.tokenization.vectors import official_vectors
from transformer_tf.training.averaging import WeightAverage
from transformer_tf.training.callbacks import ProgressLine, StopSignal
from transformer_tf.training.distribution import ProcessGroup, check_equal, use_devices
from transformer_tf.training.model import compile_training_model
from transformer_tf.training.stream import BatchStream, as_dataset
from transformer_tf.training.validation import (
    NUM_SAMPLES,
    SampleTranslator,
    evaluate,
    evenly_spaced,
    is_better,
    score_translations,
    translate_sample,
)
from transformer_tf.utils.files import remove_partial_files
from transformer_tf.utils.startup import command_line
from transformer_tf.utils.tables import grouped

SAVE_MINUTES = 5  # between states; a state is also saved after each validation


class Trainer:
    """Loads the data, builds the model and trains it.

    The trainer locks the run's folder until `fit` returns or the trainer is closed, with `close`
    or at the end of a `with` statement. A run that fails before its first state leaves no folder.

    Args:
        config: The run's configuration.
        folder: The folder of the run; created if missing.
        resume: Whether to resume the run in the folder.
        group: The processes of the run, from `distribution.join`; by default this one alone.

    Attributes:
        corpus: The sentence pairs of the three splits.
        source_tokenizer: The tokenizer of the source language.
        target_tokenizer: The tokenizer of the target language.
        data: The training and validation batches.
        batches: The training batches, `data.train`.
        model: The Transformer that is trained.
        training_model: The compiled model with its loss.
        progress: The progress of the run.
        plan: The plan of the run.
        samples: The sentences to translate at each validation.

    Raises:
        ConfigError: If the folder holds files and `resume` is False, if another trainer uses the
            folder, or if the configuration does not fit the data.
        DataError: If the corpus is not available, or is not the one the run began with.
        CheckpointError: If the state to resume from is damaged.
    """

    def __init__(
        self, config: Config, folder: Path, resume: bool = False, group: ProcessGroup | None = None
    ):
        self.config = config
        self.folder = folder
        self.group = group or ProcessGroup()
        self._lock: FileLock | None = None
        self._discard: Callable[[], None] = lambda: None
        if self.group.size > 1:
            _check_several_processes(config.training)
        if self.group.is_main and not resume:
            check_unused(folder)
        self.corpus = load_corpus(config.data, config.training.seed)
        samples = config.training.samples
        if samples is None:
            chosen = evenly_spaced(self.corpus.validation, NUM_SAMPLES)
            samples = tuple(source for source, _ in chosen)
        self.samples = samples
        if self.group.is_main:
            new_folders = make_folder(folder)
            self._lock = lock_folder(folder)
            remove_partial_files(folder)
            if not resume:
                self._discard = lambda: discard_start(folder, new_folders)
        try:
            self._build(resume)
        except BaseException:
            self.close()
            self._discard()
            raise

    def __enter__(self) -> Trainer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Unlocks the folder of the run for other trainers."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _build(self, resume: bool) -> None:
        """Makes the tokenizers, the batches and the models."""
        config, training, group = self.config, self.config.training, self.group
        checkpoint = resume_checkpoint if resume else start_checkpoint
        tokenizers = checkpoint(config, self.corpus, self.folder, group)
        self.source_tokenizer, self.target_tokenizer = tokenizers

        rows_multiple = use_devices(training.devices, group)
        self.data = TrainingData(config, self.corpus, tokenizers, rows_multiple)
        check_equal(group, "training pairs", self.data.fingerprint)
        if group.is_main:
            self.data.write_summary(self.folder)
        self.batches = self.data.train
        self._stream = BatchStream(
            self.batches, training.accumulation_steps, group.index, group.size
        )
        self._validation_stream = BatchStream(
            self.data.validation, process_index=group.index, num_processes=group.size
        )
        self.plan = plan_run(training, self._stream.steps_per_epoch)
        if not resume:
            check_schedule(training, self.plan)

        keras.utils.set_random_seed(training.seed)
        self.model = build_model(config, *tokenizers)
        state = load_state(self.folder) if resume else None
        if state is None:
            self._init_weights()
        schedule = make_schedule(training, self.plan, config.model.d_model)
        self.training_model = compile_training_model(self.model, training, schedule)
        self.average = WeightAverage(training.ema_decay) if training.ema_decay else None
        self._last_saved: int | None = None
        self.progress = Progress(fingerprint=self.data.fingerprint)
        if state is not None:
            self._restore(*state)

    def _init_weights(self) -> None:
        """Loads the weights of `training.start_from`, or the BPEmb vectors of both embeddings."""
        config, data = self.config, self.config.data
        if config.training.start_from is not None:
            load_weights(self.model, open_checkpoint(config.training.start_from.expanduser())[1])
            return
        if not config.tokenizer.init_embeddings:
            return
        for tokenizer, language, embedding in (
            (self.source_tokenizer, data.source_language, self.model.source_embedding),
            (self.target_tokenizer, data.target_language, self.model.target_embedding),
        ):
            vectors = official_vectors(
                tokenizer, language, config.model.d_model, data_directory(data)
            )
            initial = keras.ops.convert_to_numpy(embedding.embeddings)
            embedding.embeddings.assign(np.where(np.isnan(vectors), initial, vectors))

    def summary(self) -> str:
        """Describes the run in three lines: the batches, the plan and the model."""
        batches = self.batches
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
            TrainingDivergedError: If the loss is NaN or infinite. Earlier states are kept.
            Interrupted: After Ctrl-C or SIGTERM. The state is saved.
            CheckpointError: If a state cannot be written.
        """
        training = self.config.training
        deadline = math.inf
        if training.max_minutes:
            deadline = time.monotonic() + 60 * training.max_minutes - self.progress.seconds
        self._line = ProgressLine(
            self.progress.step, self.plan.max_steps, self._stream.steps_per_epoch, deadline
        )
        self._signal = StopSignal()
        with contextlib.ExitStack() as stack:
            stack.push(lambda error, *_: error and self._discard())
            stack.callback(self.close)
            stack.callback(self._line.close)
            reporter = None
            if self.group.is_main:
                reporter = Reporter(
                    self.folder, training.best_metric, training.tensorboard, self._line.write
                )
                stack.callback(reporter.close)
            if self.group.size == 1:
                # Several processes could stop after different steps and wait for each other.
                stack.enter_context(self._signal.listen())
            while not self.finished:
                end = self._next_validation()
                row = self._train_until(end)
                # After the last step of an interval, validate even if a signal came: a resumed
                # run begins with the step after it.
                if self.progress.step == end or not self._signal.received:
                    self._validate(row, make_translator, reporter)
                self._save()
                if self._signal.received and not self.finished:
                    place = shlex.quote(str(self.folder))
                    raise Interrupted(
                        f"stopped after step {self.progress.step}; "
                        f"resume with: {command_line('train')} --resume {place}"
                    )
        if self.group.size == 1 and (self.folder / BEST_WEIGHTS).is_file():
            load_weights(self.model, self.folder / BEST_WEIGHTS)
        return self.progress.rows

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
        minutes = self.config.training.max_minutes
        return minutes is not None and self.progress.seconds >= 60 * minutes

    def _next_validation(self) -> int:
        """Returns the step after which the next validation is due."""
        every = self.plan.validate_every
        return min((self.progress.step // every + 1) * every, self.plan.max_steps)

    def _train_until(self, end: int) -> dict[str, Any]:
        """Trains up to a step, a signal or the time limit, and returns the training metrics."""
        progress = self.progress
        seconds_before, started = progress.seconds, time.monotonic()
        saved_at = started

        def after_step(batch: int, logs: Mapping[str, Any]) -> None:
            nonlocal saved_at
            now = time.monotonic()
            progress.step += 1
            progress.seconds = seconds_before + now - started
            self._check_loss(float(logs["loss"]))
            average = self.average if self.average and self.average.due(progress.step) else None
            # No state after the last step: the next one is saved after the validation, so that
            # a resumed run does not miss it.
            save_due = progress.step < end and now - saved_at > 60 * SAVE_MINUTES
            if average or save_due:
                _ = each_step.model  # on JAX, this access copies the values into the variables
            if average:
                average.update(self.model, progress.step)
            if self._signal.received or self._out_of_time():
                self.training_model.stop_training = True
            elif save_due:
                self._save()
                saved_at = time.monotonic()

        each_step = LambdaCallback(on_train_batch_end=after_step)
        history = self.train_steps(progress.step, end, [self._line, each_step])
        progress.seconds = seconds_before + time.monotonic() - started
        metrics = {name: float(values[-1]) for name, values in history.history.items()}
        tokens = metrics.pop("tokens")
        duration = progress.seconds - seconds_before
        return {
            "step": progress.step,
            "epoch": round(progress.step / self._stream.steps_per_epoch, 3),
            **metrics,
            "learning_rate": float(
                keras.ops.convert_to_numpy(self.training_model.optimizer.learning_rate)
            ),
            "tokens_per_second": tokens / max(duration, 1e-9),
            "seconds": duration,
        }

    def train_steps(self, begin: int, end: int, callbacks: Sequence[Callback]) -> History:
        """Trains on the batches of some steps, without a report or a state.

        Args:
            begin: The first step, counted from 0.
            end: The step after the last one.
            callbacks: Called as in `keras.Model.fit`.

        Returns:
            The metrics, as `fit` returns them.
        """
        return self.training_model.fit(
            as_dataset(lambda: self._stream.take(begin, end), end - begin),
            steps_per_epoch=end - begin,
            callbacks=callbacks,
            shuffle=False,
            verbose=0,
        )

    def _check_loss(self, loss: float) -> None:
        """Checks that the training loss is a finite number."""
        if not math.isfinite(loss):
            step = self.progress.step
            raise TrainingDivergedError(
                f"The loss became {loss} at step {step} ({self._stream.describe(step - 1)}). "
                + self._divergence_advice()
            )

    def _divergence_advice(self) -> str:
        training, last = self.config.training, self._last_saved
        kept = f"The state after step {last} is kept in {self.folder}"
        options = [f"training.learning_rate_scale={training.learning_rate_scale / 2:g}"]
        if training.clip_norm is None:
            options.append("training.clip_norm=1")
        if training.precision == "mixed_float16":
            options.append("training.precision=mixed_bfloat16")
        advice = f"Try a new run with {' or '.join(options)}"
        return advice if last is None else f"{kept}. {advice}"

    def _validate(
        self,
        row: dict[str, Any],
        make_translator: Callable[[], SampleTranslator] | None,
        reporter: Reporter | None,
    ) -> None:
        """Adds validation metrics to a row, saves the weights and reports."""
        started = time.monotonic()
        training, model, progress = self.config.training, self.model, self.progress
        samples = []
        with self.average.in_place(model) if self.average else contextlib.nullcontext():
            metrics = evaluate(self.training_model, self._validation_stream)
            if not np.isfinite(metrics["loss"]):  # the last update broke the weights
                raise TrainingDivergedError(
                    f"The validation loss is {metrics['loss']} after step {progress.step}. "
                    + self._divergence_advice()
                )
            if make_translator is not None and self.group.is_main:
                translator = make_translator()
                metrics |= score_translations(
                    translator, self.corpus.validation, training.best_metric
                )
                samples = [translate_sample(translator, each) for each in self.samples]
            row |= {f"val_{name}": value for name, value in metrics.items()}
            self._save_weights(LAST_WEIGHTS)
            score = metrics.get(training.best_metric, np.nan)
            if is_better(score, progress.best, training.best_metric):
                progress.best = score
                progress.validations_since_best = 0
                self._save_weights(BEST_WEIGHTS)
            else:
                progress.validations_since_best += 1
        progress.rows.append(row)
        progress.seconds += time.monotonic() - started
        if reporter is not None:
            reporter.write(progress.rows, samples)

    def _save_weights(self, name: str) -> None:
        if self.group.is_main:
            save_weights(self.model, self.folder / name)

    def _save(self) -> None:
        self._last_saved = self.progress.step
        if not self.group.is_main:
            return
        self.progress.epoch_lengths = self._stream.epoch_lengths
        save_state(self.folder, self.progress, get_arrays(self.training_model, self.average))

    def _restore(self, progress: Progress, arrays: list[np.ndarray]) -> None:
        """Continues from a state."""
        if progress.fingerprint != self.progress.fingerprint:
            raise DataError(
                f"The training pairs are not those that the run in {self.folder} began with"
            )
        set_arrays(self.training_model, self.average, arrays)
        self._stream.epoch_lengths = progress.epoch_lengths
        self.progress = progress
        self._last_saved = progress.step
        if self.group.is_main:
            drop_samples(self.folder, {row["step"] for row in progress.rows})


def _check_several_processes(training: TrainingConfig) -> None:
    """Checks for settings that could make processes act differently."""
    if training.max_minutes:
        raise ConfigError("training.max_minutes needs one process; use training.max_steps")
    if training.best_metric != "perplexity":
        raise ConfigError("training.best_metric must be perplexity if there are several processes")
