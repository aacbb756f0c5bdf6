import math

import pytest

from reprior.benchmark.select import choose


def rows(*scores, split=0):
    """scores: one list per candidate, with its NLL on every fold."""
    return [
        {"split": split, "fold": fold, "candidate": candidate, "nll": nll}
        for candidate, folds in enumerate(scores)
        for fold, nll in enumerate(folds)
    ]


def test_the_least_mean_validation_nll_is_chosen():
    (choice,) = choose(rows([1.0, 5.0], [2.0, 2.0], [0.5, 4.5]), 1)
    assert choice.candidate == 1
    assert choice.nll == 2.0
    assert choice.margin == pytest.approx(0.5)


def test_every_split_chooses_for_itself():
    given = rows([1.0], [2.0], split=0) + rows([3.0], [-1.0], split=1)
    assert [choice.candidate for choice in choose(given, 2)] == [0, 1]


@pytest.mark.parametrize("lost", [math.nan, math.inf, -math.inf, None])
def test_a_candidate_that_diverged_on_one_fold_is_not_chosen(lost):
    (choice,) = choose(rows([-9.0, lost], [5.0, 5.0]), 1)
    assert choice.candidate == 1


def test_where_all_diverged_one_is_chosen_all_the_same():
    (choice,) = choose(rows([math.nan], [math.nan, 1.0]), 1)
    assert choice.candidate == 0
    assert choice.nll == math.inf
    assert choice.margin == 0


def test_between_equals_the_first_is_chosen_and_the_margin_says_so():
    (choice,) = choose(rows([2.0], [1.0], [1.0]), 1)
    assert choice.candidate == 1
    assert choice.margin == 0


def test_the_order_of_rows_does_not_matter():
    given = rows([1.0, 2.0], [1.5, 1.0], [3.0, 0.1])
    assert choose(given, 1) == choose(given[::-1], 1)


def test_a_single_candidate_is_chosen_without_a_rival():
    (choice,) = choose(rows([1.0]), 1)
    assert choice.candidate == 0
    assert choice.margin == math.inf
