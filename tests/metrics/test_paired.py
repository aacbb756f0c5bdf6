import math

import pytest
import torch
from scipy import stats

from reprior.metrics import compare_on_splits

NAN = math.nan


def counts(paired):
    return paired.wins.item(), paired.ties.item(), paired.losses.item()


def test_the_error_is_that_of_a_paired_t_test():
    torch.manual_seed(0)
    ours, theirs = torch.randn(2, 10).double()
    paired = compare_on_splits(ours, theirs)
    assert paired.mean.item() == pytest.approx((ours - theirs).mean().item())
    assert paired.standard_error.item() == pytest.approx(stats.sem(ours - theirs))
    oracle = stats.ttest_rel(ours, theirs).statistic
    assert (paired.mean / paired.standard_error).item() == pytest.approx(oracle)


def test_smaller_wins_unless_larger_is_better():
    ours, theirs = torch.tensor([1.0, 2.0, 3.0, 3.0]), torch.tensor([2.0, 2.0, 2.0, 5.0])
    assert counts(compare_on_splits(ours, theirs)) == (2, 1, 1)
    reversed_ = compare_on_splits(ours, theirs, larger_is_better=True)
    assert counts(reversed_) == (1, 1, 2)
    assert reversed_.mean == -0.5  # ours − theirs either way


def test_a_difference_within_the_tolerance_is_a_tie():
    ours, theirs = torch.tensor([1.0, 1.0, 1.0]), torch.tensor([1.25, 1.75, 0.75])
    assert counts(compare_on_splits(ours, theirs, tie=0.25)) == (1, 2, 0)


@pytest.mark.parametrize("larger_is_better", [False, True])
@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf])
def test_a_diverged_cell_is_a_loss_for_whoever_diverged(bad, larger_is_better):
    ours, theirs = torch.tensor([bad, 1.0, bad, 1.0]), torch.tensor([2.0, bad, bad, 1.0])
    here = compare_on_splits(ours, theirs, larger_is_better=larger_is_better)
    there = compare_on_splits(theirs, ours, larger_is_better=larger_is_better)
    assert counts(here) == (1, 1, 2)
    assert counts(there) == (1, 1, 2)
    assert (here.diverged, here.rival_diverged) == (2, 2)


def test_the_mean_does_not_hide_a_diverged_split():
    ours, theirs = torch.tensor([NAN, 1.0, 1.0]), torch.tensor([2.0, 2.0, 2.0])
    for paired in [compare_on_splits(ours, theirs), compare_on_splits(theirs, ours)]:
        assert paired.mean.isnan()
        assert paired.standard_error.isnan()


def test_one_split_has_a_difference_but_no_error():
    paired = compare_on_splits(torch.tensor([1.0]), torch.tensor([3.0]))
    assert paired.mean == -2
    assert paired.standard_error.isnan()


def test_many_models_meet_one_rival_as_they_would_one_by_one():
    torch.manual_seed(0)
    ours, theirs = torch.randn(4, 10), torch.randn(10)
    ours[2, 3] = theirs[5] = NAN
    together = compare_on_splits(ours, theirs)
    for row, model in enumerate(ours):
        alone = compare_on_splits(model, theirs)
        for got, wanted in zip(together, alone, strict=True):
            torch.testing.assert_close(got[row], wanted, equal_nan=True)


def test_unequal_splits_are_refused():
    with pytest.raises(ValueError, match="on the same splits"):
        compare_on_splits(torch.zeros(10), torch.zeros(9))
