"""Pictures of attention scores, made from NumPy arrays and tokens alone."""

from transformer_tf.attention_maps.diagrams import plot_positional_encoding, plot_schedule
from transformer_tf.attention_maps.figure import FILE_SUFFIXES, plot_attention, save_figure
from transformer_tf.attention_maps.page import PageMap, PageSentence, render_page, save_page

__all__ = [
    "FILE_SUFFIXES",
    "PageMap",
    "PageSentence",
    "plot_attention",
    "plot_positional_encoding",
    "plot_schedule",
    "render_page",
    "save_figure",
    "save_page",
]
