"""Help on the keys of the configuration."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from typing import Any

from transformer_tf.config.loading import check_key
from transformer_tf.config.schema import AlignmentHeads, Config, MixConfig
from transformer_tf.config.section import in_words

# The keys that most runs change.
COMMON_KEYS = (
    "data.corpus",
    "data.files",
    "data.source_language",
    "data.target_language",
    "data.swap",
    "data.held_out_size",
    "training.samples",
    "training.start_from",
    "tokenizer.vocab_size",
    "training.max_epochs",
    "training.max_minutes",
    "training.tokens_per_batch",
    "model.d_model",
    "model.num_layers",
    "model.d_ff",
    "model.dropout_rate",
    "training.warmup_steps",
    "training.precision",
)


def help_text(topic: str | None = None, width: int = 80) -> str:
    """Lists keys with their defaults and meanings.

    Args:
        topic: A key, a section or `all`; None for `COMMON_KEYS`.
        width: Maximum number of characters in a line.

    Raises:
        ConfigError: If there is no such key or section.
    """
    fields = _fields()
    lines: list[str] = []
    if topic is None:
        title = "The keys that most runs change, each with its default; --help all lists every key"
        lines += textwrap.wrap(f"{title}:", width)
        fields = {key: fields[key] for key in COMMON_KEYS}
    elif topic != "all":
        fields = {key: fields[key] for key in fields if re.match(rf"{re.escape(topic)}(\W|$)", key)}
        if not fields:
            check_key(topic)
    for key, field in fields.items():
        required = field.default is dataclasses.MISSING
        default = key if required else f"{key}={in_words(field.default)}"
        for text, indent in ((default, 2), (field.metadata["meaning"], 6)):
            lines += textwrap.wrap(
                text, width, initial_indent=indent * " ", subsequent_indent=max(indent, 4) * " "
            )
    return "\n".join(lines)


def _fields() -> dict[str, dataclasses.Field[Any]]:
    """Returns the field of each key, those of `data.mix` and `decoding.alignment` included."""
    fields = {
        f"{section}.{field.name}": field
        for section, values in vars(Config()).items()
        for field in dataclasses.fields(values)
    }
    entries = {"data.mix[]": MixConfig, "decoding.alignment": AlignmentHeads}
    return fields | {
        f"{key}.{field.name}": field
        for key, entry in entries.items()
        for field in dataclasses.fields(entry)
    }
