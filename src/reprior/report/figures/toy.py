"""The paper's first figure: what models predict where they have seen no data."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reprior.contracts import Floats
from reprior.report.figures.drawing import BLUE, INK, ORANGE, our_style, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOY_RANGE = (-0.6, 1.6)


class Panel(NamedTuple):
    """One model's prediction along a line."""

    title: str
    x: Floats  # (N,)
    mean: Floats  # (N,)
    std: Floats  # (N,)


def toy_figure(
    panels: Sequence[Sequence[Panel]],
    data: tuple[Floats, Floats],
    truth: tuple[Floats, Floats],
) -> "Figure":
    """The paper's first figure (fig:gapped-sine): a column per model, PAD in the row below.

    panels  rows from the top, usually plain models and the same with PAD; a row may be shorter
    data    x and y of the training points, each (N,)
    truth   x and y of the line without noise, each (M,)
    """
    from matplotlib.figure import Figure

    columns = max(map(len, panels))
    # The scale of the data decides, so that one wild model does not flatten the others.
    seen = np.concatenate([data[1], truth[1]])
    margin = 0.5 * np.ptp(seen)
    with our_style():
        width = max(2.1, min(3.4, 8 / columns))
        size = (0.5 + width * columns, 0.7 + 0.8 * width * len(panels))
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(len(panels), columns, sharex=True, sharey=True, squeeze=False)
        for row, places in zip(panels, grid, strict=True):
            for panel, axes in zip(row, places, strict=False):
                _draw_panel(axes, panel, data, truth)
            for axes in places[len(row) :]:
                axes.set_visible(False)
            places[0].set_ylabel("y")
        for column in grid.T:
            lowest = [axes for axes in column if axes.get_visible()][-1]
            lowest.set_xlabel("x")
            lowest.tick_params(labelbottom=True)
        grid[0, 0].set_xlim(*TOY_RANGE)
        grid[0, 0].set_ylim(seen.min() - margin, seen.max() + margin)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        per_line = len(labels) if columns > 2 else 2
        figure.legend(handles, labels, loc="outside lower center", ncols=per_line, markerscale=4)
        settle(figure)
    return figure


def _draw_panel(
    axes: "Axes", panel: Panel, data: tuple[Floats, Floats], truth: tuple[Floats, Floats]
) -> None:
    x, mean, std = panel.x, panel.mean, panel.std
    axes.set_title(panel.title)
    for width, shade, words in ((2, "#dbe9f4", "±2 std"), (1, "#abcde5", "±1 std")):
        band = (mean - width * std, mean + width * std)
        axes.fill_between(x, *band, color=shade, linewidth=0, label=words)
    axes.plot(x, mean, color=BLUE, linewidth=1.4, label="mean")
    axes.plot(*truth, color=INK, linewidth=0.9, linestyle=(0, (4, 2)), label="truth")
    axes.plot(*data, ".", color=ORANGE, markersize=2.5, markeredgewidth=0, label="data")
    if not (np.isfinite(mean) & np.isfinite(std)).all():
        axes.text(0.5, 0.94, "diverged", transform=axes.transAxes, ha="center", va="top")
