import numpy as np

from transformer_tf.plots import plot_learning_curves


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
