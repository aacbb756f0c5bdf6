"""The ablation: PAD against itself with one thing changed (eq:phi-loss's terms, and more).

The paper's layout has a line per set and a column per variant. Beside it stand paired differences
to the whole of PAD: above zero, what was changed had been worth having.
"""

import math
from collections.abc import Sequence

from reprior.report.counts import CLEAR, TIE, Count
from reprior.report.grid import Cell, Grid, Line
from reprior.report.layouts import caption, number, spread
from reprior.report.names import ABLATIONS, AUGMENTS, MEASURES, MODELS, SETS, human, ordered
from reprior.report.paper import paper_cell
from reprior.report.tables import TableRow

WHOLE = "pad"  # what every difference is to


def ablation_grids(rows: Sequence[TableRow], protocol: str, shift: str) -> list[Grid]:
    """All tables of one protocol and shift; none where nothing was ablated.

    rows  with differences to the whole of PAD (`aggregate(..., reference="pad")`)
    """
    here = [
        row
        for row in rows
        if (row.protocol, row.shift) == (protocol, shift) and row.augment in (WHOLE, *ABLATIONS)
    ]
    grids = []
    for model in ordered(MODELS, {row.model for row in here if row.augment != WHOLE}):
        mine = [row for row in here if row.model == model]
        for measure in MEASURES:
            grids += [_levels(mine, model, measure), _differences(mine, model, measure)]
    return grids


def _levels(rows: Sequence[TableRow], model: str, measure: str) -> Grid:
    """Mean and standard deviation, as the paper prints them; its own numbers below ours."""
    variants = ordered(AUGMENTS, {row.augment for row in rows})
    by_cell = {(row.set, row.augment): row for row in rows}
    groups = []
    for name in ordered(SETS, {row.set for row in rows}):
        ours = [by_cell.get((name, variant)) for variant in variants]
        usable = [row.mean(measure) for row in ours if row and not row.diverged]
        best = number(min(usable)) if usable else None
        cells = tuple(
            Cell(_level(row, measure), not row.diverged and number(row.mean(measure)) == best)
            if row
            else Cell("")
            for row in ours
        )
        group = [Line(human(SETS, name), cells)]
        theirs = [paper_cell(measure, model, variant, name) for variant in variants]
        if rows[0].shift == "cluster" and sum(cell is not None for cell in theirs) > 1:
            text = tuple(Cell(spread(*cell) if cell else "") for cell in theirs)
            group.append(Line("paper", text, light=True))
        groups.append(tuple(group))
    return Grid(
        _caption(rows, model, MEASURES[measure]),
        ("Set", *(human(AUGMENTS, variant) for variant in variants)),
        tuple(groups),
        "Mean±standard deviation over splits; smaller is better. Bold: the best of a line.",
    )


def _differences(rows: Sequence[TableRow], model: str, measure: str) -> Grid:
    """Paired differences to the whole of PAD, and how often it is better."""
    sets = ordered(SETS, {row.set for row in rows})
    by_cell = {(row.set, row.augment): row for row in rows}
    lines = []
    for variant in ordered(AUGMENTS, {row.augment for row in rows} - {WHOLE}):
        pairs = [(by_cell.get((name, variant)), by_cell.get((name, WHOLE))) for name in sets]
        sides = [_side(one, whole, measure) for one, whole in pairs]
        cells = [
            Cell(_change(one, measure), bold=side[1] < 0, underline=side[1] > 0)
            if one and side
            else Cell("")
            for (one, _), side in zip(pairs, sides, strict=True)
        ]
        counts = [Cell(str(_count([side[i] for side in sides if side]))) for i in (0, 1)]
        lines.append(Line(human(AUGMENTS, variant), (*cells, *counts)))
    return Grid(
        _caption(rows, model, f"difference in {MEASURES[measure]} to the whole of PAD"),
        ("Variant", *(human(SETS, name) for name in sets), "PAD wins/ties/loses", "clearly"),
        (tuple(lines),),
        "Mean paired difference±its standard error; above zero, PAD as a whole is better. Bold: "
        f"the variant is better by more than {CLEAR:g} standard errors. Underlined: worse by as "
        f"much. By mean, a difference of less than {TIE:g} is a tie.",
    )


def _level(row: TableRow, measure: str) -> str:
    if row.diverged:
        return f"diverged ({row.diverged} of {row.splits})"
    return spread(row.mean(measure), row.std(measure))


def _change(row: TableRow, measure: str) -> str:
    return "diverged" if row.diverged else spread(row.delta(measure), row.delta_se(measure))


def _side(one: TableRow | None, whole: TableRow | None, measure: str) -> tuple[int, int] | None:
    """By mean and clearly: 1 where the variant is worse than the whole, −1 where it is better.

    None where the two have not met. Whoever diverged has lost; if both did, the variant has.
    """
    if one is None or whole is None:
        return None
    if one.diverged or whole.diverged:
        return (1, 1) if one.diverged else (-1, -1)
    delta, error = one.delta(measure), one.delta_se(measure)
    if math.isnan(delta):
        return None
    side = 1 if delta > 0 else -1
    clear = not math.isnan(error) and abs(delta) > CLEAR * error
    return side if abs(delta) >= TIE else 0, side if clear else 0


def _count(sides: Sequence[int]) -> Count:
    return Count(sides.count(1), sides.count(0), sides.count(-1))


def _caption(rows: Sequence[TableRow], model: str, what: str) -> str:
    return caption(f"{human(MODELS, model)}, {what}", rows[0].protocol, rows[0].shift)
