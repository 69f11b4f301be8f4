"""What happens after each training step, one callback a task."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator

import keras
from tqdm import tqdm

from transformer_tf.errors import TrainingDivergedError
from transformer_tf.training.progress import Progress
from transformer_tf.utils.startup import STARTED
from transformer_tf.utils.tables import grouped


class StepCounter(keras.callbacks.Callback):
    """Counts the steps and the time of a run. The other callbacks come after this one."""

    def __init__(self, progress: Progress):
        super().__init__()
        self.progress = progress

    def on_train_begin(self, logs=None):
        self.began_at = time.monotonic() - self.progress.seconds

    def on_train_batch_end(self, batch, logs=None):
        self.progress.step += 1
        self.progress.seconds = time.monotonic() - self.began_at

    def on_train_end(self, logs=None):
        self.progress.seconds = time.monotonic() - self.began_at


class LossCheck(keras.callbacks.Callback):
    """Ends a run whose loss is NaN or infinite.

    Args:
        progress: The progress of the run.
        describe: Describes the batch of a step, counted from 0.
    """

    def __init__(self, progress: Progress, describe: Callable[[int], str]):
        super().__init__()
        self.progress = progress
        self.describe = describe

    def on_train_batch_end(self, batch, logs=None):
        loss, step = float(logs["loss"]), self.progress.step
        if not math.isfinite(loss):
            batch = self.describe(step - 1)
            raise TrainingDivergedError(f"The loss became {loss} at step {step} ({batch})")


class StateSaver(keras.callbacks.Callback):
    """Saves the state of the run every few minutes.

    After the last step before a validation it saves none: a run that resumed from that state would
    miss the validation.

    Args:
        save: Saves the state.
        minutes: Minutes between two states.
    """

    def __init__(self, save: Callable[[], None], minutes: float):
        super().__init__()
        self.save = save
        self.seconds = 60 * minutes

    def on_train_begin(self, logs=None):
        self.saved_at = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        due = time.monotonic() - self.saved_at > self.seconds
        if due and batch + 1 < self.params["steps"]:
            _ = self.model  # on JAX, this copies the values into the variables
            self.save()
            self.saved_at = time.monotonic()


class StopCheck(keras.callbacks.Callback):
    """Ends the training after the step at which a condition holds."""

    def __init__(self, stop: Callable[[], bool]):
        super().__init__()
        self.stop = stop

    def on_train_batch_end(self, batch, logs=None):
        if self.stop():
            self.model.stop_training = True


class ProgressLine(keras.callbacks.Callback):
    """A line with the epoch, the step, the loss, the speed and the time left.

    A terminal shows the line as it changes; a log file gets one every 30 seconds.

    Args:
        progress: The progress of the run.
        total: Number of steps of the run.
        steps_per_epoch: Number of steps of an epoch.
    """

    def __init__(self, progress: Progress, total: int, steps_per_epoch: int):
        super().__init__()
        self.progress = progress
        self.total = total
        self.steps_per_epoch = steps_per_epoch
        self.terminal = sys.stderr.isatty()
        self.interval = 0.5 if self.terminal else 30.0  # seconds
        # With `disable=None`, tqdm writes only to a terminal.
        self.line = tqdm(bar_format="{desc}", dynamic_ncols=True, disable=None)
        self.shown_at = time.monotonic()
        self.first: tuple[int, float] | None = None  # the first step of this process, and its time

    def on_epoch_begin(self, epoch, logs=None):
        self.began_at = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        now = time.monotonic()
        if self.first is None:
            self.first = self.progress.step, now
            self.write(f"first training step done {now - STARTED:.1f} s after the start")
        if now - self.shown_at < self.interval:
            return
        self.shown_at = now
        text = self.text(float(logs["loss"]), float(logs["tokens"]) / (now - self.began_at), now)
        if self.terminal:
            self.line.set_description_str(text)
        else:
            self.write(text)

    def text(self, loss: float, tokens_per_second: float, now: float) -> str:
        """Formats the line.

        Args:
            loss: The mean loss since the last validation.
            tokens_per_second: The speed since then.
            now: The current `time.monotonic()`.
        """
        epoch, epochs = (
            -(-steps // self.steps_per_epoch) for steps in (self.progress.step, self.total)
        )
        parts = [
            f"epoch {epoch}/{epochs}",
            f"step {grouped(self.progress.step)}/{grouped(self.total)}",
            f"loss {loss:.2f}",
            f"{grouped(tokens_per_second)} tokens/s",
        ]
        seconds = self._seconds_per_step(now)
        if seconds is not None:
            left = (self.total - self.progress.step) * seconds
            parts.append(f"{format_duration(left)} left")
        return " · ".join(parts)

    def _seconds_per_step(self, now: float) -> float | None:
        """Returns the mean time of a step; None before the second.

        The first step does not count: it takes much longer, because it compiles.
        """
        first, first_at = self.first or (self.progress.step, now)
        steps = self.progress.step - first
        return (now - first_at) / steps if steps else None

    def write(self, text: str) -> None:
        """Prints a text on stderr, above the line."""
        tqdm.write(text, file=sys.stderr)

    def close(self) -> None:
        """Ends the line and leaves it on the screen."""
        self.line.close()


def format_duration(seconds: float) -> str:
    """Formats a time as m:ss or h:mm:ss."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class StopSignal:
    """Receives Ctrl-C and the SIGTERM of a scheduler.

    The first signal ends the run after the current step; a second one ends the process at once.

    Attributes:
        received: Whether a signal has come.
    """

    def __init__(self) -> None:
        self.received = False

    @contextlib.contextmanager
    def listen(self) -> Iterator[None]:
        """Handles signals inside the context, if this is the main thread."""
        before = {}
        with contextlib.suppress(ValueError):  # only the main thread may set handlers
            for number in (signal.SIGINT, signal.SIGTERM):
                before[number] = signal.signal(number, self._handle)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle(self, number, frame):
        if self.received:
            raise KeyboardInterrupt
        self.received = True
        tqdm.write("\nsaving the state; press Ctrl-C again to stop at once", file=sys.stderr)
