"""The learning curves of a run."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from transformer_tf.plots.style import figure_style, new_figure

CURVES = (
    ("Loss", "nats per token", {"loss": "training", "val_loss": "validation"}),
    ("Accuracy", "share of tokens", {"accuracy": "training", "val_accuracy": "validation"}),
    ("Translations", "0 to 100", {"val_bleu": "BLEU", "val_chrf": "chrF"}),
)
"""The panels of the learning curves: title, unit, and the metrics with their labels."""


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
