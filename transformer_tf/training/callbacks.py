"""What happens between the steps of `fit`: progress, weights, samples and curves."""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import keras
import numpy as np
from tqdm import tqdm

from transformer_tf.checkpoint import BEST_WEIGHTS, LAST_WEIGHTS, save_weights
from transformer_tf.startup import STARTED
from transformer_tf.text.batching import Batches


class ShuffleEachEpoch(keras.callbacks.Callback):
    """Puts the training batches into the order of the epoch that begins.

    Args:
        batches: The training batches.
    """

    def __init__(self, batches: Batches):
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch, logs=None):
        self.batches.set_epoch(epoch)


class Progress(keras.callbacks.Callback):
    """A progress bar over the whole run, and a line for each epoch.

    The bar tells the loss, accuracy and learning rate, the real target tokens per second since
    the epoch began, and the time left of the run. The epoch's learning rate, tokens per second
    and seconds (validation left out) are added to the logs, for the callbacks that follow.

    Args:
        batches: The training batches.
        epochs: Number of epochs of the run.
    """

    def __init__(self, batches: Batches, epochs: int):
        super().__init__()
        self.batches = batches
        self.epochs = epochs
        self.steps = epochs * len(batches)
        # In a log file a line now and then is enough.
        self.interval = 0.5 if sys.stderr.isatty() else 30.0

    def on_train_begin(self, logs=None):
        self.bar = tqdm(
            total=self.steps,
            mininterval=self.interval,
            maxinterval=self.interval,
            unit="step",
            dynamic_ncols=True,
            smoothing=0.05,
        )

    def on_train_end(self, logs=None):
        self.bar.close()

    def on_epoch_begin(self, epoch, logs=None):
        self.begin = time.perf_counter()
        self.trained_until = self.begin
        self.tokens = 0
        self.bar.set_description(f"epoch {epoch + 1}/{self.epochs}", refresh=False)

    def on_train_batch_end(self, batch, logs=None):
        if self.batches.resampled:  # which of them it was is not known here
            self.tokens += self.batches.num_target_tokens / len(self.batches)
        else:
            self.tokens += self.batches.target_tokens(batch)
        self.trained_until = time.perf_counter()
        if self.bar.n == 0:
            waited = time.monotonic() - STARTED
            self.bar.write(f"first training step done {waited:.1f} s after the start", sys.stderr)
        if self.bar.update():  # it drew itself: give it news for the next time
            postfix = {name: _short(logs[name]) for name in ("loss", "accuracy") if name in logs}
            postfix["lr"] = f"{self._learning_rate():.2e}"
            postfix["tokens/s"] = f"{self._tokens_per_second():.0f}"
            self.bar.set_postfix(postfix, refresh=False)

    def on_epoch_end(self, epoch, logs=None):
        logs["learning_rate"] = self._learning_rate()
        logs["tokens_per_second"] = self._tokens_per_second()
        logs["seconds"] = self.trained_until - self.begin
        line = "  ".join(f"{name} {_short(value)}" for name, value in logs.items())
        self.bar.write(f"epoch {epoch + 1}/{self.epochs}  {line}", file=sys.stderr)

    def _learning_rate(self) -> float:
        return float(keras.ops.convert_to_numpy(self.model.optimizer.learning_rate))

    def _tokens_per_second(self) -> float:
        return self.tokens / max(self.trained_until - self.begin, 1e-9)


class SaveWeights(keras.callbacks.Callback):
    """Keeps the weights after each epoch, and those with the lowest validation perplexity.

    Args:
        folder: The checkpoint's folder.
    """

    def __init__(self, folder: Path):
        super().__init__()
        self.folder = folder
        self.best = np.inf

    def on_epoch_end(self, epoch, logs=None):
        save_weights(self.model, self.folder / LAST_WEIGHTS)
        if logs["val_perplexity"] < self.best:
            self.best = logs["val_perplexity"]
            save_weights(self.model, self.folder / BEST_WEIGHTS)


class TranslateSamples(keras.callbacks.Callback):
    """Translates the same few sentences at each validation and keeps what became of them.

    Args:
        sentences: The sentences.
        translate: From sentences to translations.
        path: The text file that the translations are appended to.
    """

    def __init__(
        self,
        sentences: Sequence[str],
        translate: Callable[[list[str]], list[str]],
        path: Path,
    ):
        super().__init__()
        self.sentences = list(sentences)
        self.translate = translate
        self.path = path

    def on_epoch_end(self, epoch, logs=None):
        if not self.sentences:
            return
        lines = [f"after epoch {epoch + 1}"]
        for sentence, translation in zip(
            self.sentences, self.translate(self.sentences), strict=True
        ):
            lines.append(f"  {sentence}\n  → {translation}")
        text = "\n".join(lines)
        tqdm.write(text, file=sys.stderr)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")


class Curves(keras.callbacks.Callback):
    """Draws loss and accuracy of training and validation over the epochs.

    Args:
        metrics: The CSV file of the run's metrics.
        path: The picture, drawn anew after each epoch.
    """

    def __init__(self, metrics: Path, path: Path):
        super().__init__()
        self.metrics = metrics
        self.path = path

    def on_epoch_end(self, epoch, logs=None):
        draw_curves(self.metrics, self.path)


def draw_curves(metrics: Path, path: Path) -> None:
    """Draws a run's `metrics.csv` as a picture with two panels, loss and accuracy.

    Args:
        metrics: A CSV file with the columns epoch, loss, accuracy, val_loss and val_accuracy.
        path: The picture to write, whole or not at all.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    with metrics.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    epochs = [int(row["epoch"]) + 1 for row in rows]
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    for axes, name, unit in zip(
        figure.subplots(1, 2), ("loss", "accuracy"), ("nats a token", "share"), strict=True
    ):
        for column, label in ((name, "training"), (f"val_{name}", "validation")):
            axes.plot(epochs, [float(row[column]) for row in rows], marker="o", label=label)
        axes.set_title(f"{name} ({unit})")
        axes.set_xlabel("epoch")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
        axes.legend()
    partial = path.with_name(f".partial-{path.name}")
    figure.savefig(partial, dpi=120)
    os.replace(partial, path)


def _short(value: float) -> str:
    return f"{float(value):.4g}"
