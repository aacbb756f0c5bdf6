"""Tables seen in two dimensions: how a shift divides their rows, and where pseudo rows fall.

The embedding is given, usually t-SNE's. Its axes have no meaning, so they carry no numbers.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reprior.contracts import Floats, Rows, Split
from reprior.report.figures.drawing import (
    BLUE,
    MARKERS,
    ORANGE,
    TEN_COLOURS,
    WIDEST,
    fitting,
    our_style,
    settle,
)
from reprior.report.names import SETS, human

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#c3c8ce"
MOST_CLUSTERS = len(TEN_COLOURS)
WEIGHT_COLOURS = 64  # steps from λ = 0 to 1
_DOTS: dict[str, Any] = {"linestyle": "none", "markersize": 2.6, "markeredgewidth": 0}


class PseudoRows(NamedTuple):
    """Real rows and what was generated from them, embedded together, at one length scale of λ."""

    ell: float  # infinite: the pull is off
    real: Floats  # (N, 2)
    generated: Floats  # (M, 2)
    weight: Floats  # (M,) λ of each generated row, 0 to 1


def cluster_shift_figure(
    embedding: Floats, labels: Rows, random: Split, shifted: Split, table: str = ""
) -> "Figure":
    """The paper's picture of its shift (fig:nat-cluster-shift); the legend is a panel of its own.

    embedding  (N, 2)
    labels     (N,) cluster of every row, ten different ones at most
    random     rows divided at random
    shifted    rows divided by whole clusters
    """
    from matplotlib.figure import Figure

    clusters = np.unique(labels)
    _check_points(embedding, "embedding")
    if labels.shape != (len(embedding),) or len(clusters) > MOST_CLUSTERS:
        raise ValueError(
            f"Labels of shape {labels.shape} name {len(clusters)} clusters of {len(embedding)} "
            f"embedded rows; give one label for each row and at most {MOST_CLUSTERS} clusters."
        )
    _check_split(random, len(embedding), "random")
    _check_split(shifted, len(embedding), "shifted")
    with our_style():
        figure = Figure(figsize=(WIDEST, 2.45), layout="constrained")
        grid = figure.subplots(1, 4, width_ratios=(1, 1, 1, 0.55))
        titles = ("Random split", "Clusters", "Shifted split")
        for axes, title in zip(grid, titles, strict=False):
            axes.set_title(title)
            _frame(axes, embedding)
        for axes, split in ((grid[0], random), (grid[2], shifted)):
            for rows, colour, marker, words in (
                (split.train, BLUE, "o", "train"),
                (split.test, ORANGE, "s", "test"),
            ):
                look = {"color": colour, "marker": marker, "label": words}
                axes.plot(*embedding[rows].T, **_DOTS, **look)
        for rank, cluster in enumerate(clusters):
            rows = labels == cluster
            tested = np.isin(np.flatnonzero(rows), shifted.test).all()
            look = {"color": TEN_COLOURS[rank], "marker": MARKERS[rank % len(MARKERS)]}
            words = f"{cluster}, test" if tested else f"{cluster}"
            grid[1].plot(*embedding[rows].T, **_DOTS, **look, label=words)
        _legend_panel(grid[3], grid[0], grid[1], human(SETS, table))
        settle(figure)
    return figure


def pseudo_rows_figure(panels: Sequence[PseudoRows], table: str = "") -> "Figure":
    """Generated rows among the real ones of one table, a panel per ℓ (fig:first-half-tsne-tsne).

    All panels share one scale of colours, λ from 0 to 1.
    """
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize, to_hex
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    if not panels:
        raise ValueError("There are no pseudo rows to draw; give a panel for at least one ℓ.")
    for panel in panels:
        _check_panel(panel)
    # What counts most is darkest; plasma's lightest end would be lost on paper.
    colours = ListedColormap(colormaps["plasma"](np.linspace(0.85, 0, WEIGHT_COLOURS)))
    scale = ScalarMappable(Normalize(0, 1), colours)
    with our_style():
        side = min(2.4, (WIDEST - 0.8) / len(panels))
        dot = max(0.7, side / 2.4)
        width = 0.8 + side * len(panels)
        kinds = {"real rows": GREY, "generated rows, coloured by λ": to_hex(colours(0.5))}
        ncols = min(2, fitting(kinds, width))
        figure = Figure(figsize=(width, side + 1 - 0.2 * ncols), layout="constrained")
        (grid,) = figure.subplots(1, len(panels), squeeze=False)
        for panel, axes in zip(panels, grid, strict=True):
            axes.set_title(f"ℓ = {panel.ell:g}" if math.isfinite(panel.ell) else "ℓ off")
            _frame(axes, np.concatenate([panel.real, panel.generated]))
            axes.plot(*panel.real.T, **_DOTS | {"markersize": 3.2 * dot}, marker="o", color=GREY)
            axes.scatter(
                *panel.generated.T,
                c=panel.weight,
                cmap=scale.cmap,
                norm=scale.norm,
                s=(2.3 * dot) ** 2,
                linewidths=0,
                zorder=3,
            )
        grid[0].set_ylabel(human(SETS, table))
        bar = figure.colorbar(scale, ax=list(grid), aspect=15)
        bar.ax.set_title("λ")
        bar.set_ticks([0, 0.5, 1], labels=["0", "0.5", "1"])
        bar.outline.set_visible(False)
        assert bar.solids is not None
        # As paths, since a page shows no bitmaps; their edges close the hairlines between them.
        bar.solids.set(rasterized=False, edgecolor="face")
        look = _DOTS | {"marker": "o", "markersize": 5}
        handles = [Line2D([], [], **look, color=colour, label=k) for k, colour in kinds.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=ncols)
        settle(figure)
    return figure


def _frame(axes: "Axes", points: Floats) -> None:
    """A box around the points; as the axes have no meaning, each has a scale of its own."""
    low, high = points.min(0), points.max(0)
    room = np.where(high > low, 0.05 * (high - low), 1)
    axes.set(xlim=(low[0] - room[0], high[0] + room[0]), xticks=[])
    axes.set(ylim=(low[1] - room[1], high[1] + room[1]), yticks=[])
    axes.set_box_aspect(1)
    axes.spines[:].set_visible(True)


def _legend_panel(axes: "Axes", split: "Axes", clusters: "Axes", title: str) -> None:
    axes.set_axis_off()
    look: dict[str, Any] = {"loc": "upper left", "alignment": "left", "markerscale": 2}
    look |= {"handletextpad": 0.2, "borderaxespad": 0, "fontsize": 8}
    rows = axes.legend(*split.get_legend_handles_labels(), **look, title=title or "Rows")
    axes.add_artist(rows)
    axes.legend(
        *clusters.get_legend_handles_labels(),
        **look | {"bbox_to_anchor": (0, 0.7)},
        title="Clusters",
        ncols=2,
    )


def _check_points(points: Floats, words: str) -> None:
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ValueError(
            f"The {words} has shape {points.shape}; give (N, 2), two numbers for each row."
        )
    if not np.isfinite(points).all():
        raise ValueError(f"The {words} holds numbers that are not finite; embed finite rows only.")


def _check_split(split: Split, rows: int, words: str) -> None:
    if not np.array_equal(np.sort(np.concatenate(split)), np.arange(rows)):
        raise ValueError(
            f"The {words} split has {len(split.train)} rows to train and {len(split.test)} to test "
            f"on, but {rows} rows are embedded; give a split that has each of these once."
        )


def _check_panel(panel: PseudoRows) -> None:
    _check_points(panel.real, f"embedding of real rows at ℓ = {panel.ell:g}")
    _check_points(panel.generated, f"embedding of generated rows at ℓ = {panel.ell:g}")
    if panel.weight.shape != panel.generated.shape[:1]:
        raise ValueError(
            f"At ℓ = {panel.ell:g} there are {len(panel.generated)} generated rows, but weights of "
            f"shape {panel.weight.shape}; give one λ for each."
        )
    if not ((panel.weight >= 0) & (panel.weight <= 1)).all():
        raise ValueError(f"At ℓ = {panel.ell:g} some λ lie outside 0 to 1, where a weight lies.")
