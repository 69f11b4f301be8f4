#!/usr/bin/env python
"""Draw the positional encoding or the learning rate: plot.py positional, plot.py schedule."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from transformer_tf.commands import new_parser
from transformer_tf.plots.style import (
    SIGN_COLORS,
    WEIGHT_COLORS,
    figure_style,
    new_figure,
    save_figure,
)
from transformer_tf.utils.files import FILE_SUFFIXES
from transformer_tf.utils.startup import import_keras_quietly, run_command
from transformer_tf.utils.tables import grouped


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


def plot_positional_encoding(encoding: np.ndarray) -> Figure:
    """Draws a positional encoding and the similarity of its positions.

    Args:
        encoding: Array `(length, d_model)` with values from -1 to 1.

    Returns:
        A figure of two panels: the values, and the cosine of the angle between any two positions.
    """
    directions = encoding / np.linalg.norm(encoding, axis=-1, keepdims=True)
    with figure_style():
        figure = new_figure(11, 4.5)
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        image = left.imshow(
            encoding, cmap=SIGN_COLORS, vmin=-1, vmax=1, aspect="auto", origin="lower"
        )
        left.set(title="Positional encoding", xlabel="dimension", ylabel="position")
        figure.colorbar(image, ax=left, label="value", pad=0.02).outline.set_visible(False)
        image = right.imshow(
            directions @ directions.T, cmap=WEIGHT_COLORS, vmax=1, aspect="auto", origin="lower"
        )
        right.set(title="Similarity of two positions", xlabel="position", ylabel="position")
        bar = figure.colorbar(image, ax=right, label="cosine of their angle", pad=0.02)
        bar.outline.set_visible(False)
        figure.draw_without_rendering()
    return figure


def plot_schedule(rates: Mapping[str, np.ndarray]) -> Figure:
    """Draws learning rates over the steps of a training.

    Args:
        rates: For each label of the legend, the rate at each step, from step 1 on.

    Returns:
        A figure with one curve for each label.
    """
    with figure_style():
        figure = new_figure(7, 4)
        axes = figure.subplots()
        for label, curve in rates.items():
            axes.plot(np.arange(1, len(curve) + 1), curve, label=label)
        axes.set(title="Learning rate", xlabel="step", ylabel="rate", xlim=(0, None))
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(lambda step, _: grouped(step))
        axes.grid()
        axes.legend()
        figure.draw_without_rendering()
    return figure


def main() -> None:
    """Draws and saves the figure."""
    arguments = parse_arguments()
    import_keras_quietly()
    from keras import ops

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
