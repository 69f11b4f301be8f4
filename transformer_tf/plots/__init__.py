"""Figures of attention, positions, learning rates and training, from NumPy arrays, in one style."""

from transformer_tf.plots.diagrams import (
    plot_learning_curves,
    plot_positional_encoding,
    plot_schedule,
)
from transformer_tf.plots.heat_map import plot_attention
from transformer_tf.plots.style import save_figure, use_figure_style

__all__ = [
    "plot_attention",
    "plot_learning_curves",
    "plot_positional_encoding",
    "plot_schedule",
    "save_figure",
    "use_figure_style",
]
