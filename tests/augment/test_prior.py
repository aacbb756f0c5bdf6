import math

import pytest
import torch
from torch.distributions import Categorical as TorchCategorical
from torch.distributions import Normal, kl_divergence

from reprior.augment.prior import (
    regression_pull,
    temperature_on_data,
    temperature_pull,
    uniform_pull,
)
from reprior.likelihoods import Categorical, Gaussian, TemperedCategorical

WEIGHT = torch.tensor([0.0, 0.25, 1.0], dtype=torch.float64)


def numbers():
    torch.manual_seed(0)
    mean, std = torch.randn(2, 3, dtype=torch.float64)
    return Gaussian(mean, std.exp())


def classes():
    torch.manual_seed(0)
    log_t = torch.tensor([0.0, 0.7, -0.4], dtype=torch.float64)
    return TemperedCategorical(torch.randn(3, 4, dtype=torch.float64), log_t)


@pytest.mark.parametrize("mean", ["own", "zero"])
def test_in_regression_the_pull_is_the_weighted_divergence_to_the_prior(mean):
    labels = numbers()
    middle = labels.mean if mean == "own" else torch.zeros(3, dtype=torch.float64)
    expected = WEIGHT * kl_divergence(Normal(*labels), Normal(middle, torch.ones_like(middle)))
    torch.testing.assert_close(regression_pull(labels, WEIGHT, mean), expected.mean())


def test_the_papers_pull_moves_the_spread_alone_and_the_other_the_mean_too():
    for mean, moves in (("own", False), ("zero", True)):
        labels = Gaussian(*(part.requires_grad_() for part in numbers()))
        regression_pull(labels, WEIGHT, mean).backward()
        assert labels.std.grad.abs().sum() > 0
        assert (labels.mean.grad is not None and bool(labels.mean.grad.any())) == moves


def test_the_pull_is_zero_at_the_prior():
    prior = Gaussian(torch.zeros(3).double(), torch.ones(3).double())
    for mean in ("own", "zero"):
        assert float(regression_pull(prior, WEIGHT, mean)) == 0


def test_temperature_is_pulled_to_tau_to_the_lambda():
    t = [1.0, math.exp(0.7), math.exp(-0.4)]
    expected = sum((3**w - u) ** 2 for w, u in zip(WEIGHT.tolist(), t, strict=True)) / 3
    found = temperature_pull(classes(), WEIGHT, torch.tensor(3.0).double())
    assert float(found) == pytest.approx(expected)


def test_the_doubly_weighted_form_multiplies_by_lambda_once_more():
    t = [1.0, math.exp(0.7), math.exp(-0.4)]
    expected = sum(w * (10**w - u) ** 2 for w, u in zip(WEIGHT.tolist(), t, strict=True)) / 3
    found = temperature_pull(classes(), WEIGHT, torch.tensor(10.0).double(), "doubly_weighted")
    assert float(found) == pytest.approx(expected)


def test_at_lambda_zero_temperature_one_costs_nothing_and_at_lambda_one_tau_does():
    logits = torch.zeros(2, 3).double()
    labels = TemperedCategorical(logits, torch.tensor([0.0, math.log(10)], dtype=torch.float64))
    weight = torch.tensor([0.0, 1.0]).double()
    assert float(temperature_pull(labels, weight, torch.tensor(10.0).double())) < 1e-25


def test_on_real_rows_the_temperature_is_held_at_one():
    expected = ((1 - math.exp(0.7)) ** 2 + (1 - math.exp(-0.4)) ** 2) / 3
    assert float(temperature_on_data(classes())) == pytest.approx(expected)


@pytest.mark.parametrize("labels", [classes(), Categorical(classes().logits)])
def test_the_pull_to_the_uniform_is_the_divergence_of_the_untempered_classes(labels):
    uniform = TorchCategorical(logits=torch.zeros(3, 4).double())
    expected = (WEIGHT * kl_divergence(TorchCategorical(logits=labels.logits), uniform)).mean()
    torch.testing.assert_close(uniform_pull(labels, WEIGHT), expected)


def test_the_temperature_forms_leave_the_logits_alone():
    labels = TemperedCategorical(*(part.requires_grad_() for part in classes()))
    pull = temperature_pull(labels, WEIGHT, torch.tensor(3.0).double())
    (pull + temperature_on_data(labels)).backward()
    assert labels.log_t.grad.abs().sum() > 0
    assert labels.logits.grad is None
