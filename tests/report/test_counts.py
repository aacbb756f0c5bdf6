import math

import pytest

from reprior.report.counts import Count, wins
from reprior.report.tables import aggregate


def tally(rows, measure="nll", model="", augment="pad"):
    (found,) = (
        t
        for t in wins(aggregate(rows)).tallies
        if (t.measure, t.model, t.augment) == (measure, model, augment)
    )
    return found


def test_the_papers_numbers_give_the_papers_counts(every_cell):
    assert tally(every_cell, "nll").paper == Count(20, 1, 11)  # its 21 of 32 counts the tie
    assert tally(every_cell, "ce").paper == Count(22, 0, 10)
    by_model = [tally(every_cell, "nll", model).paper for model in ("deep_ensemble", "swag")]
    assert by_model == [Count(5, 1, 2), Count(5, 0, 3)]
    assert tally(every_cell).by_mean == Count(32, 0, 0)


def test_the_paper_is_counted_on_the_same_cells_only(results):
    rows = results([2.0], set="power") + results([1.0], "pad", set="power")
    rows += results([2.0], set="diabetes") + results([1.0], "pad", set="diabetes")
    assert tally(rows).by_mean == Count(2, 0, 0)
    assert tally(rows).paper == Count(0, 1, 0)


@pytest.mark.parametrize("change", [{"shift": "random"}, {"model": "laplace"}])
def test_where_the_paper_has_nothing_no_count_is_made_up(change, results):
    assert tally(results([2.0], **change) + results([1.0], "pad", **change)).paper is None


def test_a_win_by_mean_need_not_be_clear(results):
    # Differences −3 and 1: mean −1, standard error 2.
    unclear = results([3.0, 3.0]) + results([0.0, 4.0], "pad")
    assert tally(unclear).by_mean == Count(1, 0, 0)
    assert tally(unclear).clearly == Count(0, 1, 0)
    # Differences 1 and 1.2: mean 1.1, standard error 0.1.
    clear = results([3.0, 3.0]) + results([4.0, 4.2], "pad")
    assert tally(clear).by_mean == tally(clear).clearly == Count(0, 0, 1)


def test_one_split_is_never_clear(results):
    assert tally(results([3.0]) + results([1.0], "pad")).clearly == Count(0, 1, 0)


def test_what_prints_the_same_is_a_tie(results):
    rows = results([1.0, 1.0]) + results([1.004, 1.004], "pad")
    assert tally(rows).by_mean == Count(0, 1, 0)
    assert tally(rows).clearly == Count(0, 0, 1)  # small but certain


@pytest.mark.parametrize(
    ("plain", "pad", "count"),
    [
        ([9.0, 9.0], [None, 1.0], Count(0, 0, 1)),
        ([None, 1.0], [9.0, 9.0], Count(1, 0, 0)),
        ([None, 1.0], [0.0, None], Count(0, 0, 1)),
    ],
)
def test_whoever_diverged_has_lost_whatever_the_other_splits_say(plain, pad, count, results):
    found = tally(results(plain) + results(pad, "pad"))
    assert found.by_mean == found.clearly == count
    assert found.diverged == (None in pad)


def test_lost_cells_are_listed_with_how_much_the_worst_first(results):
    rows = []
    for name, pad in {"wine": [2.0, 2.0], "yacht": [5.0, 5.5], "power": [None, 1.0]}.items():
        rows += results([1.0, 1.0], set=name) + results(pad, "pad", [0.0, 0.0], set=name)
    lost = wins(aggregate(rows)).lost
    assert [(cell.set, cell.measure) for cell in lost] == [
        *(("power", "nll"), ("power", "ce")),
        *(("yacht", "nll"), ("wine", "nll")),
    ]
    assert (lost[0].diverged, lost[0].splits, lost[0].clearly) == (1, 2, True)
    assert (lost[2].delta, lost[2].delta_se) == pytest.approx((4.25, 0.25))


def test_what_cannot_be_compared_is_not_counted(results):
    assert wins(aggregate(results([1.0], "pad"))).tallies == []
    apart = [row | {"split": row["split"] + 5} for row in results([1.0], "pad")]
    found = wins(aggregate(results([1.0]) + apart))
    assert found.tallies == []
    assert found.lost == []


def test_protocols_and_shifts_are_counted_apart(results):
    rows = []
    for protocol, pad in (("paper", 1.0), ("fair", 3.0)):
        for shift in ("cluster", "random"):
            place = {"protocol": protocol, "shift": shift}
            rows += results([2.0], **place) + results([pad], "pad", **place)
    table = aggregate(rows)
    whole = [t for t in wins(table).tallies if not t.model and t.measure == "nll"]
    assert [(t.protocol, t.shift, t.by_mean.wins) for t in whole] == [
        *(("paper", "cluster", 1), ("paper", "random", 1)),
        *(("fair", "cluster", 0), ("fair", "random", 0)),
    ]
    assert {t.protocol for t in wins(table, "paper").tallies} == {"paper"}
    assert {t.shift for t in wins(table, shift="random").tallies} == {"random"}
    assert math.isclose(wins(table, "fair", "random").lost[0].delta, 1.0)
