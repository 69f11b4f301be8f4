"""The commands `transformer-tf-train`, `-translate`, `-evaluate` and `-export`.

In a checkout, `scripts/train.py` and the other scripts run the same code.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_checkpoint(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Adds the option `--checkpoint` to a parser.

    Args:
        parser: The parser of a command.
        several: Whether it may be given several times; its value is a list or None then.
    """
    parser.add_argument(
        "--checkpoint",
        type=Path,
        action="append" if several else "store",
        metavar="DIR",
        help="the translator's folder, or a folder of runs, of which the latest is used; by "
        "default checkpoints/en-de, or the latest run without it",
    )


def project_folder() -> Path:
    """Returns the folder of `configs` and `checkpoints`: the checkout, else the package."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent
    return checkout if (checkout / "configs" / "quickstart.yaml").is_file() else package
