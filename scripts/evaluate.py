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
    parser.add_argument(
        "--alignments",
        action="store_true",
        help="measure word alignments instead, on the phrasebook (English to German), "
        "and find the heads that align best",
    )
    parser.add_argument("--split", choices=("validation", "test"), default="test")
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="decoding.key=value",
        help="changes how translations are searched for",
    )
    return parser.parse_args()


def main() -> None:
    """Translates a split and prints BLEU and chrF."""
    arguments = parse_arguments()
    import_keras_quietly()
    from transformer_tf.checkpoint import find_checkpoint, load_checkpoint
    from transformer_tf.errors import ConfigError
    from transformer_tf.evaluation import evaluate, evaluate_alignments
    from transformer_tf.text.corpora import load_held_out
    from transformer_tf.translator import Translator

    folder = arguments.checkpoint or find_checkpoint(ROOT)
    if arguments.alignments:
        config, model, source, target = load_checkpoint(folder, arguments.overrides)
        if (config.data.source_language, config.data.target_language) != ("en", "de"):
            raise ConfigError(f"The phrasebook is English to German, unlike {folder}")
        report = evaluate_alignments(Translator.from_config(config, model, source, target))
        print(f"{folder}\n{report.summary()}")
        return
    pairs = load_held_out(folder, arguments.split)
    translator = Translator.load(folder, arguments.overrides)
    scores = evaluate(translator, pairs, progress=True)
    print(f"{folder}, {arguments.split} split\n{scores.summary()}")


if __name__ == "__main__":
    sys.exit(run_command(main))
