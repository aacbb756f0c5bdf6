"""Mean ranks: who comes first how often, over all sets, when every variant meets every other."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import rankdata

from reprior.report.grid import Cell, Grid, Line
from reprior.report.names import (
    AUGMENTS,
    MEASURES,
    MODELS,
    PROTOCOLS,
    SHIFTS,
    SHORT_MEASURES,
    human,
    label,
    ordered,
)
from reprior.report.tables import TableRow


def mean_ranks(
    rows: Iterable[TableRow], protocol: str, shift: str, measure: str
) -> dict[tuple[str, str], float]:
    """The mean rank of every (model, augment) that has a result on every set; 1 is best.

    Ranked is the mean over splits; ties share their ranks, and a cell that diverged is last.
    """
    here = [row for row in rows if (row.protocol, row.shift) == (protocol, shift)]
    sets = sorted({row.set for row in here})
    values: dict[tuple[str, str], dict[str, float]] = {}
    for row in here:
        score = math.inf if row.diverged or math.isnan(row.mean(measure)) else row.mean(measure)
        values.setdefault((row.model, row.augment), {})[row.set] = score
    whole = {who: found for who, found in values.items() if len(found) == len(sets)}
    if not whole:
        return {}
    table = np.array([[found[name] for name in sets] for found in whole.values()])
    return dict(zip(whole, rankdata(table, axis=0).mean(1).tolist(), strict=True))


def ranks_table(rows: Sequence[TableRow], protocol: str, shift: str) -> Grid:
    """A line per model and augmentation, best in likelihood first, a column per measure."""
    found = {measure: mean_ranks(rows, protocol, shift, measure) for measure in MEASURES}
    order = [
        (model, augment)
        for model in ordered(MODELS, {m for m, _ in found["nll"]})
        for augment in ordered(AUGMENTS, {a for m, a in found["nll"] if m == model})
    ]
    order.sort(key=found["nll"].__getitem__)
    best = {measure: min(ranks.values(), default=math.nan) for measure, ranks in found.items()}
    lines = tuple(
        Line(
            label(*who),
            tuple(Cell(f"{found[m][who]:.2f}", found[m][who] == best[m]) for m in MEASURES),
        )
        for who in order
    )
    place = f"{human(SHIFTS, shift)}, {human(PROTOCOLS, protocol)}"
    return Grid(
        f"Mean ranks: {place}",
        ("Model", *(SHORT_MEASURES[measure] for measure in MEASURES)),
        (lines,),
        f"Among {len(order)}, by the mean over splits, averaged over the sets; 1 is best. Only "
        "who has a result on every set is ranked; a cell that diverged is last on its set.",
    )
