"""The tables people read: the paper's own, the differences behind it, and the counts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reprior.report.counts import CLEAR, TIE, Count, Lost, Tally, Wins, verdict
from reprior.report.grid import Cell, Grid, Line
from reprior.report.names import (
    AUGMENTS,
    MEASURES,
    MODELS,
    PROTOCOLS,
    SETS,
    SHIFTS,
    SHORT_MEASURES,
    human,
    label,
    ordered,
)
from reprior.report.paper import paper_cell
from reprior.report.tables import TableRow

LARGE = {"nll": 1.0, "ce": 5.0}  # differences the paper underlines


def paper_layout(table_rows: Iterable[TableRow], protocol: str, shift: str, measure: str) -> Grid:
    """A line per model and augmentation, a column per set, and the paper's own line below ours.

    The paper measured under cluster shift, so its lines stand there only. With more than one
    augmentation the best is held against the plain model, or if it is the plain model, against
    the next best.

    measure  nll or ce
    """
    rows = _chosen(table_rows, protocol, shift)
    sets = ordered(SETS, (row.set for row in rows))
    with_paper = False
    groups = []
    for model in ordered(MODELS, (row.model for row in rows)):
        cells = {(row.augment, row.set): row for row in rows if row.model == model}
        variants = ordered(AUGMENTS, (augment for augment, _ in cells))
        ours: dict[str, list[Cell]] = {augment: [] for augment in variants}
        paper: dict[str, list[Cell]] = {augment: [] for augment in variants}
        for name in sets:
            here = {a: _entry(cells[a, name], measure) for a in variants if (a, name) in cells}
            theirs = {a: _paper_entry(measure, model, a, name) for a in variants}
            for column, entries in ((ours, here), (paper, theirs)):
                marks = _marks({a: entry.value for a, entry in entries.items()}, LARGE[measure])
                for augment in variants:
                    entry = entries.get(augment, _NOTHING)
                    column[augment].append(Cell(entry.text, *marks.get(augment, (False, False))))
        group = []
        for augment in variants:
            group.append(Line(label(model, augment), tuple(ours[augment])))
            if shift == "cluster" and any(cell.text for cell in paper[augment]):
                group.append(Line("paper", tuple(paper[augment]), light=True))
                with_paper = True
        groups.append(tuple(group))
    note = (
        f"Mean±standard deviation over {_splits(rows)}; smaller is better. Bold: the best of a "
        f"model's variants. Underlined: ahead by {LARGE[measure]:g} or more."
    )
    if with_paper:
        note += " The lighter lines are the paper's own numbers."
    return Grid(
        caption(MEASURES[measure], protocol, shift),
        ("Model", *(human(SETS, name) for name in sets)),
        tuple(groups),
        note + _note_on_diverged(rows),
    )


def deltas(table_rows: Iterable[TableRow], protocol: str, shift: str, measure: str) -> Grid:
    """Paired differences to the plain model, with the standard error of their mean."""
    rows = _chosen(table_rows, protocol, shift)
    by_cell = {row.cell: row for row in rows}
    augmented = [row for row in rows if row.augment and row.plain_cell in by_cell]
    sets = ordered(SETS, (row.set for row in augmented))
    groups = []
    for model in ordered(MODELS, (row.model for row in augmented)):
        lines = []
        for augment in ordered(AUGMENTS, (r.augment for r in augmented if r.model == model)):
            cells = []
            for name in sets:
                row = by_cell.get((protocol, shift, name, model, augment))
                plain = by_cell.get((protocol, shift, name, model, ""))
                cells.append(_delta_cell(row, plain, measure) if row and plain else Cell(""))
            lines.append(Line(label(model, augment), tuple(cells)))
        groups.append(tuple(lines))
    return Grid(
        caption(f"difference in {MEASURES[measure]} to the plain model", protocol, shift),
        ("Model", *(human(SETS, name) for name in sets)),
        tuple(groups),
        f"Mean paired difference±its standard error over {_splits(augmented)}; below zero, the "
        f"augmentation is better. Bold: better by more than {CLEAR:g} standard errors. Underlined: "
        "worse by as much." + _note_on_diverged(rows),
    )


def wins_table(found: Wins, protocol: str, shift: str) -> Grid:
    """Wins/ties/losses per augmentation and model: by mean, clearly, and the paper's own."""
    tallies = {
        (t.augment, t.model, t.measure): t
        for t in found.tallies
        if (t.protocol, t.shift) == (protocol, shift)
    }
    with_paper = any(tally.paper for tally in tallies.values())
    head = ["Model"]
    for measure in MEASURES:
        short = SHORT_MEASURES[measure]
        head += [f"{short}, by mean", f"{short}, clearly"] + [f"{short}, paper"] * with_paper
    groups = []
    for augment in ordered(AUGMENTS, (augment for augment, _, _ in tallies)):
        lines = []
        for model in [*ordered(MODELS, {m for a, m, _ in tallies if a == augment} - {""}), ""]:
            cells: list[Cell] = []
            for measure in MEASURES:
                tally = tallies.get((augment, model, measure))
                cells += _tally_cells(tally, with_paper, bold=not model)
            name = label(model, augment) if model else f"All + {human(AUGMENTS, augment)}"
            lines.append(Line(name, tuple(cells)))
        groups.append(tuple(lines))
    lost = sum(tally.diverged for tally in tallies.values() if not tally.model)
    note = (
        "Wins/ties/losses against the plain model, one for each set. By mean, as the paper counts; "
        f"closer than {TIE:g} is a tie. Clearly: by more than {CLEAR:g} paired standard errors, "
        "all else being ties."
    )
    if with_paper:
        note += " Paper: its own numbers, by mean, on those of these cells that it has."
    if lost:
        note += " Cells that diverged are among the losses."
    return Grid(caption("wins/ties/losses", protocol, shift), tuple(head), tuple(groups), note)


def lost_table(found: Wins, protocol: str, shift: str) -> Grid:
    """The cells an augmentation loses, the worst of each measure first."""
    groups = []
    for measure in MEASURES:
        lines = [
            Line(
                label(cell.model, cell.augment),
                (
                    Cell(human(SETS, cell.set)),
                    Cell(SHORT_MEASURES[measure]),
                    Cell(_by_how_much(cell)),
                    Cell("yes" if cell.clearly else "no"),
                ),
            )
            for cell in found.lost
            if (cell.protocol, cell.shift, cell.measure) == (protocol, shift, measure)
        ]
        if lines:
            groups.append(tuple(lines))
    return Grid(
        caption("lost cells", protocol, shift),
        ("Model", "Set", "Measure", "Worse by", f"Beyond {CLEAR:g} errors"),
        tuple(groups),
        "Mean paired difference to the plain model±its standard error."
        if groups
        else "None: no augmentation is behind its plain model by the mean.",
    )


def number(value: float) -> str:
    """Two decimals, as the paper prints; nothing where there is no number."""
    if math.isnan(value):
        return ""
    shown = f"{value:.2f}" if abs(value) < 1e5 else f"{value:.2e}"
    return ("0.00" if shown == "-0.00" else shown).replace("-", "−")


def spread(mean: float, error: float) -> str:
    return number(mean) + (f"±{number(error)}" if not math.isnan(error) else "")


class _Entry(NamedTuple):
    text: str
    value: float | None  # what competes for bold; None: there is nothing to compare


_NOTHING = _Entry("", None)


def _entry(row: TableRow, measure: str) -> _Entry:
    if row.diverged:
        return _Entry(_diverged(row), None)
    return _Entry(spread(row.mean(measure), row.std(measure)), row.mean(measure))


def _paper_entry(measure: str, model: str, augment: str, name: str) -> _Entry:
    cell = paper_cell(measure, model, augment, name)
    return _Entry(spread(*cell), cell[0]) if cell else _NOTHING


def _marks(values: Mapping[str, float | None], large: float) -> dict[str, tuple[bool, bool]]:
    """Bold and underline by augmentation. A lone variant has nothing to be the best of."""
    known = {augment: value for augment, value in values.items() if value is not None}
    if len(values) < 2 or not known:
        return {}
    best = min(known, key=lambda augment: known[augment])
    others = [value for augment, value in known.items() if augment != best]
    # What it is ahead of; whatever diverged has no number to be ahead of.
    rival = known[""] if best and "" in known else min(others, default=math.nan)
    large_lead = rival - known[best] >= large - 1e-9  # 1.37 − 0.37 is a little less than 1
    return {
        augment: (number(value) == number(known[best]), augment == best and large_lead)
        for augment, value in known.items()
    }


def _delta_cell(row: TableRow, plain: TableRow, measure: str) -> Cell:
    found = verdict(row, plain, measure)
    if not found:
        return Cell("")
    if row.diverged:
        return Cell(_diverged(row), underline=True)
    if plain.diverged:
        return Cell(f"plain {_diverged(plain)}", bold=True)
    shown = spread(row.delta(measure), row.delta_se(measure))
    return Cell(shown, bold=found.clearly < 0, underline=found.clearly > 0)


def _tally_cells(tally: Tally | None, with_paper: bool, bold: bool) -> list[Cell]:
    counts: list[Count | None] = [tally.by_mean, tally.clearly] if tally else [None, None]
    if with_paper:
        counts.append(tally.paper if tally else None)
    return [Cell(str(count) if count else "", bold=bold and count is not None) for count in counts]


def _by_how_much(cell: Lost) -> str:
    if cell.diverged:
        return f"diverged ({cell.diverged} of {cell.splits})"
    return spread(cell.delta, cell.delta_se)


def _diverged(row: TableRow) -> str:
    return f"diverged ({row.diverged} of {row.splits})"


def _note_on_diverged(rows: Sequence[TableRow]) -> str:
    if not any(row.diverged for row in rows):
        return ""
    return (
        " Diverged (k of n): on k of n splits a member's training ended without finite numbers; "
        "such a cell counts as a loss, and the mean of its other splits is in table.csv."
    )


def _splits(rows: Sequence[TableRow]) -> str:
    counts = {row.splits for row in rows} or {0}
    low, high = min(counts), max(counts)
    if low == high:
        return f"{low} split{'s' if low != 1 else ''}"
    return f"{low} to {high} splits"


def _chosen(table_rows: Iterable[TableRow], protocol: str, shift: str) -> list[TableRow]:
    return [row for row in table_rows if (row.protocol, row.shift) == (protocol, shift)]


def caption(what: str, protocol: str, shift: str) -> str:
    return f"{what[0].upper()}{what[1:]}: {human(SHIFTS, shift)}, {human(PROTOCOLS, protocol)}"
