#!/usr/bin/env python
"""Draw the positional encoding or the learning rate: plot.py positional, plot.py schedule."""

import argparse
import sys
from pathlib import Path

from transformer_tf.commands import new_parser
from transformer_tf.utils.files import FILE_SUFFIXES
from transformer_tf.utils.startup import import_keras_quietly, run_command


def parse_arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = new_parser("Draw the positional encoding or the learning rate.")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="positional|schedule")
    positional = kinds.add_parser("positional", help="the sinusoidal positional encoding, §3.5")
    positional.add_argument(
        "--length", type=positive_int, default=50, help="number of positions (50)"
    )
    positional.add_argument(
        "--d-model", type=positive_int, default=128, help="size of a vector (128)"
    )
    schedule = kinds.add_parser("schedule", help="the learning rate over the steps, §5.3")
    schedule.add_argument(
        "--steps", type=positive_int, default=40_000, help="number of steps (40 000)"
    )
    schedule.add_argument(
        "--d-model",
        type=positive_int,
        nargs="+",
        default=[128, 512],
        help="a curve for each (128 512)",
    )
    schedule.add_argument(
        "--warmup-steps",
        type=positive_int,
        nargs="+",
        default=[4000],
        help="a curve for each (4000)",
    )
    schedule.add_argument("--scale", type=float, default=1.0, help="factor on the rate (1)")
    for command in (positional, schedule):
        command.add_argument(
            "--output",
            type=Path,
            metavar="FILE",
            help=f"where to write it ({', '.join(FILE_SUFFIXES)}); by default KIND.png",
        )
    arguments = parser.parse_args()
    arguments.output = arguments.output or Path(f"{arguments.kind}.png")
    if arguments.output.suffix.lower() not in FILE_SUFFIXES:
        parser.error(f"--output FILE must end in {', '.join(FILE_SUFFIXES)}")
    return arguments


def positive_int(text: str) -> int:
    """Parses an integer above 0."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def main() -> None:
    """Draws and saves the figure."""
    arguments = parse_arguments()
    import_keras_quietly()
    import numpy as np
    from keras import ops

    from transformer_tf.plots import plot_positional_encoding, plot_schedule, save_figure

    if arguments.kind == "positional":
        from transformer_tf.layers.positional import positional_encoding

        encoding = positional_encoding(arguments.length, arguments.d_model)
        figure = plot_positional_encoding(ops.convert_to_numpy(encoding))
    else:
        from transformer_tf.training.schedule import TransformerSchedule

        steps = np.arange(arguments.steps)
        figure = plot_schedule(
            {
                f"d_model {size}, {warmup} warm-up steps": ops.convert_to_numpy(
                    TransformerSchedule(size, warmup, arguments.scale)(steps)
                )
                for size in arguments.d_model
                for warmup in arguments.warmup_steps
            }
        )
    save_figure(figure, arguments.output)
    print(arguments.output)


if __name__ == "__main__":
    sys.exit(run_command(main))
