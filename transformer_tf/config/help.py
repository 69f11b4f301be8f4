"""Help on the keys of the configuration."""

from __future__ import annotations

import json
import textwrap
from argparse import SUPPRESS

from transformer_tf.config.loading import make_parser, plain_value

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
    groups = {
        str(group.title): {
            action.dest: action
            for action in group._group_actions
            if "." in action.dest and action.default != SUPPRESS
        }
        for group in make_parser()._action_groups[1:]
    }
    if not every:
        actions = {key: action for group in groups.values() for key, action in group.items()}
        title = "The keys that most runs change, each with its default; --help all lists every key"
        groups = {title: {key: actions[key] for key in COMMON_KEYS}}
    lines = []
    for title, group in groups.items():
        if group:
            lines += ["", *textwrap.wrap(f"{title.rstrip(':')}:", width)]
        for key, action in group.items():
            default = json.dumps(plain_value(action.default), ensure_ascii=False)
            lines += textwrap.wrap(
                f"{key}={default}",
                width,
                initial_indent="  ",
                subsequent_indent="    ",
                break_on_hyphens=False,
            )
            meaning = " ".join(str(action.help).split())
            lines += textwrap.wrap(
                meaning, width, initial_indent=6 * " ", subsequent_indent=6 * " "
            )
    return "\n".join(lines[1:])
