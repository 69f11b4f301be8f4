"""The options that choose a translator: by name, by language, or the newest run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from transformer_tf.catalog import (
    CONFIG_FILE,
    DEFAULT_TRANSLATOR,
    available,
    entries_in,
    find_checkpoint,
    find_pair,
    weight_files,
)
from transformer_tf.errors import CheckpointError, ConfigError
from transformer_tf.utils.languages import language_name
from transformer_tf.utils.tables import table


def add_checkpoint(
    parser: argparse.ArgumentParser, several: bool = False, default: str = DEFAULT_TRANSLATOR
) -> None:
    """Adds the options `--checkpoint`, `--from`, `--to` and `--list-translators` to a parser.

    Args:
        parser: The parser of a command.
        several: Whether `--checkpoint` may be given several times; it is then a list or None.
        default: What the command uses without these options, for its help.
    """
    parser.add_argument(
        "--checkpoint",
        type=Path,
        action="append" if several else "store",
        metavar="NAME",
        help="the name or the folder of a translator, or a folder of runs, of which the newest is "
        f"used; by default {default}",
    )
    for name, example in (("from", "de"), ("to", "en")):
        parser.add_argument(
            f"--{name}",
            dest=f"{name}_language",
            metavar="LANGUAGE",
            help=f"choose a translator by language, such as --{name} {example}",
        )
    parser.add_argument(
        "--list-translators",
        action=_ListTranslators,
        nargs=0,
        help="show the translators that have a name, and stop",
    )


class _ListTranslators(argparse.Action):
    """Prints a table of the translators that have a name, and ends the program."""

    def __call__(self, parser, namespace, values, option_string=None):
        try:
            print(translator_table())
        except CheckpointError as error:
            parser.error(str(error))
        parser.exit()


def translator_table() -> str:
    """Returns a table of the translators that have a name."""
    rows = [
        {
            "name": entry.name,
            "direction": f"{language_name(entry.source_language)} to "
            f"{language_name(entry.target_language)}",
            "MB": f"{entry.num_bytes / 1e6:.1f}",
            "BLEU": "-" if entry.bleu is None else f"{entry.bleu:.1f}",
            "folder": entry.folder,
        }
        for entry in available()
    ]
    return table(rows) if rows else "There are no translators"


def chosen_checkpoints(arguments: argparse.Namespace) -> list[Path]:
    """Returns the folders that the options of `add_checkpoint` choose.

    Raises:
        CheckpointError: If there is no such translator.
        ConfigError: If both a folder and a language are given.
    """
    languages = arguments.from_language, arguments.to_language
    named = arguments.checkpoint
    if any(languages):
        if named:
            raise ConfigError("--checkpoint names a translator already: leave out --from and --to")
        return [find_pair(*languages)]
    names = named if isinstance(named, list) else [named or Path(DEFAULT_TRANSLATOR)]
    return [newest_run(name) or find_checkpoint(name) for name in names]


def newest_run(folder: Path) -> Path | None:
    """Returns the newest run in a folder of runs and prints it on stderr.

    Returns:
        None if the folder is a checkpoint itself, or contains none.

    Raises:
        CheckpointError: If the folder contains translators of several directions that are no runs.
    """
    if (folder / CONFIG_FILE).is_file():
        return None
    from transformer_tf.checkpoint import LAST_WEIGHTS  # imports NumPy

    inside = [path.parent for path in folder.glob(f"*/{CONFIG_FILE}")]
    weights = [path for each in inside for path in weight_files(each)]
    if not weights:
        return None
    newest = max(weights, key=lambda path: path.stat().st_mtime).parent
    directions = {(entry.source_language, entry.target_language) for entry in entries_in(folder)}
    if len(directions) > 1 and not (newest / LAST_WEIGHTS).is_file():
        choices = ", ".join(f"--checkpoint {path}" for path in sorted(inside))
        raise CheckpointError(f"{folder} has translators of several directions: choose {choices}")
    print(f"Using {newest}", file=sys.stderr)
    return newest
