import csv
import io
import math

import numpy as np
import pytest
from scipy import stats

from reprior.contracts import InputError
from reprior.report.tables import TableRow, aggregate, from_csv, measures_csv, to_csv

COLUMNS = (
    "protocol,shift,set,model,augment,splits,diverged,nll_mean,nll_std,ce_mean,ce_std,"
    "nll_delta,nll_delta_se,ce_delta,ce_delta_se"
)


def test_differences_are_paired_by_hand(results):
    plain, pad = aggregate(results([5.0, 2.0, 8.0]) + results([4.0, 2.5, 5.0], "pad"))
    assert (plain.splits, plain.diverged, plain.nll_mean, plain.nll_std) == (3, 0, 5.0, 3.0)
    # −1, 0.5 and −3: their mean is −7/6, their variance 37/12.
    assert pad.nll_delta == pytest.approx(-7 / 6)
    assert pad.nll_delta_se == pytest.approx(math.sqrt(37 / 12 / 3))
    assert math.isnan(plain.nll_delta)
    assert math.isnan(plain.ce_delta_se)


def test_the_error_is_that_of_a_paired_t_test_in_any_order_of_rows(results):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 10))
    rows = results(list(a)) + results(list(b), "pad")
    pad = aggregate([rows[i] for i in rng.permutation(20)])[1]
    oracle = stats.ttest_rel(b, a).statistic
    assert pad.nll_delta / pad.nll_delta_se == pytest.approx(oracle)
    assert pad.nll_std == pytest.approx(np.std(b, ddof=1))


def test_only_splits_that_both_have_are_compared(results):
    _, pad = aggregate(results([5.0, 2.0, 100.0]) + results([4.0, 4.0], "pad"))
    assert pad.splits == 2
    assert pad.nll_delta == pytest.approx(0.5)  # of −1 and 2


def test_a_diverged_split_is_counted_and_leaves_the_means(results):
    plain, pad = aggregate(results([5.0, 2.0, 8.0]) + results([4.0, None, 5.0], "pad"))
    assert (pad.splits, pad.diverged) == (3, 1)
    assert pad.nll_mean == 4.5
    assert pad.nll_delta == -2.0  # of −1 and −3
    assert plain.diverged == 0


def test_one_diverged_member_is_enough_even_beside_a_finite_score(result):
    (row,) = aggregate([result(split=0), result(split=1, nll=9.0, diverged=1)])
    assert (row.diverged, row.nll_mean) == (1, 1.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_a_divergence(bad, result):
    (row,) = aggregate([result(split=0), result(split=1, nll=bad)])
    assert (row.diverged, row.nll_mean) == (1, 1.0)


def test_when_all_diverge_no_number_is_left(results):
    (row,) = aggregate(results([None, None]))
    assert (row.splits, row.diverged) == (2, 2)
    assert all(math.isnan(value) for value in row[7:])


def test_a_single_split_has_a_mean_but_no_spread(results):
    _, pad = aggregate(results([2.0]) + results([1.5], "pad"))
    assert (pad.nll_mean, pad.nll_delta) == (1.5, -0.5)
    assert math.isnan(pad.nll_std)
    assert math.isnan(pad.nll_delta_se)


def test_cells_come_in_the_papers_order_and_unknown_ones_last(result):
    rows = [
        result(model="my_model", set="zebra"),
        result(model="mc_dropout", augment="pad", set="yacht"),
        result(model="mc_dropout", set="yacht"),
        result(model="deep_ensemble", set="housing", protocol="paper"),
        result(model="gaussian_process", set="yacht"),
        result(model="mc_dropout", set="housing"),
    ]
    assert [row[2:5] for row in aggregate(rows)] == [
        ("housing", "deep_ensemble", ""),
        ("housing", "mc_dropout", ""),
        ("yacht", "gaussian_process", ""),
        ("yacht", "mc_dropout", ""),
        ("yacht", "mc_dropout", "pad"),
        ("zebra", "my_model", ""),
    ]


def test_a_split_given_twice_and_a_missing_column_are_refused(result):
    with pytest.raises(ValueError, match="Split 0 of fair/cluster/yacht/deep_ensemble/ is given"):
        aggregate([result(), result()])
    row = result()
    del row["ce"], row["diverged"]
    with pytest.raises(ValueError, match="lacks ce, diverged"):
        aggregate([row])


def test_no_rows_make_an_empty_table():
    assert aggregate([]) == []
    assert to_csv([]) == COLUMNS + "\n"


def test_the_csv_file_is_exact_and_leaves_missing_numbers_empty(results):
    rows = aggregate(results([1 / 3, np.float64(0.1)]) + results([0.1, None], "pad"))
    text = to_csv(rows)
    first, second = csv.DictReader(io.StringIO(text))
    assert text.splitlines()[0] == COLUMNS
    assert float(first["nll_mean"]) == rows[0].nll_mean  # every bit of it
    assert first["nll_delta"] == ""
    assert (second["diverged"], second["nll_std"]) == ("1", "")
    assert to_csv(from_csv(text)) == text


def test_names_with_commas_and_quotes_survive_the_csv_file(result):
    rows = aggregate([result(set='a, "b"\nc')])
    assert from_csv(to_csv(rows))[0].set == 'a, "b"\nc'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "first line is ''"),
        ("a,b\n1,2\n", "first line is 'a,b'"),
        (COLUMNS + "\nfair,cluster,yacht\n", "Line 2 of the table cannot be read"),
        (COLUMNS + "\nfair,cluster,a,b,,ten,0,,,,,,,,\n", "Line 2 of the table cannot be read"),
    ],
)
def test_a_text_that_is_no_such_table_is_named(text, words):
    with pytest.raises(InputError, match=words):
        from_csv(text)


def test_a_row_knows_its_plain_cell():
    row = TableRow("fair", "cluster", "wine", "swag", "pad", 1, 0, *[0.0] * 8)
    assert row.plain_cell == ("fair", "cluster", "wine", "swag", "")


def test_further_measures_are_averaged_over_the_splits_that_have_them(result):
    rows = [result(split=i) | {"crps": value} for i, value in enumerate([1.0, 4.0, math.nan])]
    (line,) = csv.DictReader(io.StringIO(measures_csv(rows, ["crps"])))
    assert (line["measure"], line["splits"], line["left_out"]) == ("crps", "3", "1")
    assert float(line["mean"]) == 2.5
    assert float(line["std"]) == pytest.approx(math.sqrt(4.5))
