"""The commands `transformer-tf-train`, `-translate`, `-evaluate` and `-export`.

In a checkout, `scripts/train.py` and the other scripts run the same code.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from transformer_tf import __version__
from transformer_tf.errors import ConfigError


def new_parser(description: str, **options: Any) -> argparse.ArgumentParser:
    """Returns the parser of a command, with the option `--version`.

    Args:
        description: What the command does.
        **options: Further arguments of `argparse.ArgumentParser`.
    """
    parser = argparse.ArgumentParser(description=description, **options)
    parser.add_argument("--version", action="version", version=__version__)
    return parser


def add_checkpoint(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Adds the options `--checkpoint`, `--from` and `--to` to a parser.

    Args:
        parser: The parser of a command.
        several: Whether `--checkpoint` may be given several times; it is then a list or None.
    """
    parser.add_argument(
        "--checkpoint",
        type=Path,
        action="append" if several else "store",
        metavar="DIR",
        help="the translator's folder, or a folder of runs, of which the latest is used; by "
        "default checkpoints/en-de, else the latest run",
    )
    for name, example in (("from", "de"), ("to", "en")):
        parser.add_argument(
            f"--{name}",
            dest=f"{name}_language",
            metavar="LANGUAGE",
            help=f"choose in checkpoints/ by language, such as --{name} {example}",
        )


def chosen_checkpoints(arguments: argparse.Namespace) -> list[Path]:
    """Returns the folders that the options of `add_checkpoint` choose.

    Raises:
        CheckpointError: If there is no such translator.
        ConfigError: If both a folder and a language are given.
    """
    from transformer_tf.checkpoint import find_checkpoint

    languages = arguments.from_language, arguments.to_language
    named = arguments.checkpoint
    if named and any(languages):
        raise ConfigError("--checkpoint names a translator already: leave out --from and --to")
    folders = named if isinstance(named, list) else [named]
    return [find_checkpoint(project_folder(), folder, *languages) for folder in folders]


def project_folder() -> Path:
    """Returns the folder of `configs` and `checkpoints`: the checkout, else the package."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent
    return checkout if (checkout / "configs" / "quickstart.yaml").is_file() else package
