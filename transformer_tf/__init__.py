"""A Transformer translator in Keras 3, to read, train and use.

>>> from transformer_tf import Translator
>>> translator = Translator.load("checkpoints/en-de")
>>> translator.translate("Where is the station?")
'Wo ist der Bahnhof?'
"""

from typing import TYPE_CHECKING

from transformer_tf.utils.lazy import lazy_names

if TYPE_CHECKING:
    from transformer_tf.attention_maps.attention_scores import Attention
    from transformer_tf.text.segments import Translation
    from transformer_tf.transformer import Transformer
    from transformer_tf.translator import Translator

__all__ = ["Attention", "Transformer", "Translation", "Translator", "__version__"]

__version__ = "0.2.0"

# `import transformer_tf` imports no backend.
__getattr__ = lazy_names(
    __name__,
    {
        "Attention": "transformer_tf.attention_maps.attention_scores",
        "Transformer": "transformer_tf.transformer",
        "Translation": "transformer_tf.text.segments",
        "Translator": "transformer_tf.translator",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
