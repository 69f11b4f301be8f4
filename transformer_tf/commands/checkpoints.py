"""The checkpoint that a command uses: named, chosen by language, or the newest run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from transformer_tf.commands import project_folder
from transformer_tf.errors import CheckpointError, ConfigError
from transformer_tf.utils.startup import command_line


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
    languages = arguments.from_language, arguments.to_language
    named = arguments.checkpoint
    if named and any(languages):
        raise ConfigError("--checkpoint names a translator already: leave out --from and --to")
    folders = named if isinstance(named, list) else [named]
    return [find_checkpoint(project_folder(), folder, *languages) for folder in folders]


def find_checkpoint(
    root: Path,
    named: Path | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> Path:
    """Chooses the checkpoint to use. If it is the latest run, prints its name on stderr.

    Args:
        root: The project's folder.
        named: A checkpoint, or a folder of runs, of which the latest is chosen. By default
            `checkpoints/en-de` if it exists, else the latest run in `runs`, here or in `root`.
        source_language: Chooses in `checkpoints` by the code of the source language, such as `de`.
        target_language: Chooses in `checkpoints` by the code of the target language.

    Raises:
        CheckpointError: If there is none, or more than one for the languages, or `named` is no
            checkpoint.
    """
    from transformer_tf.checkpoint import CONFIG_FILE, check_folder

    if source_language or target_language:
        return _find_pair(root / "checkpoints", source_language, target_language)
    if named is not None:
        chosen = named if (named / CONFIG_FILE).is_file() else _latest([named]) or named
        check_folder(chosen)
        return chosen
    shipped = root / "checkpoints" / "en-de"
    if (shipped / CONFIG_FILE).is_file():
        return shipped
    latest = _latest([Path("runs"), root / "runs"])
    if latest is None:
        raise CheckpointError(
            f"There is no translator yet: train one with {command_line('train')}, "
            "or name one with --checkpoint DIR"
        )
    return latest


def _find_pair(folder: Path, source: str | None, target: str | None) -> Path:
    """Returns the checkpoint that translates between two languages; None stands for any."""
    from transformer_tf.checkpoint import CONFIG_FILE
    from transformer_tf.config import load_saved_config

    pairs = {}
    for path in sorted(folder.glob(f"*/{CONFIG_FILE}")):
        data = load_saved_config(path).data
        pairs[path.parent] = data.source_language, data.target_language
    found = [
        path
        for path, pair in pairs.items()
        if source in (None, pair[0]) and target in (None, pair[1])
    ]
    if len(found) == 1:
        return found[0]
    wanted = " ".join(f"{name} {code}" for name, code in (("from", source), ("to", target)) if code)
    number = "Several translators go" if found else "There is no translator"
    offered = ", ".join(f"--checkpoint {path}" for path in found or pairs) or "none"
    raise CheckpointError(f"{number} {wanted} in {folder}; choose from: {offered}")


def _latest(folders: Iterable[Path]) -> Path | None:
    """Returns the run with the newest weights and prints it on stderr."""
    from transformer_tf.checkpoint import BEST_WEIGHTS, CONFIG_FILE, LAST_WEIGHTS

    weights = [
        config.with_name(name)
        for folder in folders
        for config in folder.glob(f"*/{CONFIG_FILE}")
        for name in (BEST_WEIGHTS, LAST_WEIGHTS)
        if config.with_name(name).is_file()
    ]
    if not weights:
        return None
    latest = max(weights, key=lambda path: path.stat().st_mtime).parent
    print(f"Using {latest}", file=sys.stderr)
    return latest
