"""Reports of a run for people: metrics, curves and sample translations."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from transformer_tf.runs.folder import CURVES_FILE, METRICS_FILE, SAMPLES_FILE
from transformer_tf.text.corpora.cleaning import Pair
from transformer_tf.utils.files import atomic_write_bytes
from transformer_tf.utils.tables import table

Row = Mapping[str, Any]
"""The metrics of a validation and of the training before it."""

COLUMNS = (
    ("step", "step", "{:,}"),
    ("epoch", "epoch", "{:.1f}"),
    ("loss", "loss", "{:.3f}"),
    ("val_loss", "val. loss", "{:.3f}"),
    ("val_perplexity", "perplexity", "{:,.2f}"),
    ("val_accuracy", "accuracy", "{:.1%}"),
    ("val_bleu", "BLEU", "{:.1f}"),
    ("val_chrf", "chrF", "{:.1f}"),
    ("tokens_per_second", "tokens/s", "{:,.0f}"),
    ("seconds", "seconds", "{:,.0f}"),
)


def write_metrics(rows: Sequence[Row], path: Path) -> None:
    """Writes metrics as CSV, atomically."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    atomic_write_bytes(path, text.getvalue().encode())


def summary_table(rows: Sequence[Row], max_rows: int = 12) -> str:
    """Formats the metrics of a run as a table, with the best validation marked.

    Args:
        rows: The metrics of each validation.
        max_rows: Maximum number of rows. A longer run shows every second row, or every third, and
            so on.
    """
    best = best_row(rows)
    every = -(-len(rows) // max_rows)
    shown = [
        row
        for number, row in enumerate(rows, 1)
        if (len(rows) - number) % every == 0 or row is best
    ]
    return table([_cells(row, row is best) for row in shown], align_right=True)


def best_row(rows: Sequence[Row]) -> Row | None:
    """Returns the first row with the lowest validation perplexity, or None if there are no rows."""
    return min(rows, key=lambda row: row["val_perplexity"], default=None)


def _cells(row: Row, best: bool) -> dict[str, str]:
    cells = {
        title: "" if row[name] is None else form.format(row[name]).replace(",", " ")
        for name, title, form in COLUMNS
        if name in row
    }
    return cells | {"": "best" if best else ""}


class Reporter:
    """Reports each validation on the screen and in the folder of the run.

    Args:
        folder: The folder of the run.
        show: Prints a text.
    """

    def __init__(self, folder: Path, show: Callable[[str], None]):
        self.folder = folder
        self.show = show

    def write(self, rows: Sequence[Row], samples: Sequence[Pair]) -> None:
        """Writes the report of the last validation.

        Args:
            rows: The metrics of all validations.
            samples: The sample sentences and their translations in the last one.
        """
        from transformer_tf.plots import plot_learning_curves, save_figure

        row = rows[-1]
        best = best_row(rows) is row
        self.show(table([_cells(row, best)], align_right=True))
        if samples:
            text = "\n".join(
                f"  {sentence}\n  → {translation}" for sentence, translation in samples
            )
            self.show(text)
            with (self.folder / SAMPLES_FILE).open("a", encoding="utf-8") as file:
                file.write(f"after step {row['step']}\n{text}\n")
        write_metrics(rows, self.folder / METRICS_FILE)
        save_figure(plot_learning_curves(rows), self.folder / CURVES_FILE)
