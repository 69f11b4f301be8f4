#!/usr/bin/env python
"""Measure this machine: python scripts/benchmark.py data|train|decode|exported ..."""

import argparse
import sys
from pathlib import Path

from transformer_tf.startup import import_keras_quietly, run_command

ROOT = Path(__file__).resolve().parent.parent
# The article's model and vocabularies, whatever the configuration says.
ARTICLE_SIZES = (
    "tokenizer.shared=false",
    "tokenizer.vocab_size=10000",
    "model.d_model=128",
    "model.num_heads=8",
    "model.d_ff=512",
    "model.pre_norm=false",
    "model.tie_embeddings=none",
    "training.label_smoothing=0",
)


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Measure this machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    data = commands.add_parser("data", help="from a file to batches: seconds and memory")
    data.add_argument("--pairs", type=int, default=0, metavar="N", help="generate a corpus of N")
    train = commands.add_parser("train", help="training beside the article's loop and PyTorch")
    train.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each system")
    decode = commands.add_parser("decode", help="translating beside the tutorial and CTranslate2")
    decode.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each system")
    decode.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="a run whose test sentences are translated; by default checkpoints/en-de",
    )
    exported = commands.add_parser(
        "exported", help="a SavedModel and ONNX graphs: how soon and fast"
    )
    exported.add_argument("--rounds", type=int, default=3, metavar="N", help="starts of each")
    exported.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="by default checkpoints/en-de"
    )
    for command in (data, train):
        command.add_argument(
            "--config",
            type=Path,
            default=ROOT / "configs" / "tatoeba.yaml",
            metavar="FILE",
            help="what to measure, by default configs/tatoeba.yaml",
        )
        command.add_argument("overrides", nargs="*", metavar="section.key=value")
    return parser.parse_args()


def main() -> None:
    """Prints a line of JSON for each measurement, then a table."""
    arguments = parse_arguments()
    from transformer_tf.benchmarks.data import measure_data
    from transformer_tf.benchmarks.report import print_row
    from transformer_tf.benchmarks.train import measure_training
    from transformer_tf.config import load_config
    from transformer_tf.tables import table

    if arguments.command == "decode":
        import_keras_quietly()
        from transformer_tf.benchmarks.decode import measure_decoding
        from transformer_tf.checkpoint import find_checkpoint

        measurements = measure_decoding(
            find_checkpoint(ROOT, arguments.checkpoint), arguments.rounds
        )
    elif arguments.command == "exported":
        import_keras_quietly()
        from transformer_tf.benchmarks.exported import measure_exported
        from transformer_tf.checkpoint import find_checkpoint

        measurements = measure_exported(
            find_checkpoint(ROOT, arguments.checkpoint),
            ROOT / "examples" / "translate_onnx.py",
            arguments.rounds,
        )
    elif arguments.command == "data":
        config = load_config(arguments.config, arguments.overrides)
        measurements = measure_data(config, arguments.pairs)
    else:
        config = load_config(arguments.config, [*ARTICLE_SIZES, *arguments.overrides])
        measurements = measure_training(config, arguments.rounds)
    rows = []
    for row in measurements:
        print_row(row)
        rows.append(row)
    print(table(rows))


if __name__ == "__main__":
    sys.exit(run_command(main))
