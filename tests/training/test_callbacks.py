"""The callbacks of a run, with a clock that the tests set."""

import contextlib
import io
import math
import os
import select
import signal
import struct
import types

import pytest

from transformer_tf.errors import TrainingDivergedError
from transformer_tf.training import callbacks
from transformer_tf.training.callbacks import (
    LossCheck,
    ProgressLine,
    StateSaver,
    StepCounter,
    StopCheck,
    StopSignal,
    format_duration,
)
from transformer_tf.training.progress import Progress


class Clock:
    """Stands in for the module `time`."""

    def __init__(self, now):
        self.now = now

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock(100.0)
    monkeypatch.setattr(callbacks, "time", clock)
    monkeypatch.setattr(callbacks, "STARTED", 90.0)
    return clock


class Screen(io.StringIO):
    """Stands in for `sys.stderr`."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def test_steps_and_seconds_are_added_to_those_of_earlier_parts_of_the_run(clock):
    progress = Progress(step=3, seconds=7.0)
    counter = StepCounter(progress)
    counter.on_train_begin()
    clock.now = 102.0
    counter.on_train_batch_end(0)
    assert (progress.step, progress.seconds) == (4, 9.0)
    clock.now = 105.0
    counter.on_train_batch_end(1)
    assert (progress.step, progress.seconds) == (5, 12.0)
    clock.now = 109.0
    counter.on_train_end()
    assert (progress.step, progress.seconds) == (5, 16.0)


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_a_loss_without_a_value_ends_the_run(loss):
    """The batch of step 5 is number 4, counted from 0."""
    check = LossCheck(Progress(step=5), lambda step: f"batch {step}")
    check.on_train_batch_end(0, {"loss": 1e30})
    with pytest.raises(TrainingDivergedError, match=rf"{loss} at step 5 \(batch 4\)"):
        check.on_train_batch_end(0, {"loss": loss})


def test_a_state_is_saved_every_two_minutes_but_not_before_a_validation(clock):
    done = []

    class Saver(StateSaver):
        @property
        def model(self):  # on JAX, Keras copies the weights when it is read
            done.append("weights")

    saver = Saver(lambda: done.append("state"), minutes=2)
    saver.set_params({"steps": 7})
    saver.on_train_begin()
    saved = []
    times = 220.0, 220.5, 340.5, 341.0, 462.0, 590.0
    for clock.now, batch in zip(times, (0, 1, 2, 4, 5, 6), strict=True):
        done.clear()
        saver.on_train_batch_end(batch)
        saved.append(list(done))
    now = ["weights", "state"]
    assert saved == [[], now, [], now, now, []]


def test_training_stops_when_a_condition_holds():
    model, answers = types.SimpleNamespace(stop_training=False), iter([False, True])
    check = StopCheck(lambda: next(answers))
    check.set_model(model)
    for expected in (False, True):
        check.on_train_batch_end(0)
        assert model.stop_training is expected


def test_a_log_file_gets_a_line_every_thirty_seconds(clock, monkeypatch):
    """The rates are those since the last validation, at 100 s; the first step, at 103 s, compiles.

    At 130 s, 2 steps have taken 27 s since then, and 6 are left: 81 s. At 161 s, 4 steps have taken
    58 s, and 4 are left.
    """
    screen = Screen(terminal=False)
    monkeypatch.setattr("sys.stderr", screen)
    progress = Progress(step=4)
    line = ProgressLine(progress, total=13, steps_per_epoch=5)
    line.on_epoch_begin(0)
    shown = []
    for clock.now, progress.step, tokens in (
        (103.0, 5, 900),
        (129.0, 6, 2000),
        (130.0, 7, 3300),
        (159.0, 8, 9000),
        (161.0, 9, 73200),
    ):
        line.on_train_batch_end(0, {"loss": 1.256, "tokens": tokens})
        shown.append(screen.getvalue())
        screen.seek(0)
        screen.truncate()
    line.close()
    assert shown == [
        "first training step done 13.0 s after the start\n",
        "",
        "epoch 2/3 · step 7/13 · loss 1.26 · 110 tokens/s · 1:21 left\n",
        "",
        "epoch 2/3 · step 9/13 · loss 1.26 · 1 200 tokens/s · 0:58 left\n",
    ]
    assert screen.getvalue() == ""


class Terminal:
    """A terminal of some width, and the file of what is written to it."""

    def __init__(self):
        self._screen, file = os.openpty()
        self.file = os.fdopen(file, "w", encoding="utf-8")

    def set_width(self, columns):
        import fcntl
        import termios

        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))

    def last_line(self):
        """Returns what was written last, from the beginning of its line."""
        text = b""
        while select.select([self._screen], [], [], 0.05)[0]:
            text += os.read(self._screen, 4096)
        return text.decode().split("\r")[-1].rstrip()

    def close(self):
        self.file.close()
        os.close(self._screen)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_a_terminal_shows_one_line_that_changes_and_fits(clock, monkeypatch):
    """Of a window of 21 columns the last one stays free."""
    with contextlib.closing(Terminal()) as terminal:
        monkeypatch.setattr("sys.stderr", terminal.file)
        terminal.set_width(90)
        progress = Progress(step=4)
        line = ProgressLine(progress, total=1300, steps_per_epoch=5)
        line.on_epoch_begin(0)
        for clock.now, progress.step, columns, expected in (
            # There is no time of a step yet.
            (100.5, 5, 90, "epoch 1/260 · step 5/1 300 · loss 2.00 · 20 tokens/s"),
            (100.9, 6, 90, ""),  # a new line only after half a second
            (101.0, 7, 90, "epoch 2/260 · step 7/1 300 · loss 2.00 · 10 tokens/s · 5:23 left"),
            (101.5, 8, 21, "epoch 2/260 · step 8"),
        ):
            terminal.set_width(columns)
            line.on_train_batch_end(0, {"loss": 2.0, "tokens": 10})
            assert terminal.last_line() == expected
        line.close()


def test_the_time_left_leaves_the_first_step_out():
    line = ProgressLine(Progress(step=6), total=11, steps_per_epoch=4)
    line.first = (1, 100.0)
    text = line.text(loss=0.5, tokens_per_second=10.0, now=182.0)
    assert text == "epoch 2/3 · step 6/11 · loss 0.50 · 10 tokens/s · 1:22 left"


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0:00"), (82, "1:22"), (3723.4, "1:02:03")])
def test_durations(seconds, text):
    assert format_duration(seconds) == text


def test_the_first_signal_is_kept_and_the_second_one_interrupts(capsys):
    numbers = signal.SIGINT, signal.SIGTERM
    before = [signal.getsignal(number) for number in numbers]
    stop = StopSignal()
    with stop.listen():
        assert stop.received is False
        signal.raise_signal(signal.SIGTERM)
        assert stop.received is True
        printed = capsys.readouterr()
        # A line of its own: the terminal has just written ^C.
        assert printed.err.startswith("\n") and "Ctrl-C" in printed.err and printed.out == ""
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert [signal.getsignal(number) for number in numbers] == before
