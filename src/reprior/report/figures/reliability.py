"""Reliability of regression: the share of labels below each promised level, against that level."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reprior.contracts import Floats
from reprior.report.figures.drawing import (
    COLOURS,
    FAINT,
    TEN_COLOURS,
    WIDEST,
    fitting,
    our_style,
    settle,
)
from reprior.report.names import AUGMENTS, MODELS, SETS, human, label, ordered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS = 4
# How the line of an augmentation is drawn where there are several; one not named here is solid.
DASHES: dict[str, Any] = {
    "": (0, (3, 1.5)),
    "mixup": (0, (6, 1.5, 1, 1.5)),
    "noise": (0, (1, 1.2)),
    "pad+": (0, (8, 1.5)),
}


class Curve(NamedTuple):
    """How often labels lay below each level: one model with one augmentation on one set."""

    model: str
    promised: Floats  # (L,) levels
    observed: Floats  # (S, L) share of rows with F(y) <= level, by split; (L,) for a single one
    augment: str = ""
    set: str = ""

    @property
    def cell(self) -> tuple[str, str]:
        return self.model, self.augment

    @property
    def title(self) -> str:
        return label(self.model, self.augment)

    @property
    def by_split(self) -> Floats:
        observed = np.atleast_2d(self.observed)
        if observed.ndim != 2 or observed.shape[1:] != self.promised.shape or not len(observed):
            raise ValueError(
                f"The curve of {self.title} has levels of shape "
                f"{self.promised.shape} and observed shares of shape {self.observed.shape}; give "
                "(L,) levels, and (S, L) shares with one row for each split."
            )
        return observed

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """(S,)"""
        return np.asarray(np.isnan(self.by_split).any(-1))


def reliability_figure(curves: Sequence[Curve]) -> "Figure":
    """Observed against promised shares, a panel per set; the diagonal is perfect calibration.

    A line is the mean over splits, and its band one standard deviation either way, which a single
    split does not have. Splits that diverged (NaN) are left out, and the legend counts them.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    if not curves:
        raise ValueError("There is no reliability curve to draw; give at least one.")
    sets = ordered(SETS, (curve.set for curve in curves))
    looks = _looks(curves)
    perfect: dict[str, Any] = {"color": FAINT, "linewidth": 1, "label": "perfect calibration"}
    shade = min(0.15, 0.6 / len(looks))  # many bands would make mud
    columns = min(len(sets), MOST_COLUMNS)
    lines = -(-len(sets) // columns)
    with our_style():
        handles = [Line2D([], [], **look) for look in (perfect, *looks.values())]
        side = min(3.3, (WIDEST - 0.6) / columns)
        width = 0.6 + side * columns
        ncols = fitting((str(handle.get_label()) for handle in handles), width)
        height = 0.5 + (side + 0.1) * lines + 0.2 * -(-len(handles) // ncols)
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        places = dict(zip(sets, grid.flat, strict=False))
        for name, axes in places.items():
            axes.set_title(human(SETS, name))
            axes.plot([0, 1], [0, 1], **perfect)
        for curve in curves:
            _draw(places[curve.set], curve, looks[curve.cell], shade)
        for axes in grid.flat:
            axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        for axes in grid.flat[len(sets) :]:
            axes.set_visible(False)
        for column in grid.T:
            lowest = [axes for axes in column if axes.get_visible()][-1]
            lowest.set_xlabel("Promised level")
            lowest.tick_params(labelbottom=True)
        for axes in grid[:, 0]:
            axes.set_ylabel("Share of rows\nwith F(y) ≤ level")
        ticks = [0, 0.5, 1] if columns == MOST_COLUMNS else [0, 0.25, 0.5, 0.75, 1]
        for axis in (grid[0, 0].xaxis, grid[0, 0].yaxis):
            axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        figure.legend(handles=handles, loc="outside lower center", ncols=ncols)
        settle(figure)
    return figure


def _looks(curves: Sequence[Curve]) -> dict[tuple[str, str], dict[str, Any]]:
    """Colour tells the model and the kind of line its augmentation, the same in every panel."""
    models = ordered(MODELS, (curve.model for curve in curves))
    augments = ordered(AUGMENTS, (curve.augment for curve in curves))
    palette = COLOURS if len(models) <= len(COLOURS) else TEN_COLOURS
    looks = {}
    for rank, model in enumerate(models):
        for augment in augments:
            same = [curve for curve in curves if curve.cell == (model, augment)]
            if same:
                looks[model, augment] = {
                    "color": palette[rank % len(palette)],
                    "linestyle": DASHES.get(augment, "solid") if len(augments) > 1 else "solid",
                    "linewidth": 1.4,
                    "label": _name(same),
                }
    return looks


def _name(same: Sequence[Curve]) -> str:
    diverged = np.concatenate([curve.diverged for curve in same])
    if not diverged.any():
        return same[0].title
    splits = f"{len(diverged)} split{'s' if len(diverged) > 1 else ''}"
    return f"{same[0].title} (diverged on {diverged.sum()} of {splits})"


def _draw(axes: "Axes", curve: Curve, look: dict[str, Any], shade: float) -> None:
    kept = curve.by_split[~curve.diverged]
    if not len(kept):
        return
    mean = kept.mean(0)
    if len(kept) > 1:
        std = kept.std(0, ddof=1)
        band = {"color": look["color"], "alpha": shade, "linewidth": 0}
        axes.fill_between(curve.promised, mean - std, mean + std, **band)
    axes.plot(curve.promised, mean, **look)
