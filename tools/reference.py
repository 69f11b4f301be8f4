"""Writes the pages Configuration and Commands of the docs: python -m tools.reference.

The site is built with these pages, too: see `tools/site_files.py`.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

from transformer_tf.config import AlignmentHeads, Config, MixConfig
from transformer_tf.config.loading import RESUMABLE
from transformer_tf.config.section import describe, in_words, value_types

DOCS = Path(__file__).resolve().parent.parent / "docs"
COMMANDS = {  # what a page adds to the description of a command
    "translate": "[Translate](decoding.md) and [Attention maps](attention.md) have examples.",
    "train": "[Training](training.md) has examples, [Configuration](configuration.md) the keys. "
    "The status is 130 after SIGTERM, too; the run can then be resumed.",
    "evaluate": "Without a file, it scores the `test.tsv` in the translator's folder. "
    "`transformer-tf-evaluate mine.tsv` scores a [table](data.md#files), `--source FILE "
    "--reference FILE` two files of lines.",
    "export": "[Export](export.md) describes the formats.",
    "serve": "[Serve](serve.md) describes requests and answers. The status is 0 after Ctrl-C and "
    "SIGTERM.",
}


def configuration() -> str:
    """Returns the page with every key of the configuration."""
    sections: dict[str, Any] = {}
    for section, kind in get_type_hints(Config).items():
        sections[section] = kind
        if section == "data":
            sections["data.mix[]"] = MixConfig
        if section == "decoding":
            sections["decoding.alignment"] = AlignmentHeads
    resumable = ", ".join(f"`{key}`" for key in RESUMABLE)
    parts = [
        "# Configuration",
        "Every key of a run, with its default. A YAML file of `--config` lists what differs from "
        "these defaults; `section.key=value` on the command line overrides both. "
        "`transformer-tf-train --help KEY` shows one key.",
        "```yaml\nmodel:\n  d_model: 256\ntraining:\n  max_epochs: 10\n```",
        "```\ntransformer-tf-train --config FILE model.d_model=256 training.max_epochs=10\n```",
        f"In a resumed run only these may change: {resumable} and all of `decoding`.",
    ]
    for name, kind in sections.items():
        parts += [f"## {name}", (kind.__doc__ or "").split("\n")[0], _keys(kind)]
    return _page(parts)


def commands() -> str:
    """Returns the page with every option of the installed commands."""
    parts = [
        "# Commands",
        "In a clone, `python scripts/translate.py` is `transformer-tf-translate`, and so on. Each "
        "command also has `--help` and `--version`.",
        "| exit status | meaning |\n| --- | --- |\n"
        "| 0 | success |\n"
        "| 1 | an error: one line on stderr that begins with `error:` |\n"
        "| 2 | a wrong or missing option: the usage and one line on stderr |\n"
        "| 130 | stopped by Ctrl-C |",
        "| environment variable | meaning |\n| --- | --- |\n"
        "| `TRANSFORMER_TF_CHECKPOINTS` | a folder of your own [translators](install.md#names) |\n"
        "| `TRANSFORMER_TF_DATA` | the folder of [downloads](data.md#downloads) |\n"
        "| `TRANSFORMER_TF_CACHE` | the folder of programs that JAX compiled |\n"
        "| `KERAS_BACKEND` | `tensorflow` (default) or `jax`, for what uses Keras |",
    ]
    for name, note in COMMANDS.items():
        module = importlib.import_module(f"transformer_tf.commands.{name}")
        parser: argparse.ArgumentParser = module.make_parser()
        parts += [f"## transformer-tf-{name}", f"{parser.description} {note}"]
        parts.append(_table(("option", "meaning"), _options(parser)))
    return _page(parts)


PAGES = {"configuration.md": configuration, "commands.md": commands}


def _keys(section: Any) -> str:
    fields = {field.name: field for field in dataclasses.fields(section)}
    return _table(
        ("key", "default", "value", "meaning"),
        (
            (
                f"`{name}`",
                "" if fields[name].default is dataclasses.MISSING else _code(fields[name].default),
                describe(hint).removesuffix(" or null"),
                fields[name].metadata["meaning"],
            )
            for name, hint in value_types(section).items()
        ),
    )


def _code(value: Any) -> str:
    return f"`{in_words(value)}`"


def _options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Yields each argument of a command, as it is written, with its meaning."""
    for action in parser._actions:
        names = [name for name in action.option_strings if name != "-h"]
        if action.default == argparse.SUPPRESS and action.nargs == 0:
            continue  # --help without a topic, and --version
        meaning, default = action.help or "", action.default
        if action.required and names:
            meaning += "; required"
        if type(default) in (int, str) and str(default) not in meaning:
            meaning += f"; by default {default}"
        yield _written(action, names), meaning


def _written(action: argparse.Action, names: list[str]) -> str:
    if not names:
        return f"`{action.metavar or action.dest}`".replace(" | ", "` or `")
    if action.choices:
        return f"`{names[0]}` {', '.join(f'`{choice}`' for choice in action.choices)}"
    value = action.metavar or action.dest.upper()
    if action.nargs == "?":
        value = f"[{value}]"
    return f"`{names[0]}`" if action.nargs == 0 else f"`{names[0]} {value}`"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _page(parts: list[str]) -> str:
    return "\n\n".join([*parts, "<!-- `python -m tools.reference` writes this page. -->"]) + "\n"


def main() -> None:
    """Writes the pages."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
