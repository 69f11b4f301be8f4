"""Heat maps of attention and learning curves, in one style."""

from transformer_tf.plots.heat_map import plot_attention
from transformer_tf.plots.learning_curves import plot_learning_curves
from transformer_tf.plots.style import save_figure, use_figure_style

__all__ = [
    "plot_attention",
    "plot_learning_curves",
    "save_figure",
    "use_figure_style",
]
