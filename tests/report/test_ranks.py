import pytest

from reprior.report.grid import text
from reprior.report.ranks import mean_ranks, ranks_table
from reprior.report.tables import aggregate


@pytest.fixture
def rows(results):
    found = []
    for name, plain, pad, mixup in (("yacht", 3.0, 1.0, 2.0), ("wine", 1.0, 2.0, 2.0)):
        found += results([plain, plain], set=name)
        found += results([pad, pad], "pad", set=name)
        found += results([mixup, mixup], "mixup", set=name)
    return found


def test_ranks_are_averaged_over_sets_and_ties_share_theirs(rows):
    found = mean_ranks(aggregate(rows), "fair", "cluster", "nll")
    assert found == {
        ("deep_ensemble", ""): pytest.approx((3 + 1) / 2),
        ("deep_ensemble", "pad"): pytest.approx((1 + 2.5) / 2),
        ("deep_ensemble", "mixup"): pytest.approx((2 + 2.5) / 2),
    }


def test_who_lacks_a_set_is_not_ranked(rows, results):
    rows += results([0.1, 0.1], set="yacht", model="swag")
    found = mean_ranks(aggregate(rows), "fair", "cluster", "nll")
    assert ("swag", "") not in found
    assert len(found) == 3


def test_a_cell_that_diverged_is_last(rows, results):
    rows += results([0.1, None], set="yacht", model="swag")
    rows += results([0.1, 0.1], set="wine", model="swag")
    found = mean_ranks(aggregate(rows), "fair", "cluster", "nll")
    assert found["swag", ""] == pytest.approx((4 + 1) / 2)


def test_the_table_lists_the_best_first(rows):
    shown = text(ranks_table(aggregate(rows), "fair", "cluster"))
    assert shown.index("Deep Ensemble + PAD") < shown.index("Deep Ensemble + Mixup")


def test_without_results_there_is_nothing_to_rank():
    assert mean_ranks([], "fair", "cluster", "nll") == {}
    assert ranks_table([], "fair", "cluster").groups == ((),)
