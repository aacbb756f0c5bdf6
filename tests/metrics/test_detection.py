import math

import pytest
import torch
from sklearn.metrics import roc_auc_score

from reprior.metrics import auroc


@pytest.mark.parametrize("values", [3, 20, 10_000])
def test_it_is_sklearns_with_and_without_ties(values):
    torch.manual_seed(0)
    score = torch.randint(values, (300,)).double()
    shifted = torch.rand(300) < 0.3 + 0.4 * score / values
    assert auroc(score, shifted).item() == pytest.approx(roc_auc_score(shifted, score))


def test_perfect_reversed_and_blind_scores_give_one_zero_and_a_half():
    shifted = torch.tensor([False, False, True, True])
    scores = torch.tensor([[1.0, 2, 3, 4], [4, 3, 2, 1], [7, 7, 7, 7]])
    assert auroc(scores, shifted).tolist() == [1.0, 0.0, 0.5]


def test_infinite_scores_are_only_the_largest_ones():
    score = torch.tensor([0.0, 1.0, math.inf, math.inf, 2.0])
    shifted = torch.tensor([False, True, False, True, True])
    finite = score.nan_to_num(posinf=100.0)
    assert auroc(score, shifted) == pytest.approx(roc_auc_score(shifted, finite))


def test_without_both_kinds_there_is_nothing_to_tell_apart():
    assert auroc(torch.rand(5), torch.ones(5, dtype=torch.bool)).isnan()
    assert auroc(torch.rand(5), torch.zeros(5, dtype=torch.bool)).isnan()
