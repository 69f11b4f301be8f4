"""The commands of an installation: `transformer-tf-train`, `-translate`, `-evaluate`, `-export`.

`scripts/train.py` and the others are the same for a checkout.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """The option that says which translator."""
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="the translator's folder, or a folder of runs for its latest; by default "
        "checkpoints/en-de, else the latest run",
    )


def project_folder() -> Path:
    """Where `configs`, and in a checkout `checkpoints`, are: the checkout, else the package."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent
    return checkout if (checkout / "configs" / "quickstart.yaml").is_file() else package
