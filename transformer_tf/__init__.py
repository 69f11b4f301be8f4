"""A Transformer translator to read, train and use, in Keras 3.

>>> from transformer_tf import Translator
>>> translator = Translator.load("checkpoints/en-de")
>>> translator.translate("Where is the station?")
'Wo ist der Bahnhof?'
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer_tf.attention import Attention
    from transformer_tf.transformer import Transformer
    from transformer_tf.translator import Translation, Translator

__all__ = ["Attention", "Transformer", "Translation", "Translator"]

_MODULES = {
    "Attention": "transformer_tf.attention",
    "Transformer": "transformer_tf.transformer",
    "Translation": "transformer_tf.translator",
    "Translator": "transformer_tf.translator",
}


def __getattr__(name: str) -> Any:
    """Imports what is asked for, and the back end not before it is needed."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
