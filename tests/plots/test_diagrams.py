import numpy as np
import pytest
from matplotlib.image import AxesImage

from transformer_tf.plots import (
    plot_learning_curves,
    plot_positional_encoding,
    plot_schedule,
)


def test_positional_encoding_shows_its_values(random):
    encoding = random.uniform(-1, 1, (7, 6))
    figure = plot_positional_encoding(encoding)
    values, likeness = (
        image.get_array() for axes in figure.axes for image in axes.images
        if isinstance(image, AxesImage)
    )  # fmt: skip
    np.testing.assert_allclose(values, encoding)
    np.testing.assert_allclose(np.diagonal(likeness), 1)
    expected = encoding[2] @ encoding[5] / np.linalg.norm(encoding[2]) / np.linalg.norm(encoding[5])
    assert likeness[2, 5] == pytest.approx(expected)


def test_schedule_begins_at_step_one():
    figure = plot_schedule({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1]})
    curves = figure.axes[0].lines
    assert [curve.get_label() for curve in curves] == ["a", "b"]
    np.testing.assert_allclose(curves[0].get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(curves[1].get_ydata(), [0.3, 0.2, 0.1])


def test_learning_curves():
    rows = [
        {"epoch": n, "loss": 1.0 / n, "val_loss": 2.0 / n, "accuracy": 0.1, "val_accuracy": 0.2}
        for n in (1, 2)
    ]
    panels = plot_learning_curves(rows).axes
    assert [axes.get_title("left") for axes in panels] == ["Loss", "Accuracy"]
    curves = panels[0].lines
    assert [curve.get_label() for curve in curves] == ["training", "validation"]
    np.testing.assert_allclose(curves[1].get_ydata(), [2.0, 1.0])
    scored = [{**row, "val_bleu": 9.0, "val_chrf": 20.0} for row in rows]
    assert len(plot_learning_curves(scored).axes) == 3
