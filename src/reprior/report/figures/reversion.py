"""Do predictions go back to the prior where there is no data, and do errors grow as well?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reprior.contracts import Floats, Rows
from reprior.report.figures.drawing import (
    BLUE,
    FAINT,
    INK,
    ORANGE,
    WIDEST,
    fitting,
    our_style,
    settle,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Reversion(NamedTuple):
    """One model's predictions of test rows; those of several splits stand one after the other."""

    title: str
    distance: Floats  # (N,) to the nearest training row, inputs standardised
    std: Floats  # (N,) predicted, labels standardised
    error: Floats  # (N,) predicted mean − label, labels standardised


class Bins(NamedTuple):
    """Test rows from near to far, M groups of them. A group without rows is NaN."""

    distance: Floats  # (M,) mean
    std: Floats  # (M,) root mean square: the error to expect if the model is right
    error: Floats  # (M,) root mean square
    rows: Rows  # (M,)


def quantile_edges(distance: Floats, bins: int) -> Floats:
    """(M + 1,) edges that divide the distances (N,) into bins of about as many rows each.

    A bin holds the rows at its upper edge, and the first one those at its lower edge too. M is
    below bins where rows are fewer, or where many are equally far.
    """
    # Each edge is the distance of some row, so that no bin is empty.
    upper: Floats = np.quantile(distance, np.arange(1, bins + 1) / bins, method="inverted_cdf")
    return np.concatenate([[distance.min()], np.unique(upper)])


def binned(distance: Floats, std: Floats, error: Floats, edges: Floats) -> Bins:
    """What lies between the edges (M + 1,), from three arrays of N rows."""
    which = np.searchsorted(edges[1:-1], distance, side="left")
    bins = len(edges) - 1
    rows = np.bincount(which, minlength=bins)

    def mean(values: Floats) -> Floats:
        total = np.bincount(which, values, minlength=bins)
        return np.where(rows > 0, total / np.maximum(rows, 1), np.nan)

    return Bins(mean(distance), np.sqrt(mean(std**2)), np.sqrt(mean(error**2)), rows)


def reversion_figure(panels: Sequence[Reversion], bins: int = 10) -> "Figure":
    """Predicted standard deviation and realised error against the distance to training data.

    Panels stand side by side on the same axes, usually plain and with PAD, and their bins are the
    same too. The bars beneath are as wide as the bins and as high as their rows are many.
    """
    from matplotlib.figure import Figure

    if not panels:
        raise ValueError("There is no prediction to draw; give at least one panel.")
    for panel in panels:
        _same_rows(panel)
    edges = quantile_edges(np.concatenate([panel.distance for panel in panels]), bins)
    found = [binned(panel.distance, panel.std, panel.error, edges) for panel in panels]
    with our_style():
        size = (min(WIDEST, 0.8 + 3.7 * len(panels)), 3.8)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(
            *(2, len(panels)), sharex=True, sharey="row", squeeze=False, height_ratios=(7, 1)
        )
        for panel, group, (axes, below) in zip(panels, found, grid.T, strict=True):
            axes.set_title(panel.title)
            _draw(axes, group)
            below.bar(
                *(edges[:-1], group.rows, np.diff(edges)),
                align="edge",
                color="#d9dce0",
                edgecolor=FAINT,  # without an edge, rows that are all equally far would not show
                linewidth=0.5,
            )
            below.set_xlabel("Distance to the nearest training row\n(standardised inputs)")
        grid[0, 0].set_ylabel("Standard deviation, error\n(standardised labels)")
        _scale(grid[0, 0], found)
        most = max(int(group.rows.max()) for group in found)
        grid[1, 0].set(yticks=[0, most], ylim=(0, 1.1 * most))
        grid[1, 0].set_ylabel("rows")
        room = 0.04 * np.ptp(edges) or 1.0
        grid[0, 0].set_xlim(edges[0] - room, edges[-1] + room)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        ncols = fitting(labels, size[0])
        figure.legend(handles, labels, loc="outside lower center", ncols=ncols)
        settle(figure)
    return figure


def _same_rows(panel: Reversion) -> None:
    shapes = panel.distance.shape, panel.std.shape, panel.error.shape
    if len(set(shapes)) > 1 or len(shapes[0]) != 1 or not shapes[0][0]:
        raise ValueError(
            f"{panel.title} has distances, standard deviations and errors of shapes "
            f"{shapes[0]}, {shapes[1]} and {shapes[2]}; give one of each for every test row."
        )
    if not np.isfinite(panel.distance).all():
        raise ValueError(
            f"{panel.title} has distances that are not finite; leave out rows without inputs."
        )


def _draw(axes: "Axes", group: Bins) -> None:
    axes.axhline(
        1,
        color=INK,
        linewidth=0.8,
        linestyle=(0, (4, 2)),
        label="the prior's standard deviation",
    )
    for values, colour, marker, words in (
        (group.std, BLUE, "o", "predicted standard deviation"),
        (group.error, ORANGE, "s", "realised error (root mean square)"),
    ):
        axes.plot(
            *(group.distance, values),
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.4,
            label=words,
        )
    if not (np.isfinite(group.std) & np.isfinite(group.error))[group.rows > 0].all():
        axes.text(0.5, 0.98, "diverged", transform=axes.transAxes, ha="center", va="top")


def _scale(axes: "Axes", found: Sequence[Bins]) -> None:
    """Logarithmic, for it is the ratio of the two that tells how wrong a model is about itself."""
    from matplotlib.ticker import NullLocator

    values = np.concatenate([np.concatenate([group.std, group.error]) for group in found])
    shown = np.append(values[np.isfinite(values) & (values > 0)], 1.0)
    low, high = shown.min() / 1.4, shown.max() * 1.4
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    steps = (1, 2, 5) if high < 200 * low else (1,)
    ticks = [tick for tick in np.outer(powers, steps).ravel() if low <= tick <= high]
    axes.set(yscale="log", ylim=(low, high))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
