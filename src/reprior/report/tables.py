"""From one result per split to one row per cell: `table.csv`, which every figure and table reads.

A cell is one model with one augmentation on one set, under one protocol and one shift.
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from reprior.contracts import InputError
from reprior.report.names import AUGMENTS, MODELS, PROTOCOLS, SETS, SHIFTS, ordered

RESULT_COLUMNS = (
    *("protocol", "shift", "set", "model", "augment", "split"),
    *("nll", "ce", "diverged"),
)


CellKey = tuple[str, str, str, str, str]  # protocol, shift, set, model, augment


class TableRow(NamedTuple):
    """One cell. NaN stands for a number that does not exist, and is empty in the CSV file.

    Means and standard deviations are over the splits that did not diverge. A standard deviation
    divides by n − 1, so a single split has none. A difference is to the same model without
    augmentation, split by split, over the splits where both have a number; its standard error is
    that of the mean difference. Plain models have no difference.
    """

    protocol: str
    shift: str
    set: str
    model: str
    augment: str
    splits: int  # all of them, diverged or not
    diverged: int  # splits with at least one diverged member
    nll_mean: float
    nll_std: float
    ce_mean: float
    ce_std: float
    nll_delta: float
    nll_delta_se: float
    ce_delta: float
    ce_delta_se: float

    @property
    def cell(self) -> CellKey:
        return self[:5]

    @property
    def plain_cell(self) -> CellKey:
        return (*self[:4], "")

    def mean(self, measure: str) -> float:
        return float(getattr(self, f"{measure}_mean"))

    def std(self, measure: str) -> float:
        return float(getattr(self, f"{measure}_std"))

    def delta(self, measure: str) -> float:
        return float(getattr(self, f"{measure}_delta"))

    def delta_se(self, measure: str) -> float:
        return float(getattr(self, f"{measure}_delta_se"))


class _Score(NamedTuple):
    nll: float
    ce: float
    diverged: bool


def aggregate(rows: Iterable[Mapping[str, Any]], reference: str = "") -> list[TableRow]:
    """One row per cell, in the order of the paper's tables.

    rows       dictionaries with RESULT_COLUMNS, one per cell and split. `diverged` is the number
               of members that diverged; a split with any, or without a finite score, counts as
               diverged.
    reference  the augmentation that differences are to; the plain model if not given
    """
    cells: dict[tuple[str, ...], dict[int, _Score]] = {}
    for row in rows:
        missing = [name for name in RESULT_COLUMNS if name not in row]
        if missing:
            raise ValueError(f"A result row lacks {', '.join(missing)}; it has {', '.join(row)}.")
        cell = tuple(str(row[name]) for name in RESULT_COLUMNS[:5])
        scores = cells.setdefault(cell, {})
        split, nll, ce = int(row["split"]), float(row["nll"]), float(row["ce"])
        if split in scores:
            raise ValueError(f"Split {split} of {'/'.join(cell)} is given twice; give it once.")
        finite = math.isfinite(nll) and math.isfinite(ce)
        scores[split] = _Score(nll, ce, int(row["diverged"]) > 0 or not finite)
    return [_table_row(cell, cells, reference) for cell in _in_order(cells)]


def to_csv(table_rows: Iterable[TableRow]) -> str:
    """The text of table.csv: numbers as exact as they are known, empty where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(TableRow._fields)
    for row in table_rows:
        writer.writerow(
            "" if isinstance(value, float) and math.isnan(value) else value for value in row
        )
    return text.getvalue()


def measures_csv(rows: Iterable[Mapping[str, Any]], measures: Sequence[str]) -> str:
    """The text of measures.csv: mean and standard deviation of further scores, one per line.

    rows  dictionaries as for `aggregate`, with the measures beside them; splits without a finite
          score are left out and counted in the last column
    """
    found: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for row in rows:
        cell = found.setdefault(tuple(str(row[name]) for name in RESULT_COLUMNS[:5]), {})
        for measure in measures:
            cell.setdefault(measure, []).append(float(row.get(measure, math.nan)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*RESULT_COLUMNS[:5], "measure", "mean", "std", "splits", "left_out"))
    for key in _in_order(found):
        for measure, values in found[key].items():
            usable = [value for value in values if math.isfinite(value)]
            numbers = ("" if math.isnan(v) else v for v in _mean_std(usable))
            writer.writerow((*key, measure, *numbers, len(values), len(values) - len(usable)))
    return text.getvalue()


def from_csv(text: str) -> list[TableRow]:
    """The rows of a text that `to_csv` wrote."""
    header, *lines = list(csv.reader(io.StringIO(text, newline=""))) or [[]]
    if tuple(header) != TableRow._fields:
        raise InputError(
            f"The table's first line is {','.join(header)!r}, expected "
            f"{','.join(TableRow._fields)!r}; write the table again from the run it came from."
        )
    kinds = get_type_hints(TableRow)
    rows = []
    for number, line in enumerate(lines, start=2):
        try:
            values: list[Any] = [
                math.nan if kinds[name] is float and not value else kinds[name](value)
                for name, value in zip(header, line, strict=True)
            ]
        except ValueError as error:
            raise InputError(
                f"Line {number} of the table cannot be read ({error}); expected {len(header)} "
                "fields with numbers from the sixth on; write the table again from its run."
            ) from None
        rows.append(TableRow(*values))
    return rows


def _in_order(cells: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    columns = list(zip(*cells, strict=True))
    names = (PROTOCOLS, SHIFTS, SETS, MODELS, AUGMENTS)
    ranks = [
        {key: rank for rank, key in enumerate(ordered(known, column))}
        for known, column in zip(names, columns, strict=False)
    ]
    return sorted(
        cells, key=lambda cell: [rank[key] for rank, key in zip(ranks, cell, strict=True)]
    )


def _table_row(
    cell: tuple[str, ...],
    cells: Mapping[tuple[str, ...], Mapping[int, _Score]],
    reference: str,
) -> TableRow:
    ours = cells[cell]
    other = cells.get((*cell[:4], reference), {}) if cell[4] != reference else {}
    kept = [score for _, score in sorted(ours.items()) if not score.diverged]
    pairs = [
        (ours[split], other[split])
        for split in sorted(ours.keys() & other.keys())
        if not ours[split].diverged and not other[split].diverged
    ]
    nll_delta, nll_delta_std = _mean_std([a.nll - b.nll for a, b in pairs])
    ce_delta, ce_delta_std = _mean_std([a.ce - b.ce for a, b in pairs])
    protocol, shift, set_, model, augment = cell
    return TableRow(
        *(protocol, shift, set_, model, augment),
        len(ours),
        len(ours) - len(kept),
        *_mean_std([score.nll for score in kept]),
        *_mean_std([score.ce for score in kept]),
        nll_delta,
        nll_delta_std / math.sqrt(max(len(pairs), 1)),
        ce_delta,
        ce_delta_std / math.sqrt(max(len(pairs), 1)),
    )


def _mean_std(values: Sequence[float]) -> tuple[float, float]:
    mean = float(np.mean(values)) if values else math.nan
    return mean, float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
