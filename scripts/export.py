#!/usr/bin/env python
"""Export a translator for another engine: python scripts/export.py --format ctranslate2 ..."""

import argparse
import sys
from pathlib import Path

from transformer_tf.startup import import_keras_quietly, run_command

ROOT = Path(__file__).resolve().parent.parent
QUANTIZATIONS = ("int8", "int16", "float16", "bfloat16")


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Write a checkpoint in another engine's format.")
    parser.add_argument(
        "--format", required=True, choices=("ctranslate2",), help="the engine it is for"
    )
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="the translator's folder, by default checkpoints/en-de, else the latest run",
    )
    parser.add_argument("--output", type=Path, metavar="DIR", required=True, help="the new folder")
    parser.add_argument(
        "--quantization", choices=QUANTIZATIONS, help="store weights so; by default as float32"
    )
    return parser.parse_args()


def main() -> None:
    """Exports what the command line says."""
    arguments = parse_arguments()
    import_keras_quietly()
    from transformer_tf.checkpoint import find_checkpoint
    from transformer_tf.export.ctranslate2 import export_ctranslate2

    folder = arguments.checkpoint or find_checkpoint(ROOT)
    export_ctranslate2(folder, arguments.output, arguments.quantization)
    print(f"{folder} → {arguments.output}")


if __name__ == "__main__":
    sys.exit(run_command(main))
