"""Pictures of attention scores, made from NumPy arrays and tokens alone."""

from transformer_tf.attention_maps.figure import plot_attention, save_figure

__all__ = ["plot_attention", "save_figure"]
