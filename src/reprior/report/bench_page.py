"""The page of a benchmark: who wins where, both measures, and how everything was tuned."""

from collections.abc import Mapping, Sequence
from typing import Any

from reprior.contracts import Setting
from reprior.report.ablation import ablation_grids
from reprior.report.counts import wins
from reprior.report.curve_figures import curve_figures
from reprior.report.figures import delta_figure, svg
from reprior.report.grid import Cell, Grid, Line
from reprior.report.html import Block, Figure, Section, Table, Text, page
from reprior.report.layouts import deltas, lost_table, paper_layout, wins_table
from reprior.report.names import (
    ABLATIONS,
    AUGMENTS,
    MEASURES,
    PROTOCOLS,
    SHIFTS,
    human,
    label,
    ordered,
)
from reprior.report.ranks import ranks_table
from reprior.report.tables import TableRow, to_csv


def bench_page(
    title: str,
    rows: Sequence[TableRow],
    against_pad: Sequence[TableRow],
    finals: Sequence[Mapping[str, Any]],
    spaces: Mapping[str, Mapping[str, Setting]],
    seconds: Mapping[str, float],
    wall_seconds: float,
    provenance: Mapping[str, str],
) -> str:
    """One self-contained HTML page.

    rows          the table, with differences to the plain models
    against_pad   the same with differences to the whole of PAD, for an ablation
    finals        the results behind both, with their curves
    spaces        the settings every "model" or "model+augment" was tuned over
    seconds       seconds of computing by the same names
    wall_seconds  from start to end
    """
    numbers, main = to_csv(rows), _whole(rows)
    sections = [Section("What this shows", [Text(_summary(main), callout=True)])]
    for protocol, shift in dict.fromkeys((row.protocol, row.shift) for row in rows):
        sections += _place(main, protocol, shift, numbers)
        if drawn := curve_figures(finals, protocol, shift):
            name = _place_name(protocol, shift)
            sections.append(Section(f"Calibration and reversion: {_lower(name)}", list(drawn)))
        if ablated := ablation_grids(against_pad, protocol, shift):
            tables = [Table(grid, to_csv(against_pad), "ablation.csv") for grid in ablated]
            name = _place_name(protocol, shift)
            sections.append(Section(f"Ablation: {_lower(name)}", list(tables)))
    spent = _seconds(seconds, wall_seconds)
    sections.append(Section("Tuning", [Table(_spaces(spaces)), Table(spent)]))
    return page(title, sections, provenance)


def bench_grids(rows: Sequence[TableRow], against_pad: Sequence[TableRow]) -> list[Grid]:
    """The tables of a benchmark, for formats other than HTML."""
    grids, main = [], _whole(rows)
    for protocol, shift in dict.fromkeys((row.protocol, row.shift) for row in rows):
        found = wins(main, protocol, shift)
        grids += [paper_layout(main, protocol, shift, measure) for measure in MEASURES]
        grids += [deltas(main, protocol, shift, measure) for measure in MEASURES]
        grids += [wins_table(found, protocol, shift), lost_table(found, protocol, shift)]
        grids.append(ranks_table(main, protocol, shift))
        grids += ablation_grids(against_pad, protocol, shift)
    return grids


def _whole(rows: Sequence[TableRow]) -> list[TableRow]:
    """Without the variants of an ablation."""
    return [row for row in rows if row.augment not in ABLATIONS]


def _place(rows: Sequence[TableRow], protocol: str, shift: str, numbers: str) -> list[Section]:
    found = wins(rows, protocol, shift)
    blocks: list[Block] = [Table(wins_table(found, protocol, shift))]
    for measure in MEASURES:
        blocks.append(Table(paper_layout(rows, protocol, shift, measure), numbers, "table.csv"))
        blocks.append(Table(deltas(rows, protocol, shift, measure)))
    blocks.append(Table(lost_table(found, protocol, shift)))
    blocks.append(Table(ranks_table(rows, protocol, shift)))
    here = [row for row in rows if (row.protocol, row.shift) == (protocol, shift)]
    plain = {row.cell for row in here}
    comparable = {row.augment for row in here if row.augment and row.plain_cell in plain}
    for augment in ordered(AUGMENTS, comparable):
        figure = delta_figure(here, augment, shift=shift)
        caption = (
            f"{human(AUGMENTS, augment)} minus plain, paired by split, with two standard errors; "
            "below zero the augmentation is better."
        )
        blocks.append(Figure(svg(figure), caption))
    return [Section(_place_name(protocol, shift), blocks)]


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


def _place_name(protocol: str, shift: str) -> str:
    return f"{human(PROTOCOLS, protocol)}, {human(SHIFTS, shift)}".capitalize()


def _summary(rows: Sequence[TableRow]) -> str:
    """What the counts say, in words; one paragraph for each protocol and shift."""
    said = []
    for tally in wins(rows).tallies:
        if tally.model or tally.measure != "nll":
            continue
        count, clear = tally.by_mean, tally.clearly
        cells = sum(count)
        said.append(
            f"{_place_name(tally.protocol, tally.shift)}: in likelihood "
            f"{human(AUGMENTS, tally.augment)} beats the plain model in {count.wins} of {cells} "
            f"cells, ties in {count.ties} and loses {count.losses}; by more than two paired "
            f"standard errors it wins {clear.wins} and loses {clear.losses}."
            + (
                f" The paper wins {tally.paper.wins} of these cells, ties in {tally.paper.ties} "
                f"and loses {tally.paper.losses}."
                if tally.paper
                else ""
            )
        )
    return "\n\n".join(said) or "There is nothing to compare yet: no augmentation has results."


def _spaces(spaces: Mapping[str, Mapping[str, Setting]]) -> Grid:
    groups = []
    for name, space in spaces.items():
        model, _, augment = name.partition("+")
        groups.append(
            tuple(
                Line(
                    label(model, augment) if i == 0 else "",
                    (
                        Cell(setting_name),
                        Cell(", ".join(f"{c:g}" for c in setting.choices)),
                        Cell(setting.meaning),
                    ),
                )
                for i, (setting_name, setting) in enumerate(space.items())
            )
        )
    note = "Equally many candidates for everyone; shared settings have the same values for all."
    head = ("Model", "Setting", "Values", "What it is")
    return Grid("What tuning chooses from", head, tuple(groups), note)


def _seconds(seconds: Mapping[str, float], wall_seconds: float) -> Grid:
    lines = []
    for name, spent in seconds.items():
        model, _, augment = name.partition("+")
        lines.append(Line(label(model, augment), (Cell(f"{spent:.0f}"),)))
    note = (
        "Tuning and final fits together, summed over all workers. From start to end, reading the "
        f"tables and storing the results included: {wall_seconds:.0f}."
    )
    return Grid("Seconds of computing", ("Model", "Seconds"), (tuple(lines),), note)
