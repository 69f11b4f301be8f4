#!/usr/bin/env python
"""Measure speed or quality: python scripts/benchmark.py data|train|decode|exported|start|web|…."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transformer_tf.catalog import find_checkpoint
from transformer_tf.commands import new_parser
from transformer_tf.utils.startup import import_keras_quietly, run_command

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # `benchmarks` is not part of the package
# The article's model and vocabulary sizes replace those of the configuration.
ARTICLE_SIZES = (
    "tokenizer.shared=false",
    "tokenizer.vocab_size=10000",
    "model.num_layers=4",
    "model.num_decoder_layers=null",
    "model.d_model=128",
    "model.num_heads=8",
    "model.d_ff=512",
    "model.dropout_rate=0.1",
    "model.pre_norm=false",
    "model.tie_embeddings=none",
    "training.label_smoothing=0",
    "training.optimizer=adam",
)
COMMANDS = {
    "data": "corpus to batches: seconds and memory",
    "train": "training: this package, the article's loop, PyTorch",
    "decode": "decoding: this package, the tutorial, CTranslate2",
    "exported": "SavedModel and ONNX: start time and speed",
    "serve": "servers of this package and CTranslate2 under 16 clients",
    "start": "translate.py from start to answer, engine by engine",
    "web": "the web page in Chromium: sizes, start, speed, memory",
    "copying": "share of times, money, dates, names and other values that are right",
    "challenge": "share of hard sentences whose translation matches its pattern",
    "alignment": "alignment error rate on the phrasebook, and the heads that align best",
}


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = new_parser("Measure speed or quality on this machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    parsers = {name: commands.add_parser(name, help=text) for name, text in COMMANDS.items()}
    parsers["data"].add_argument(
        "--pairs", type=int, default=0, metavar="N", help="generate a corpus of N pairs"
    )
    for name, rounds, text in (
        ("train", 5, "timed rounds"),
        ("decode", 5, "timed rounds"),
        ("exported", 3, "processes of each system"),
        ("serve", 3, "times that each server gets all requests"),
        ("start", 5, "starts of each engine"),
        ("web", 5, "starts of the page"),
    ):
        parsers[name].add_argument("--rounds", type=int, default=rounds, metavar="N", help=text)
    for name, count in (("web", 200), ("copying", 100)):
        parsers[name].add_argument(
            "--sentences", type=int, default=count, metavar="N", help=f"sentences ({count})"
        )
    parsers["copying"].add_argument("--beam-size", type=int, default=4, metavar="N")
    parsers["challenge"].add_argument(
        "--file",
        type=Path,
        default=ROOT / "examples" / "challenge.tsv",
        metavar="FILE",
        help="lines of kind, sentence and pattern; default: examples/challenge.tsv",
    )
    parsers["challenge"].add_argument("overrides", nargs="*", metavar="decoding.key=value")
    for name, command in parsers.items():
        if name not in ("data", "train"):
            command.add_argument(
                "--checkpoint", default="en-de", metavar="NAME", help="default: en-de"
            )
            continue
        command.add_argument(
            "--config",
            default="tatoeba",
            metavar="FILE",
            help="default: tatoeba",
        )
        command.add_argument("overrides", nargs="*", metavar="section.key=value")
    return parser.parse_args()


def measure(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Runs the chosen benchmark and returns its measurements."""
    from transformer_tf.config import load_config

    if arguments.command == "data":
        from benchmarks.data import measure_data

        return measure_data(load_config(arguments.config, arguments.overrides), arguments.pairs)
    if arguments.command == "train":
        from benchmarks.train import measure_training

        config = load_config(arguments.config, [*ARTICLE_SIZES, *arguments.overrides])
        return measure_training(config, arguments.rounds)
    import_keras_quietly()
    folder = find_checkpoint(arguments.checkpoint).resolve()  # workers have another directory
    if arguments.command == "decode":
        from benchmarks.decode import measure_decoding

        return measure_decoding(folder, arguments.rounds)
    if arguments.command == "exported":
        from benchmarks.exported import measure_exported

        return measure_exported(folder, ROOT / "examples" / "translate_onnx.py", arguments.rounds)
    if arguments.command == "serve":
        from benchmarks.serve import measure_serving

        return measure_serving(folder, arguments.rounds)
    if arguments.command == "start":
        from benchmarks.start import measure_start

        return measure_start(folder, ROOT / "scripts" / "translate.py", arguments.rounds)
    if arguments.command == "web":
        from benchmarks.web import measure_web

        return measure_web(folder, arguments.rounds, arguments.sentences)
    if arguments.command == "copying":
        from benchmarks.copying import measure_copying

        return measure_copying(folder, arguments.sentences, arguments.beam_size)
    if arguments.command == "challenge":
        from benchmarks.challenge import measure_challenge

        return measure_challenge(folder, arguments.file, arguments.overrides)
    from benchmarks.alignment_error import measure_alignments

    return measure_alignments(folder)


def main() -> None:
    """Prints each measurement as a JSON line, then a table."""
    arguments = parse_arguments()
    from transformer_tf.utils.tables import table

    rows = []
    for row in measure(arguments):
        print(json.dumps(row), flush=True)
        rows.append(row)
    print(table(rows))


if __name__ == "__main__":
    sys.exit(run_command(main))
