#!/usr/bin/env python
"""Draw what the paper gives as a formula: python scripts/plot.py positional, or schedule."""

import argparse
import sys
from pathlib import Path

from transformer_tf.startup import import_keras_quietly, run_command

SUFFIXES = (".png", ".svg", ".pdf")


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="positional|schedule")
    positional = kinds.add_parser("positional", help="the sinusoidal positional encoding, §3.5")
    positional.add_argument("--length", type=whole, default=50, help="positions (50)")
    positional.add_argument("--d-model", type=whole, default=128, help="dimensions (128)")
    schedule = kinds.add_parser("schedule", help="the learning rate over the steps, §5.3")
    schedule.add_argument("--steps", type=whole, default=40_000, help="steps drawn (40 000)")
    schedule.add_argument(
        "--d-model", type=whole, nargs="+", default=[128, 512], help="a curve for each (128 512)"
    )
    schedule.add_argument(
        "--warmup-steps", type=whole, nargs="+", default=[4000], help="likewise (4000)"
    )
    schedule.add_argument(
        "--scale", type=float, default=1.0, help="training.learning_rate_scale (1)"
    )
    for command in (positional, schedule):
        command.add_argument(
            "--output",
            type=Path,
            metavar="FILE",
            help=f"where to write it ({', '.join(SUFFIXES)}); by default KIND.png",
        )
    arguments = parser.parse_args()
    arguments.output = arguments.output or Path(f"{arguments.kind}.png")
    if arguments.output.suffix.lower() not in SUFFIXES:
        parser.error(f"--output FILE must end in {', '.join(SUFFIXES)}")
    return arguments


def whole(text: str) -> int:
    """A whole number above 0."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def main() -> None:
    """Draws what the command line says."""
    arguments = parse_arguments()
    import_keras_quietly()
    import numpy as np
    from keras import ops

    from transformer_tf.attention_maps import (
        plot_positional_encoding,
        plot_schedule,
        save_figure,
    )

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
