"""Help on the keys of the configuration."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from typing import Any

from transformer_tf.config.loading import plain_value
from transformer_tf.config.schema import Config

# The keys that most runs change.
COMMON_KEYS = (
    "data.corpus",
    "data.files",
    "data.source_language",
    "data.target_language",
    "data.swap",
    "data.validation_size",
    "data.test_size",
    "data.max_pairs",
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


def help_text(every: bool = False, width: int = 80) -> str:
    """Lists keys with their defaults and meanings.

    Args:
        every: Whether to list every key, by section, instead of `COMMON_KEYS`.
        width: Maximum number of characters in a line.
    """
    groups: dict[str, dict[str, tuple[Any, str]]] = {}
    for name, section in vars(Config()).items():
        doc = inspect.getdoc(section) or ""
        meanings = dict(re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", doc, re.MULTILINE))
        groups[doc.splitlines()[0]] = {
            f"{name}.{key}": (default, meanings[key]) for key, default in vars(section).items()
        }
    if not every:
        keys = {key: each for group in groups.values() for key, each in group.items()}
        title = "The keys that most runs change, each with its default; --help all lists every key"
        groups = {title: {key: keys[key] for key in COMMON_KEYS}}
    lines = []
    for title, group in groups.items():
        lines += ["", *textwrap.wrap(f"{title.rstrip('.')}:", width)]
        for key, (default, meaning) in group.items():
            value = json.dumps(plain_value(default), ensure_ascii=False)
            lines += textwrap.wrap(
                f"{key}={value}",
                width,
                initial_indent="  ",
                subsequent_indent="    ",
                break_on_hyphens=False,
            )
            lines += textwrap.wrap(
                " ".join(meaning.split()), width, initial_indent=6 * " ", subsequent_indent=6 * " "
            )
    return "\n".join(lines[1:])
