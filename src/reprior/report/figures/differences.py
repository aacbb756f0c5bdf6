"""Differences to the plain model, with their errors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from reprior.report.counts import CLEAR
from reprior.report.figures.drawing import COLOURS, FAINT, INK, MARKERS, our_style, settle
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

SYMLOG_FROM = 20.0  # times the usual difference


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
    with our_style():
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
        settle(figure)
    return figure


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
