import pytest

from transformer_tf.training.callbacks import ProgressLine, format_duration
from transformer_tf.training.progress import Progress


def test_the_time_left_leaves_the_first_step_out():
    line = ProgressLine(Progress(step=6), total=11, steps_per_epoch=4)
    line.first = (1, 100.0)
    text = line.text(loss=0.5, tokens_per_second=10.0, now=182.0)
    assert text == "epoch 2/3 · step 6/11 · loss 0.50 · 10 tokens/s · 1:22 left"


def test_a_time_limit_that_cuts_the_run_short():
    """25 steps in 50 seconds after the first, 40 seconds left: it ends with step 46 of 100."""
    progress = Progress(step=26)
    line = ProgressLine(progress, total=100, steps_per_epoch=50, deadline=190.0)
    line.first = (1, 100.0)
    assert line.text(0.5, 10.0, now=150.0).endswith(" · 0:40 left")
    note = line.note(now=150.0)
    assert "after about 46 of 100 steps" in note
    assert "training.max_steps=46 would fit" in note
    progress.step = 20  # too few steps to tell
    assert line.note(now=150.0) == ""
    assert ProgressLine(progress, total=100, steps_per_epoch=50).note(now=150.0) == ""


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0:00"), (82, "1:22"), (3723.4, "1:02:03")])
def test_durations(seconds, text):
    assert format_duration(seconds) == text
