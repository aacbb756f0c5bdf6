import pytest

from reprior.report.ablation import ablation_grids
from reprior.report.grid import text
from reprior.report.tables import aggregate


@pytest.fixture
def grids(results):
    rows = []
    for name, gap in (("yacht", 0.5), ("wine", -0.25)):
        kind = {"set": name, "model": "mc_dropout", "protocol": "paper"}
        rows += results([1.0, 2.0, 1.5], "pad", **kind)
        rows += results([1.0 + gap, 2.1 + gap, 1.4 + gap], "pad-without-a", **kind)
        rows += results([3.0, 3.0, None], "pad-without-b", **kind)
        rows += results([9.0, 9.0, 9.0], **kind)
    return ablation_grids(aggregate(rows, reference="pad"), "paper", "cluster")


def cells(grid, label):
    (line,) = (line for group in grid.groups for line in group if line.label == label)
    return [cell.text for cell in line.cells]


def test_variants_stand_beside_the_whole_and_the_papers_numbers_below(grids):
    levels = grids[0]
    assert levels.head == ("Set", "PAD", "PAD without A", "PAD without B")
    assert cells(levels, "Yacht")[0] == "1.50±0.50"
    assert cells(levels, "Yacht")[2] == "diverged (1 of 3)"
    paper = [line for group in levels.groups for line in group if line.light]
    assert [cell.text for cell in paper[1].cells] == ["3.45±0.14", "3.45±0.11", "3.41±0.13"]


def test_the_plain_model_is_no_part_of_an_ablation(grids):
    assert "9.00" not in "".join(text(grid) for grid in grids)


def test_differences_are_paired_and_counted_from_the_side_of_the_whole(grids):
    differences = grids[1]
    wine, yacht, by_mean, clearly = cells(differences, "PAD without A")
    assert wine == "−0.25±0.06"
    assert yacht == "0.50±0.06"
    assert (by_mean, clearly) == ("1/0/1", "1/0/1")
    assert cells(differences, "PAD without B")[2:] == ["2/0/0", "2/0/0"]


def test_where_both_diverged_the_variant_has_lost_and_what_is_missing_is_not_counted(results):
    rows = results([1.0, None], "pad", set="yacht") + results([1.0, None], "pad-half", set="yacht")
    rows += results([1.0, 2.0], "pad", set="wine")
    differences = ablation_grids(aggregate(rows, reference="pad"), "fair", "cluster")[1]
    assert cells(differences, "PAD, half as many")[2:] == ["1/0/0", "1/0/0"]


def test_where_nothing_was_ablated_there_is_no_table(results):
    rows = aggregate(results([1.0, 2.0], "pad") + results([1.0, 2.0]), reference="pad")
    assert ablation_grids(rows, "fair", "cluster") == []
