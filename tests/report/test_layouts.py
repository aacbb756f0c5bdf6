import math

import pytest

from reprior.report.counts import wins
from reprior.report.layouts import (
    deltas,
    lost_table,
    number,
    paper_layout,
    spread,
    wins_table,
)
from reprior.report.names import SETS
from reprior.report.tables import TableRow, aggregate


def row(name, augment, nll, ce=1.0, model="deep_ensemble", shift="cluster", splits=10, diverged=0):
    ends = (nll, 0.5, ce, 0.25, *[math.nan] * 4)
    return TableRow("fair", shift, name, model, augment, splits, diverged, *ends)


def line(grid, label, after=None):
    """Cells of the line of this label; after: the line that stands above it."""
    lines = [found for group in grid.groups for found in group]
    start = [found.label for found in lines].index(after) + 1 if after else 0
    return next(found for found in lines[start:] if found.label == label).cells


def test_the_papers_numbers_are_marked_as_the_paper_marks_them(every_cell):
    grid = paper_layout(aggregate(every_cell), "fair", "cluster", "nll")
    assert grid.head[1:] == tuple(SETS.values())
    plain = line(grid, "paper", "Deep Ensemble")
    pad = line(grid, "paper", "Deep Ensemble + PAD")
    assert [cell.text for cell in pad[:2]] == ["3.61±0.22", "5.13±0.98"]
    # Power prints the same mean twice: both are the best, though the paper marks only one.
    assert [cell.bold for cell in plain] == [False, False, False, True, False, True, False, True]
    assert [cell.bold for cell in pad] == [True, True, True, False, True, True, True, False]
    assert [SETS["yacht"] == head for head in grid.head[1:]] == [cell.underline for cell in plain]
    assert [cell.underline for cell in pad] == [True, True, True, False, True, False, False, False]


def test_the_papers_calibration_errors_are_underlined_four_times(every_cell):
    grid = paper_layout(aggregate(every_cell), "fair", "cluster", "ce")
    light = [found for group in grid.groups for found in group if found.light]
    assert len(light) == 8
    underlined = [cell.text for found in light for cell in found.cells if cell.underline]
    assert underlined == ["5.12±3.62", "12.87±6.66", "2.94±3.10", "6.73±6.44"]
    assert sum(cell.bold for found in light[1::2] for cell in found.cells) == 22


@pytest.mark.parametrize(
    ("means", "bold", "underlined"),
    [
        ({"": 3.0, "pad": 2.0}, {"pad"}, {"pad"}),  # ahead by exactly 1
        ({"": 3.0, "pad": 2.01}, {"pad"}, set()),
        ({"": 1.0, "pad": 2.5}, {""}, {""}),
        ({"": 3.0, "noise": 1.5, "pad": 1.2}, {"pad"}, {"pad"}),  # held against plain
        ({"": 1.0, "noise": 1.5, "pad": 3.0}, {""}, set()),  # held against the next best
        ({"": 3.0, "noise": 1.201, "pad": 1.199}, {"noise", "pad"}, {"pad"}),  # print the same
        ({"": 1.0}, set(), set()),  # alone
    ],
)
def test_bold_is_the_best_and_underlined_far_ahead(means, bold, underlined):
    rows = [row("zebra", augment, mean) for augment, mean in means.items()]
    (group,) = paper_layout(rows, "fair", "cluster", "nll").groups
    keys = [augment for augment in ("", "noise", "pad") if augment in means]
    cells = dict(zip(keys, (found.cells[0] for found in group), strict=True))
    assert {key for key, cell in cells.items() if cell.bold} == bold
    assert {key for key, cell in cells.items() if cell.underline} == underlined


def test_a_diverged_cell_says_so_and_never_is_the_best():
    rows = [row("wine", "", 3.0), row("wine", "pad", 1.0, diverged=2)]
    grid = paper_layout(rows, "fair", "cluster", "nll")
    (cell,) = line(grid, "Deep Ensemble + PAD")
    assert cell == ("diverged (2 of 10)", False, False)
    assert line(grid, "Deep Ensemble")[0].bold
    assert "k of n" in grid.note


def test_the_paper_stands_only_beside_what_it_measured():
    random = paper_layout([row("wine", "", 1.0, shift="random")], "fair", "random", "nll")
    assert [found.label for group in random.groups for found in group] == ["Deep Ensemble"]
    noise = paper_layout([row("wine", "noise", 1.0)], "fair", "cluster", "nll")
    assert "paper" not in {found.label for group in noise.groups for found in group}
    assert "lighter" not in noise.note


def test_a_set_that_a_model_lacks_is_an_empty_cell():
    rows = [row("wine", "", 1.0), row("yacht", "", 2.0, model="swag")]
    grid = paper_layout(rows, "fair", "cluster", "nll")
    assert [cell.text for cell in line(grid, "Deep Ensemble")] == ["1.00±0.50", ""]


def test_differing_numbers_of_splits_are_told():
    rows = [row("wine", "", 1.0, splits=3), row("yacht", "", 2.0)]
    assert "3 to 10 splits" in paper_layout(rows, "fair", "cluster", "nll").note


def test_differences_are_marked_only_where_they_are_clear(results):
    rows = results([3.0, 3.0], set="wine") + results([1.0, 1.2], "pad", set="wine")
    rows += results([3.0, 3.0], set="yacht") + results([0.0, 4.0], "pad", set="yacht")
    rows += results([3.0, 3.0], set="power") + results([4.0, 4.2], "pad", set="power")
    rows += results([None, 3.0], set="naval") + results([4.0, 4.2], "pad", set="naval")
    rows += results([1.0, 3.0], set="energy") + results([None, 4.2], "pad", set="energy")
    grid = deltas(aggregate(rows), "fair", "cluster", "nll")
    cells = dict(zip(grid.head[1:], line(grid, "Deep Ensemble + PAD"), strict=True))
    assert cells["Wine"] == ("−1.90±0.10", True, False)
    assert cells["Yacht"] == ("−1.00±2.00", False, False)
    assert cells["Power"] == ("1.10±0.10", False, True)
    assert cells["Naval"] == ("plain diverged (1 of 2)", True, False)
    assert cells["Energy"] == ("diverged (1 of 2)", False, True)
    assert [found.label for group in grid.groups for found in group] == ["Deep Ensemble + PAD"]


def test_counts_stand_beside_the_papers(every_cell):
    grid = wins_table(wins(aggregate(every_cell)), "fair", "cluster")
    assert grid.head[1:4] == ("NLL, by mean", "NLL, clearly", "NLL, paper")
    shown = [cell.text for cell in line(grid, "All + PAD")]
    assert shown == ["32/0/0", "32/0/0", "20/1/11", "32/0/0", "32/0/0", "22/0/10"]
    assert [cell.text for cell in line(grid, "MC Dropout + PAD")][2] == "5/0/3"


def test_without_the_papers_cells_there_is_no_column_for_them(results):
    rows = results([1.0], shift="random") + results([2.0], "pad", shift="random")
    grid = wins_table(wins(aggregate(rows)), "fair", "random")
    assert not any("paper" in head for head in grid.head)


def test_lost_cells_are_listed(results):
    rows = results([1.0, 1.0], set="wine") + results([2.0, 2.5], "pad", set="wine")
    rows += results([1.0, 1.0], set="yacht") + results([None, 0.0], "pad", set="yacht")
    grid = lost_table(wins(aggregate(rows)), "fair", "cluster")
    first, second = grid.groups[0]
    assert [cell.text for cell in first.cells] == ["Yacht", "NLL", "diverged (1 of 2)", "yes"]
    assert [cell.text for cell in second.cells] == ["Wine", "NLL", "1.25±0.25", "yes"]
    assert "None" in lost_table(wins([]), "fair", "cluster").note


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((3.14159, "3.14"), (-1.005, "−1.00"), (-0.001, "0.00"), (math.nan, "")),
        *((123456.0, "1.23e+05"), (-2e9, "−2.00e+09"), (99999.0, "99999.00")),
    ],
)
def test_numbers_print_as_in_the_paper(value, shown):
    assert number(value) == shown
    assert spread(value, math.nan) == shown
