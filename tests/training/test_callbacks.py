import pytest

from transformer_tf.training.callbacks import ProgressLine, format_duration
from transformer_tf.training.progress import Progress


def test_the_time_left_leaves_the_first_step_out():
    line = ProgressLine(Progress(step=6), total=11, steps_per_epoch=4)
    line.first = (1, 100.0)
    text = line.text(loss=0.5, tokens_per_second=10.0, now=182.0)
    assert text == "epoch 2/3 · step 6/11 · loss 0.50 · 10 tokens/s · 1:22 left"


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0:00"), (82, "1:22"), (3723.4, "1:02:03")])
def test_durations(seconds, text):
    assert format_duration(seconds) == text
