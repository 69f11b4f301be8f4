"""Diagrams of the positional encoding, of the learning rate, and of a training."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from transformer_tf.plots.style import SIGNED_COLORS, WEIGHT_COLORS, figure_style, new_figure
from transformer_tf.utils.tables import grouped

CURVES = (
    ("Loss", "nats per token", {"loss": "training", "val_loss": "validation"}),
    ("Accuracy", "share of tokens", {"accuracy": "training", "val_accuracy": "validation"}),
    ("Translations", "0 to 100", {"val_bleu": "BLEU", "val_chrf": "chrF"}),
)
"""The panels of the learning curves: title, unit, and the metrics with their labels."""


def plot_positional_encoding(encoding: npt.ArrayLike) -> Figure:
    """Draws a positional encoding and the similarity of its positions.

    Args:
        encoding: Array `(length, d_model)` with values from -1 to 1.

    Returns:
        A figure of two panels: the values, and the cosine of the angle between any two positions.
    """
    values = np.asarray(encoding, dtype=np.float64)
    directions = values / np.linalg.norm(values, axis=-1, keepdims=True)
    with figure_style():
        figure = new_figure(11, 4.5)
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        image = left.imshow(
            values, cmap=SIGNED_COLORS, vmin=-1, vmax=1, aspect="auto", origin="lower"
        )
        left.set(title="Positional encoding", xlabel="dimension", ylabel="position")
        figure.colorbar(image, ax=left, label="value", pad=0.02).outline.set_visible(False)
        image = right.imshow(
            directions @ directions.T, cmap=WEIGHT_COLORS, vmax=1, aspect="auto", origin="lower"
        )
        right.set(title="Similarity of two positions", xlabel="position", ylabel="position")
        bar = figure.colorbar(image, ax=right, label="cosine of their angle", pad=0.02)
        bar.outline.set_visible(False)
        figure.draw_without_rendering()
    return figure


def plot_schedule(rates: Mapping[str, npt.ArrayLike]) -> Figure:
    """Draws learning rates over the steps of a training.

    Args:
        rates: For each label of the legend, the rate at each step, from step 1 on.

    Returns:
        A figure with one curve for each label.
    """
    with figure_style():
        figure = new_figure(7, 4)
        axes = figure.subplots()
        for label, curve in rates.items():
            values = np.asarray(curve)
            axes.plot(np.arange(1, len(values) + 1), values, label=label)
        axes.set(title="Learning rate", xlabel="step", ylabel="rate", xlim=(0, None))
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(lambda step, _: grouped(step))
        axes.grid()
        axes.legend()
        figure.draw_without_rendering()
    return figure


def plot_learning_curves(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draws loss, accuracy and, if measured, BLEU and chrF over the epochs.

    Args:
        rows: The metrics of each validation, such as `epoch`, `loss` and `val_loss`.
    """
    panels = [panel for panel in CURVES if all(name in row for name in panel[2] for row in rows)]
    epochs = [row["epoch"] for row in rows]
    with figure_style():
        figure = new_figure(4.5 * len(panels), 3.5)
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (title, unit, labels) in zip(grid, panels, strict=True):
            for name, label in labels.items():
                values = [row[name] for row in rows]
                axes.plot(epochs, values, marker="o", markersize=3, label=label)
            axes.set(title=title, xlabel="epoch", ylabel=unit)
            axes.grid()
            axes.legend()
    return figure
