"""Two pictures from the tutorial: positions as the model sees them, and the learning rate."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def plot_positional_encoding(encoding: npt.ArrayLike) -> Figure:
    """Draw a positional encoding, and how alike its positions are.

    Args:
        encoding: Array `(length, d_model)` with values from -1 to 1.

    Returns:
        A figure of two panels: the values, and the cosine of the angle between every two positions.

    Raises:
        ValueError: If the array has another shape.
    """
    values = np.asarray(encoding, dtype=np.float64)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(
            "`encoding` must have shape (length, d_model), neither of them 0. "
            f"Received: encoding.shape={values.shape}"
        )
    directions = values / np.linalg.norm(values, axis=-1, keepdims=True)
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    image = left.imshow(
        values, cmap="RdBu", vmin=-1, vmax=1, aspect="auto", interpolation="nearest", origin="lower"
    )
    left.set(title="Positional encoding", xlabel="dimension", ylabel="position")
    figure.colorbar(image, ax=left, label="value")
    image = right.imshow(
        directions @ directions.T, cmap="viridis", vmax=1, interpolation="nearest", origin="lower"
    )
    right.set(title="How alike two positions are", xlabel="position", ylabel="position")
    figure.colorbar(image, ax=right, label="cosine of their angle")
    return figure


def plot_schedule(rates: Mapping[str, npt.ArrayLike]) -> Figure:
    """Draw learning rates over the steps of a training.

    Args:
        rates: By a label for the legend the rate at each step, from step 1 on.

    Returns:
        The figure.

    Raises:
        ValueError: If there is no curve, or a curve is not a list of rates.
    """
    if not rates:
        raise ValueError("`rates` must hold at least one curve. Received: none")
    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for label, curve in rates.items():
        values = np.asarray(curve, dtype=np.float64)
        if values.ndim != 1 or not values.size:
            raise ValueError(
                f"The rates of {label!r} must have one axis, not empty. "
                f"Received: shape={values.shape}"
            )
        axes.plot(np.arange(1, len(values) + 1), values, label=label)
    axes.set(title="Learning rate", xlabel="step", ylabel="rate", ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend()
    return figure
