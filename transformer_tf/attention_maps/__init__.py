"""Pictures of attention scores, made from NumPy arrays and tokens."""

from typing import TYPE_CHECKING

from transformer_tf.utils.lazy import lazy_names

if TYPE_CHECKING:
    from transformer_tf.attention_maps.diagrams import plot_positional_encoding, plot_schedule
    from transformer_tf.attention_maps.heat_map import plot_attention
    from transformer_tf.attention_maps.page import render_page, save_page
    from transformer_tf.utils.figures import save_figure, use_figure_style
    from transformer_tf.utils.files import FILE_SUFFIXES

__all__ = [
    "FILE_SUFFIXES",
    "plot_attention",
    "plot_positional_encoding",
    "plot_schedule",
    "render_page",
    "save_figure",
    "save_page",
    "use_figure_style",
]

# Matplotlib takes a second to import, and translations and pages do not need it.
__getattr__ = lazy_names(
    __name__,
    {
        "FILE_SUFFIXES": "transformer_tf.utils.files",
        "plot_attention": "transformer_tf.attention_maps.heat_map",
        "plot_positional_encoding": "transformer_tf.attention_maps.diagrams",
        "plot_schedule": "transformer_tf.attention_maps.diagrams",
        "render_page": "transformer_tf.attention_maps.page",
        "save_figure": "transformer_tf.utils.figures",
        "save_page": "transformer_tf.attention_maps.page",
        "use_figure_style": "transformer_tf.utils.figures",
    },
)
