import math

import pytest
import torch
from scipy import stats

from reprior.likelihoods import Gaussian, gaussian


def test_values_are_scipys():
    mean, std, y = 1.5, 0.4, torch.linspace(-1, 3, 9, dtype=torch.float64)
    density = Gaussian(torch.tensor(mean).double(), torch.tensor(std).double())
    oracle = stats.norm(mean, density.std.item())
    torch.testing.assert_close(density.log_prob(y), torch.from_numpy(oracle.logpdf(y.numpy())))
    torch.testing.assert_close(density.cdf(y), torch.from_numpy(oracle.cdf(y.numpy())))
    p = torch.linspace(0, 1, 11, dtype=torch.float64)
    torch.testing.assert_close(density.icdf(p), torch.from_numpy(oracle.ppf(p.numpy())))
    assert density.entropy().item() == pytest.approx(oracle.entropy())


def test_kl_is_what_torch_says_and_zero_to_itself():
    one = Gaussian(torch.randn(7), torch.rand(7) + 0.1)
    other = Gaussian(torch.randn(7), torch.rand(7) + 0.1)
    wanted = torch.distributions.kl_divergence(one.to_torch(), other.to_torch())
    torch.testing.assert_close(one.kl_to(other), wanted)
    torch.testing.assert_close(one.kl_to(one), torch.zeros(7))


def test_pulling_to_the_prior_at_its_own_mean_moves_the_spread_only():
    mean = torch.tensor(0.7, requires_grad=True)
    std = torch.tensor(0.2, requires_grad=True)
    density = Gaussian(mean, std)
    density.kl_to(Gaussian(mean, torch.ones(()))).backward()
    assert mean.grad == 0
    assert std.grad == pytest.approx(0.2 - 1 / 0.2)


def test_rescaling_shifts_the_log_density_by_the_log_of_the_scale():
    density = Gaussian(torch.randn(5), torch.rand(5) + 0.1)
    y, loc, scale = torch.randn(5), torch.tensor(30.0), torch.tensor(8.0)
    there = density.rescale(loc, scale).log_prob(loc + scale * y)
    torch.testing.assert_close(there, density.log_prob(y) - math.log(8), rtol=1e-4, atol=1e-4)


def test_outputs_become_a_mean_and_a_standard_deviation_above_the_floor():
    density = gaussian.from_outputs(torch.tensor([[2.0, 0.0], [3.0, -200.0]]), floor=0.01)
    assert density.mean.tolist() == [2.0, 3.0]
    assert density.std.tolist() == pytest.approx([math.log(2) + 0.01, 0.01])


def test_outputs_of_the_wrong_width_are_refused_with_the_right_one():
    with pytest.raises(ValueError, match=r"\(4, 3\).*\(\.\.\., 2\)"):
        gaussian.from_outputs(torch.zeros(4, 3))
