import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from reprior.likelihoods import Categorical, categorical


def test_log_prob_is_the_negative_cross_entropy():
    logits, y = torch.randn(9, 4), torch.randint(4, (9,))
    density = categorical.from_outputs(logits)
    torch.testing.assert_close(-density.log_prob(y).mean(), cross_entropy(logits, y))


def test_one_set_of_labels_serves_a_population():
    density, y = Categorical(torch.randn(5, 9, 4)), torch.randint(4, (9,))
    one_by_one = torch.stack([Categorical(logits).log_prob(y) for logits in density.logits])
    torch.testing.assert_close(density.log_prob(y), one_by_one)


def test_entropy_and_distance_to_uniform_sum_to_log_of_the_classes():
    even, sure = Categorical(torch.zeros(5)), Categorical(torch.tensor([100.0, 0, 0, 0, 0]))
    assert even.entropy() == pytest.approx(math.log(5))
    assert even.kl_to_uniform() == pytest.approx(0, abs=1e-6)
    assert sure.entropy() == pytest.approx(0)
    assert sure.kl_to_uniform() == pytest.approx(math.log(5))
