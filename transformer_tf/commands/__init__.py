"""The commands `transformer-tf-train`, `-translate`, `-evaluate`, `-export` and `-serve`.

In a checkout, `scripts/train.py` and the other scripts run the same code.
"""

from __future__ import annotations

import argparse
from typing import Any

from transformer_tf import __version__


def new_parser(description: str, **options: Any) -> argparse.ArgumentParser:
    """Returns the parser of a command, with the option `--version`.

    Args:
        description: What the command does.
        **options: Further arguments of `argparse.ArgumentParser`.
    """
    parser = argparse.ArgumentParser(description=description, **options)
    parser.add_argument("--version", action="version", version=__version__)
    return parser
