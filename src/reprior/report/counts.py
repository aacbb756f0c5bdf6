"""How often an augmentation beats the plain model, cell by cell, and where it loses."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from reprior.report.names import AUGMENTS, MEASURES, MODELS, ordered
from reprior.report.paper import paper_cell
from reprior.report.tables import TableRow

# Half of the last decimal the tables print. The paper's count of 21 includes such a draw.
TIE = 0.005
CLEAR = 2.0  # standard errors


class Count(NamedTuple):
    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


class Tally(NamedTuple):
    """One augmentation against the plain model, over the sets of one model or of all."""

    protocol: str
    shift: str
    measure: str
    augment: str
    model: str  # empty: all models
    by_mean: Count  # as the paper counts; a difference of less than TIE is a tie
    clearly: Count  # by more than CLEAR standard errors; everything else is a tie
    diverged: int  # how many of the losses are cells that diverged
    paper: Count | None  # the paper's own, by mean, over those of these cells that it has


class Lost(NamedTuple):
    """A cell where the augmentation is worse by the mean, or diverged."""

    protocol: str
    shift: str
    measure: str
    set: str
    model: str
    augment: str
    delta: float
    delta_se: float
    clearly: bool  # by more than CLEAR standard errors, or because it diverged
    diverged: int
    splits: int


class Wins(NamedTuple):
    tallies: list[Tally]
    lost: list[Lost]


class Verdict(NamedTuple):
    """One cell against its plain model: −1 better, 0 equal, 1 worse, as the sign of the loss."""

    by_mean: int
    clearly: int


def verdict(row: TableRow, plain: TableRow, measure: str) -> Verdict | None:
    """None where the two share no split yet.

    Whoever diverged on any split has lost; if both did, the augmentation has. Otherwise the paired
    difference decides, which is that of the two means whenever both ran on the same splits.
    """
    if row.diverged:
        return Verdict(1, 1)
    if plain.diverged:
        return Verdict(-1, -1)
    delta, error = row.delta(measure), row.delta_se(measure)
    if math.isnan(delta):
        return None
    clear = not math.isnan(error) and abs(delta) > CLEAR * error
    return Verdict(_sign(delta), int(math.copysign(1, delta)) if clear else 0)


def wins(
    table_rows: Iterable[TableRow], protocol: str | None = None, shift: str | None = None
) -> Wins:
    """Wins, ties and losses of every augmentation: per model, then over all models.

    protocol, shift  only these; each one on its own if not given
    """
    rows = [
        row for row in table_rows if protocol in (None, row.protocol) and shift in (None, row.shift)
    ]
    plain = {row.cell: row for row in rows if not row.augment}
    judged = [
        (row, measure, found)
        for measure in MEASURES
        for row in rows
        if row.augment and row.plain_cell in plain
        if (found := verdict(row, plain[row.plain_cell], measure))
    ]
    tallies = []
    for place in dict.fromkeys((row.protocol, row.shift) for row in rows):
        for measure in MEASURES:
            here = [
                (row, found)
                for row, judged_by, found in judged
                if (row.protocol, row.shift) == place and judged_by == measure
            ]
            for augment in ordered(AUGMENTS, (row.augment for row, _ in here)):
                cells = [(row, found) for row, found in here if row.augment == augment]
                for model in [*ordered(MODELS, (row.model for row, _ in cells)), ""]:
                    chosen = [c for c in cells if model in ("", c[0].model)]
                    tallies.append(_tally(*place, measure, augment, model, chosen))
    lost = [
        Lost(
            *(row.protocol, row.shift, measure, row.set, row.model, row.augment),
            *(row.delta(measure), row.delta_se(measure)),
            found.clearly > 0,
            row.diverged,
            row.splits,
        )
        for row, measure, found in judged
        if found.by_mean > 0
    ]
    # The worst first; a diverged cell is worse than any number.
    lost.sort(key=lambda cell: -math.inf if cell.diverged else -cell.delta)
    return Wins(tallies, lost)


def _tally(
    protocol: str,
    shift: str,
    measure: str,
    augment: str,
    model: str,
    cells: list[tuple[TableRow, Verdict]],
) -> Tally:
    # The paper's tables are under cluster shift only.
    theirs = [_paper_sign(measure, row) for row, _ in cells] if shift == "cluster" else []
    known = [sign for sign in theirs if sign is not None]
    return Tally(
        *(protocol, shift, measure, augment, model),
        by_mean=_count(found.by_mean for _, found in cells),
        clearly=_count(found.clearly for _, found in cells),
        diverged=sum(row.diverged > 0 for row, _ in cells),
        paper=_count(known) if known else None,
    )


def _paper_sign(measure: str, row: TableRow) -> int | None:
    ours = paper_cell(measure, row.model, row.augment, row.set)
    plain = paper_cell(measure, row.model, "", row.set)
    return _sign(ours[0] - plain[0]) if ours and plain else None


def _sign(delta: float) -> int:
    return 0 if abs(delta) < TIE else int(math.copysign(1, delta))


def _count(signs: Iterable[int]) -> Count:
    found = list(signs)
    return Count(found.count(-1), found.count(0), found.count(1))
