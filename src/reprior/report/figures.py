"""The pictures: the paper's toy figure, differences with their errors, reliability.

Every function gives a matplotlib Figure of its own, without pyplot and whatever the user's
settings are; `svg` turns it into text, the same text for the same figure. Matplotlib is loaded
when the first figure is drawn.
"""

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reprior.contracts import Floats
from reprior.report.counts import CLEAR
from reprior.report.names import (
    AUGMENTS,
    MODELS,
    PROTOCOLS,
    SETS,
    SHORT_MEASURES,
    human,
    ordered,
)
from reprior.report.tables import CellKey, TableRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1f2328"
FAINT = "#8a9099"
BLUE = "#0072b2"
ORANGE = "#d55e00"
# Okabe and Ito's, which colour-blind readers can tell apart; light yellow is left out.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
TOY_RANGE = (-0.6, 1.6)
SYMLOG_FROM = 20.0  # times the usual difference

_STYLE: dict[str, Any] = {
    "font.size": 9,
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "text.parse_math": False,  # a label may hold dollars
    "legend.frameon": False,
    "figure.facecolor": "none",  # the page lays a light card underneath
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "reprior",
}


class Panel(NamedTuple):
    """One model's prediction along a line."""

    title: str
    x: Floats  # (N,)
    mean: Floats  # (N,)
    std: Floats  # (N,)


class Curve(NamedTuple):
    """Observed share of labels below each promised quantile."""

    title: str
    promised: Floats
    observed: Floats


def svg(figure: "Figure") -> str:
    """The figure as an <svg> element, for a page or a file of its own."""
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    text = io.StringIO()
    with _style():
        figure.savefig(text, format="svg", metadata=nothing)
    drawn = text.getvalue()
    # A hundredth of a point is finer than any screen, and half the length. Labels are not in tags.
    return re.sub(
        r"<[^<>]*>",
        lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]),
        drawn[drawn.index("<svg") :],
    )


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
    with _style():
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
        _settle(figure)
    return figure


def delta_figure(
    table_rows: Iterable[TableRow],
    augment: str = "pad",
    measure: str = "nll",
    shift: str = "cluster",
) -> "Figure":
    """Paired differences to the plain model, per set and model, a panel per protocol.

    Whiskers reach two standard errors. Where a member diverged there is no number but a cross, on
    the side of the one that did not.
    """
    from matplotlib.figure import Figure

    rows = [row for row in table_rows if row.shift == shift]
    plain = {row.cell: row for row in rows if not row.augment}
    rows = [row for row in rows if row.augment == augment and row.plain_cell in plain]
    if not rows:
        raise ValueError(
            f"No row has both augmentation {augment!r} and its plain model under shift {shift!r}; "
            "choose an augmentation and a shift that the rows hold."
        )
    protocols = ordered(PROTOCOLS, (row.protocol for row in rows))
    sets = ordered(SETS, (row.set for row in rows))
    models = ordered(MODELS, (row.model for row in rows))
    name = human(AUGMENTS, augment)
    with _style():
        size = (1.6 + 3.3 * len(protocols), 1.4 + len(sets) * (0.2 + 0.14 * len(models)))
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(1, len(protocols), sharex=True, sharey=True, squeeze=False)
        for protocol, axes in zip(protocols, grid[0], strict=True):
            for stripe in range(0, len(sets), 2):
                axes.axhspan(stripe - 0.5, stripe + 0.5, color=FAINT, alpha=0.12, linewidth=0)
            axes.axvline(0, color=INK, linewidth=0.8)
            axes.set_xlabel(
                f"{SHORT_MEASURES[measure]}: {name} − plain, ±{CLEAR:g} standard errors"
            )
            axes.tick_params(axis="y", length=0)
            axes.grid(axis="x", color=FAINT, alpha=0.3, linewidth=0.6)
            for x, side, words in ((0, "left", f"← {name} better"), (1, "right", "plain better →")):
                axes.annotate(
                    words,
                    (x, 1),
                    xycoords="axes fraction",
                    xytext=(0, 3),
                    textcoords="offset points",
                    ha=side,
                    fontsize=8,
                )
            if len(protocols) > 1:
                axes.set_title(human(PROTOCOLS, protocol), pad=17)
        for row in rows:
            rank = models.index(row.model)
            y = sets.index(row.set) + 0.64 * ((rank + 0.5) / len(models) - 0.5)
            axes = grid[0, protocols.index(row.protocol)]
            _draw_difference(axes, y, rank, row, plain[row.plain_cell], measure)
        grid[0, 0].set_yticks(range(len(sets)), [human(SETS, key) for key in sets])
        grid[0, 0].set_ylim(len(sets) - 0.5, -0.5)
        _scale_differences(grid[0, 0], rows, plain, measure)
        _legend_of_models(
            figure, models, any(_diverged(row, plain) for row in rows), 1 + 2 * len(protocols)
        )
        _settle(figure)
    return figure


def reliability_figure(curves: Sequence[Curve]) -> "Figure":
    """Observed against promised shares; the diagonal is perfect calibration."""
    from matplotlib.figure import Figure

    with _style():
        figure = Figure(figsize=(3.8, 3.8), layout="constrained")
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=(0, (4, 3)), label="perfect")
        for rank, curve in enumerate(curves):
            colour = COLOURS[rank % len(COLOURS)]
            axes.plot(curve.promised, curve.observed, color=colour, label=curve.title)
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.set_xlabel("Promised share of labels below the quantile")
        axes.set_ylabel("Observed share")
        axes.legend(loc="best")
        _settle(figure)
    return figure


@contextmanager
def _style() -> Iterator[None]:
    """Our look, whatever the user's own settings are."""
    from matplotlib import style

    with style.context(["default", _STYLE]):
        yield


def _settle(figure: "Figure") -> None:
    """Place everything for good: the layout would move a little with every drawing."""
    figure.draw_without_rendering()
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


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


def _draw_difference(
    axes: "Axes", y: float, rank: int, row: TableRow, plain: TableRow, measure: str
) -> None:
    colour, marker = COLOURS[rank % len(COLOURS)], MARKERS[rank % len(MARKERS)]
    if row.diverged or plain.diverged:
        side = 0.98 if row.diverged else 0.02
        axes.plot([side], [y], "x", color=colour, transform=axes.get_yaxis_transform())
        return
    # A single split has a difference but no error.
    reach = CLEAR * np.nan_to_num(row.delta_se(measure))
    axes.errorbar(
        [row.delta(measure)],
        [y],
        xerr=[reach],
        fmt=marker,
        color=colour,
        markersize=4,
        elinewidth=1,
    )


def _scale_differences(
    axes: "Axes",
    rows: Sequence[TableRow],
    plain: Mapping[CellKey, TableRow],
    measure: str,
) -> None:
    """Linear, unless a few differences would press all others onto the zero line."""
    shown = [row for row in rows if not _diverged(row, plain)]
    deltas = np.array([row.delta(measure) for row in shown])
    errors = np.nan_to_num(np.array([row.delta_se(measure) for row in shown]))
    kept = np.isfinite(deltas)
    if not deltas[kept].any():
        axes.set_xlim(-1, 1)
        return
    low = min(0.0, float((deltas - CLEAR * errors)[kept].min()))
    high = max(0.0, float((deltas + CLEAR * errors)[kept].max()))
    usual = float(np.median((np.abs(deltas) + CLEAR * errors)[kept]))
    usual = usual or max(-low, high)
    if max(-low, high) <= SYMLOG_FROM * usual:
        room = 0.12 * (high - low)
        axes.set_xlim(low - room, high + room)
        return
    from matplotlib.ticker import NullLocator

    # One power of ten below the usual size is still drawn to a linear scale.
    straight = 10.0 ** np.floor(np.log10(usual))
    axes.set_xscale("symlog", linthresh=straight, linscale=0.6)
    powers = straight * 10.0 ** np.arange(12)
    ticks = [-p for p in powers[::-1] if p < -low] + [0.0] + [p for p in powers if p < high]
    axes.set_xticks(ticks, [f"{tick:g}".replace("-", "−") for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(min(2 * low, -straight), max(2 * high, straight))


def _legend_of_models(figure: "Figure", models: Sequence[str], crosses: bool, columns: int) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            *([], []),
            linestyle="none",
            color=COLOURS[rank % len(COLOURS)],
            marker=MARKERS[rank % len(MARKERS)],
            markersize=5,
            label=human(MODELS, model),
        )
        for rank, model in enumerate(models)
    ]
    if crosses:
        handles.append(Line2D([], [], linestyle="none", color=INK, marker="x", label="diverged"))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)


def _diverged(row: TableRow, plain: Mapping[CellKey, TableRow]) -> bool:
    return bool(row.diverged or plain[row.plain_cell].diverged)
