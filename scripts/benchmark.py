#!/usr/bin/env python
"""Measure: python scripts/benchmark.py data|train|decode|exported|start|web|copying ..."""

import argparse
import sys
from pathlib import Path

from transformer_tf.commands import new_parser
from transformer_tf.utils.startup import import_keras_quietly, run_command

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # `benchmarks` is not part of the package
# The article's model and vocabulary sizes replace those of the configuration.
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
    parser = new_parser("Measure speed, or what is copied, on this machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    data = commands.add_parser("data", help="corpus to batches: seconds and memory")
    data.add_argument(
        "--pairs", type=int, default=0, metavar="N", help="generate a corpus of N pairs"
    )
    train = commands.add_parser("train", help="training: this package, the article's loop, PyTorch")
    train.add_argument("--rounds", type=int, default=5, metavar="N", help="timed rounds")
    decode = commands.add_parser("decode", help="decoding: this package, the tutorial, CTranslate2")
    decode.add_argument("--rounds", type=int, default=5, metavar="N", help="timed rounds")
    decode.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="its test sentences are translated; default: checkpoints/en-de",
    )
    exported = commands.add_parser("exported", help="SavedModel and ONNX: start time and speed")
    exported.add_argument(
        "--rounds", type=int, default=3, metavar="N", help="processes of each system"
    )
    exported.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="default: checkpoints/en-de"
    )
    start = commands.add_parser("start", help="translate.py from start to answer, engine by engine")
    start.add_argument("--rounds", type=int, default=5, metavar="N", help="starts of each engine")
    start.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="by default checkpoints/en-de"
    )
    copying = commands.add_parser("copying", help="share of numbers and names that are kept")
    copying.add_argument("--sentences", type=int, default=1000, metavar="N")
    copying.add_argument("--beam-size", type=int, default=4, metavar="N")
    copying.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="default: checkpoints/en-de"
    )
    web = commands.add_parser("web", help="the web page in Chromium: sizes, start, speed, memory")
    web.add_argument("--rounds", type=int, default=5, metavar="N", help="starts of the page")
    web.add_argument(
        "--sentences", type=int, default=200, metavar="N", help="translations to compare"
    )
    web.add_argument("--checkpoint", type=Path, metavar="DIR", help="default: checkpoints/en-de")
    for command in (data, train):
        command.add_argument(
            "--config",
            type=Path,
            default=ROOT / "configs" / "tatoeba.yaml",
            metavar="FILE",
            help="default: configs/tatoeba.yaml",
        )
        command.add_argument("overrides", nargs="*", metavar="section.key=value")
    return parser.parse_args()


def main() -> None:
    """Prints each measurement as a JSON line, then a table."""
    arguments = parse_arguments()
    from benchmarks.data import measure_data
    from benchmarks.report import print_row
    from benchmarks.train import measure_training
    from transformer_tf.config import load_config
    from transformer_tf.utils.tables import table

    if arguments.command in ("decode", "exported", "start", "web", "copying"):
        import_keras_quietly()
        from transformer_tf.checkpoint import find_checkpoint

        folder = find_checkpoint(ROOT, arguments.checkpoint)
    if arguments.command == "decode":
        from benchmarks.decode import measure_decoding

        measurements = measure_decoding(folder, arguments.rounds)
    elif arguments.command == "exported":
        from benchmarks.exported import measure_exported

        measurements = measure_exported(
            folder, ROOT / "examples" / "translate_onnx.py", arguments.rounds
        )
    elif arguments.command == "start":
        from benchmarks.start import measure_start

        measurements = measure_start(folder, ROOT / "scripts" / "translate.py", arguments.rounds)
    elif arguments.command == "copying":
        from benchmarks.copying import measure_copying

        measurements = measure_copying(folder, arguments.sentences, arguments.beam_size)
    elif arguments.command == "web":
        from benchmarks.web import measure_web

        measurements = measure_web(folder, arguments.rounds, arguments.sentences)
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
