"""What happens between the steps of `fit`: a progress bar, a watch, averages and states."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator

import keras
import numpy as np
from tqdm import tqdm

from transformer_tf.errors import TrainingDivergedError
from transformer_tf.startup import STARTED
from transformer_tf.training.averaging import WeightAverage


class Steps(keras.callbacks.Callback):
    """A callback that counts the steps of a run, over all calls of `fit`.

    Attributes:
        step: Number of steps done.

    Args:
        step: Number of steps done before.
    """

    def __init__(self, step: int):
        super().__init__()
        self.step = step

    def on_train_batch_end(self, batch, logs=None):
        self.step += 1
        self.after_step(logs)

    def after_step(self, logs):
        """What to do after a step."""


class ProgressBar(Steps):
    """A bar over the whole run, with the loss, the speed and the time left.

    Args:
        step: Number of steps done before.
        total: Number of steps of the run.
    """

    def __init__(self, step: int, total: int):
        super().__init__(step)
        # In a log file a line now and then is enough.
        interval = 0.5 if sys.stderr.isatty() else 30.0
        self.bar = tqdm(
            total=total,
            initial=step,
            mininterval=interval,
            maxinterval=interval,
            unit="step",
            dynamic_ncols=True,
            smoothing=0.05,
        )
        self.waited = False

    def on_epoch_begin(self, epoch, logs=None):
        self.begin = time.perf_counter()

    def after_step(self, logs):
        if not self.waited:
            self.waited = True
            seconds = time.monotonic() - STARTED
            self.write(f"first training step done {seconds:.1f} s after the start")
        if self.bar.update():  # it drew itself: give it news for the next time
            rate = float(logs["tokens"]) / max(time.perf_counter() - self.begin, 1e-9)
            news = {name: f"{float(logs[name]):.4g}" for name in ("loss", "accuracy")}
            self.bar.set_postfix({**news, "tokens/s": f"{rate:.0f}"}, refresh=False)

    def write(self, text: str) -> None:
        """Prints a text on stderr, above the bar."""
        self.bar.write(text, file=sys.stderr)

    def close(self) -> None:
        """Leaves the bar as it is."""
        self.bar.close()


class StopOnDivergence(Steps):
    """Ends the training at the first step whose loss is not a finite number.

    Args:
        step: Number of steps done before.
        describe: From the number of a step, counted from 0, to where its batch stands.
    """

    def __init__(self, step: int, describe: Callable[[int], str]):
        super().__init__(step)
        self.describe = describe

    def after_step(self, logs):
        loss = float(logs["loss"])
        if not np.isfinite(loss):
            raise TrainingDivergedError(
                f"The loss became {loss} at step {self.step} ({self.describe(self.step - 1)})"
            )


class AverageWeights(Steps):
    """Takes the weights into an average after each step.

    Args:
        step: Number of steps done before.
        average: The average.
        model: The model whose weights are averaged.
    """

    def __init__(self, step: int, average: WeightAverage, model: keras.Model):
        super().__init__(step)
        self.average = average
        self.averaged = model

    def after_step(self, logs):
        if self.average.due(self.step):
            _ = self.model  # on JAX this brings the variables up to date
            self.average.update(self.averaged, self.step)


class SaveNowAndThen(Steps):
    """Saves the state of the run every few minutes, and ends it when it is asked to.

    Args:
        step: Number of steps done before.
        save: Saves the state after a number of steps.
        minutes: Time between two states.
        stop: Says whether the training should end now.
        end: The last step, after which there is a validation. A state before it would be one that
            a resumed run does not validate.
    """

    def __init__(
        self,
        step: int,
        save: Callable[[int], None],
        minutes: float,
        stop: Callable[[], bool],
        end: int,
    ):
        super().__init__(step)
        self.end = end
        self.save = save
        self.seconds = 60 * minutes
        self.stop = stop

    def on_epoch_begin(self, epoch, logs=None):
        self.saved = time.monotonic()

    def after_step(self, logs):
        if self.stop():
            self.model.stop_training = True
        elif self.step < self.end and time.monotonic() - self.saved > self.seconds:
            _ = self.model  # on JAX this brings the variables up to date
            self.save(self.step)
            self.saved = time.monotonic()


class StopSignal:
    """Whether somebody wants the run to end: Ctrl-C, or the SIGTERM of a scheduler.

    The first signal asks for an end after the step that is under way; a second one ends the
    process at once.

    Attributes:
        received: Whether a signal came.
    """

    def __init__(self) -> None:
        self.received = False

    @contextlib.contextmanager
    def listen(self) -> Iterator[None]:
        """Takes signals while the context lasts, if this is the main thread."""
        before = {}
        with contextlib.suppress(ValueError):  # another thread may not
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
        tqdm.write("\nsaving the state; once more to stop at once", file=sys.stderr)
