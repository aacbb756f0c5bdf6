import numpy as np
import pytest
import torch
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from reprior.models.gaussian_process import (
    SMALLEST_NOISE,
    GaussianProcess,
    Hyperparameters,
    most_likely,
    posterior,
)


def rows(n=60, features=3, noise=0.2, seed=0):
    dice = torch.Generator().manual_seed(seed)
    x = torch.randn(n, features, generator=dice).double()
    y = torch.sin(2 * x[:, 0]) + 0.5 * x[:, 1]
    return x, y + noise * torch.randn(n, generator=dice).double()


def given(mean=0.3, scale=1.7, length=(0.8,), noise=0.05):
    return Hyperparameters(*(torch.tensor(v).double() for v in (mean, scale, length, noise)))


def oracle(hyper, x, y, optimizer=None):
    """scikit-learn's process at, or from, the same hyperparameters."""
    mean, scale, length, noise = (value.numpy() for value in hyper)
    kernel = ConstantKernel(scale) * RBF(length) + WhiteKernel(noise)
    made = GaussianProcessRegressor(kernel, alpha=0, optimizer=optimizer)
    return made.fit(x.numpy(), y.numpy() - mean)


@pytest.mark.parametrize(
    "hyper",
    [
        given(),
        given(mean=-2.0, scale=0.1, noise=1.0),
        given(noise=1e-4),
        given(scale=1e3, length=(9.0,), noise=1e-2),
        given(length=(0.5, 1.0, 4.0)),
    ],
    ids=["plain", "noisy", "nearly without noise", "wide", "a length for each feature"],
)
def test_the_posterior_is_that_of_scikit_learn(hyper):
    x, y = rows()
    asked = 1.5 * rows(n=40, seed=1)[0]
    found = posterior(x, y, asked, hyper)
    mean, std = oracle(hyper, x, y).predict(asked.numpy(), return_std=True)
    np.testing.assert_allclose(found.mean, hyper.mean + mean, atol=1e-4)
    np.testing.assert_allclose(found.std, std, atol=1e-4)


@pytest.mark.parametrize("ard", [False, True])
def test_the_hyperparameters_are_as_likely_as_any_that_scikit_learn_finds(ard):
    x, y = rows()
    found = most_likely(x, y, ard, steps=50)
    start = given(mean=float(found.mean), length=(1.0,) * (3 if ard else 1))
    theirs = oracle(start, x, y, optimizer="fmin_l_bfgs_b").log_marginal_likelihood_value_
    ours = oracle(found, x, y).log_marginal_likelihood_value_
    assert ours >= theirs - 0.01
    assert len(found.length) == (3 if ard else 1)


def test_far_from_all_rows_it_goes_back_to_its_prior():
    x, y = rows()
    hyper = given()
    found = posterior(x, y, torch.full((1, 3), 100.0).double(), hyper)
    assert float(found.mean) == pytest.approx(0.3)
    assert float(found.std) == pytest.approx((1.7 + 0.05) ** 0.5)


def test_it_finds_the_noise_and_the_function():
    x, y = rows(n=400)
    asked, truth = rows(n=200, noise=0.0, seed=1)
    found = GaussianProcess().fit_predict(x.float(), y.float(), asked.float(), {}, 0)
    assert found.components.mean.shape == (1, 200)
    assert float((found.mean - truth).abs().median()) < 0.06
    assert float(found.std.min()) == pytest.approx(0.2, abs=0.03)


def test_the_likelihood_is_exact_however_many_rows_there_are():
    x, y = rows(n=900)  # gpytorch would estimate it from 800 rows on
    found = most_likely(x, y, ard=False, steps=3)
    for value, again in zip(found, most_likely(x, y, ard=False, steps=3), strict=True):
        assert torch.equal(value, again)


def test_hyperparameters_come_from_some_of_many_rows_and_predictions_from_all():
    x, y = rows(n=90)
    asked = rows(n=5, seed=1)[0]
    few = GaussianProcess(most=30)
    one, same, other = (few.fit_predict(x, y, asked, {}, seed) for seed in (0, 0, 1))
    assert torch.equal(one.mean, same.mean)
    assert not torch.equal(one.mean, other.mean)
    chosen = torch.randperm(90, generator=torch.Generator().manual_seed(0))[:30]
    expected = posterior(x, y, asked, most_likely(x[chosen], y[chosen], False, 50))
    torch.testing.assert_close(one.components.mean[0], expected.mean)


@pytest.mark.parametrize("labels", ["the same", "without noise", "all zero"])
def test_repeated_rows_and_constant_columns_are_no_problem(labels):
    x, y = rows(n=80, noise=0.0 if labels == "without noise" else 0.2)
    x[:, 2] = 0.0
    x, y = x.repeat(3, 1), y.repeat(3)
    if labels == "all zero":
        y = torch.zeros_like(y)
    found = GaussianProcess().fit_predict(x.float(), y.float(), x.float(), {}, 0)
    assert found.mean.isfinite().all()
    assert (found.std >= 0.999 * SMALLEST_NOISE**0.5).all()
    assert float((found.mean - y).abs().mean()) < 0.2
