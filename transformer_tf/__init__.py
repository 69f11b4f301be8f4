"""A Transformer translator in Keras 3, to read, train and use.

>>> from transformer_tf import Translator
>>> translator = Translator.load("en-de")
>>> translator.translate("Where is the station?")
'Wo ist der Bahnhof?'
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer_tf.attention_maps.attention_scores import Attention
    from transformer_tf.transformer import Transformer
    from transformer_tf.translation import Translation
    from transformer_tf.translator import Translator

__all__ = ["Attention", "Transformer", "Translation", "Translator", "__version__"]

__version__ = "0.2.0"

_MODULES = {
    "Attention": "transformer_tf.attention_maps.attention_scores",
    "Transformer": "transformer_tf.transformer",
    "Translation": "transformer_tf.translation",
    "Translator": "transformer_tf.translator",
}


def __getattr__(name: str) -> Any:
    """Imports a class when it is used, because `import transformer_tf` imports no backend."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
