#!/usr/bin/env python
"""Score a checkpoint on a split of its own run: python scripts/evaluate.py --checkpoint DIR."""

import argparse
import sys
from pathlib import Path

from transformer_tf.startup import import_keras_quietly, run_command

ROOT = Path(__file__).resolve().parent.parent


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="by default checkpoints/en-de, or the latest run",
    )
    parser.add_argument("--split", choices=("validation", "test"), default="test")
    parser.add_argument(
        "--data-directory",
        type=Path,
        metavar="DIR",
        help="where the corpus is, by default as in training",
    )
    return parser.parse_args()


def main() -> None:
    """Translates a split and prints BLEU and chrF."""
    arguments = parse_arguments()
    import_keras_quietly()
    import dataclasses

    from transformer_tf.checkpoint import find_checkpoint, load_checkpoint
    from transformer_tf.evaluation import evaluate
    from transformer_tf.training.trainer import load_configured_corpus
    from transformer_tf.translator import Translator

    folder = arguments.checkpoint or find_checkpoint(ROOT)
    config, model, source, target = load_checkpoint(folder)
    if arguments.data_directory:
        data = dataclasses.replace(config.data, directory=arguments.data_directory)
        config = dataclasses.replace(config, data=data)
    pairs = getattr(load_configured_corpus(config), arguments.split)
    scores = evaluate(Translator.from_config(config, model, source, target), pairs, progress=True)
    print(f"{folder}, {arguments.split} split\n{scores.summary()}")


if __name__ == "__main__":
    sys.exit(run_command(main))
