"""What a run leaves for people to look at: metrics, curves, samples, TensorBoard."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from transformer_tf.errors import ConfigError
from transformer_tf.files import write_whole
from transformer_tf.tables import table

Row = Mapping[str, Any]
"""The metrics of a validation and of the training before it."""

PANELS = (
    ("loss", "nats a token", ("loss", "val_loss")),
    ("accuracy", "share of tokens", ("accuracy", "val_accuracy")),
    ("translations", "0 to 100", ("val_bleu", "val_chrf")),
)
LABELS = {"val_bleu": "BLEU", "val_chrf": "chrF"}


class Translates(Protocol):
    """What a trainer asks of a translator."""

    def translate(self, texts: Sequence[str], *, n_best: int) -> list[str]:
        """Translates sentences; with an `n_best` of 1 each has one translation."""

    def fits(self, text: str) -> bool:
        """Whether a text can be taken as one, with attention to be shown."""

    def attend(self, text: str) -> Any:
        """A translation with its attention scores."""


def write_metrics(rows: Sequence[Row], path: Path) -> None:
    """Writes metrics as CSV, whole or not at all."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())


def draw_curves(rows: Sequence[Row], path: Path) -> None:
    """Draws loss, accuracy and the scores of translations over the epochs.

    Args:
        rows: The metrics; translations may be without scores.
        path: The picture to write, whole or not at all.
    """
    from matplotlib.figure import Figure

    panels = [panel for panel in PANELS if all(name in row for name in panel[2] for row in rows)]
    figure = Figure(figsize=(4.5 * len(panels), 3.5), layout="constrained")
    for axes, (title, unit, names) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
    ):
        for name in names:
            label = "validation" if name.startswith("val_") else "training"
            axes.plot(
                [row["epoch"] for row in rows],
                [row[name] for row in rows],
                marker="o",
                markersize=3,
                label=LABELS.get(name, label),
            )
        axes.set_title(f"{title} ({unit})")
        axes.set_xlabel("epoch")
        axes.grid(alpha=0.3)
        axes.legend()
    picture = io.BytesIO()
    figure.savefig(picture, dpi=120)
    write_whole(path, picture.getvalue())


def summary_table(rows: Sequence[Row], most: int = 12) -> str:
    """The metrics of a run as a table, of a long run every second row, or third, and so on."""
    names = [
        "step",
        "epoch",
        "loss",
        "val_loss",
        "val_perplexity",
        "val_accuracy",
        "val_bleu",
        "val_chrf",
    ]
    names += ["tokens_per_second", "seconds"]
    every = -(-len(rows) // most)
    chosen = [row for number, row in enumerate(rows, 1) if (len(rows) - number) % every == 0]
    return table([{name: row[name] for name in names if name in row} for row in chosen])


class TensorBoard:
    """Writes curves, sample translations and their attention for TensorBoard.

    Args:
        folder: The folder of the run; the events go to `tensorboard` in it.

    Raises:
        ConfigError: If tensorboardX, which writes them, is not installed.
    """

    def __init__(self, folder: Path):
        try:
            from tensorboardX import SummaryWriter
        except ImportError as error:
            raise ConfigError(
                "training.tensorboard=true needs tensorboardX: "
                "python -m pip install tensorboard tensorboardX"
            ) from error
        self.writer = SummaryWriter(str(folder / "tensorboard"))

    def write(self, row: Row, samples: Sequence[tuple[str, Any]]) -> None:
        """Writes the metrics of a validation, and sentences with what the translator made of them.

        Args:
            row: The metrics.
            samples: Sentences and their translations with attention scores.
        """
        step = row["step"]
        for name, value in row.items():
            if name not in ("step", "epoch"):
                part = "validation" if name.startswith("val_") else "training"
                self.writer.add_scalar(f"{part}/{name.removeprefix('val_')}", value, step)
        for number, (sentence, attention) in enumerate(samples, 1):
            self.writer.add_text(
                f"sample {number}", f"{sentence}\n\n→ {attention.translation}", step
            )
            for kind in attention.scores if attention.translation else ():
                figure = attention.plot(kind)
                self.writer.add_figure(
                    f"{kind} attention/sample {number}", figure, step, close=False
                )
        self.writer.flush()

    def close(self) -> None:
        """Closes the file of events."""
        self.writer.close()
