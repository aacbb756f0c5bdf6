import numpy as np
import properscoring
import pytest
import torch
from scipy import integrate

from reprior.likelihoods import Gaussian, mixture
from reprior.metrics import mean_crps


def test_of_a_gaussian_it_is_properscorings():
    rng = np.random.default_rng(0)
    mean, std, y = rng.normal(size=60), rng.uniform(0.1, 3, size=60), rng.normal(size=60)
    density = Gaussian(torch.from_numpy(mean), torch.from_numpy(std))
    wanted = properscoring.crps_gaussian(y, mean, std)
    torch.testing.assert_close(density.crps(torch.from_numpy(y)), torch.from_numpy(wanted))
    assert mean_crps(density, torch.from_numpy(y)).item() == pytest.approx(wanted.mean())


@pytest.mark.parametrize("weights", [None, torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64)])
def test_of_a_mixture_it_is_the_integral(weights):
    torch.manual_seed(0)
    components = Gaussian(torch.randn(3, 1).double(), torch.rand(3, 1).double() + 0.2)
    mixed, y = mixture(components, weights), 0.3

    def gap(u):
        return (mixed.cdf(torch.tensor([u], dtype=torch.float64)).item() - (u >= y)) ** 2

    wanted = integrate.quad(gap, -12, y)[0] + integrate.quad(gap, y, 12)[0]
    label = torch.tensor([y], dtype=torch.float64)
    assert mixed.crps(label).item() == pytest.approx(wanted, abs=1e-8)


def test_of_a_mixture_of_narrow_members_it_is_properscorings_of_an_ensemble():
    rng = np.random.default_rng(0)
    members, y = rng.normal(size=(20, 7)), rng.normal(size=20)
    points = torch.from_numpy(members).T
    mixed = mixture(Gaussian(points, torch.full_like(points, 1e-9)))
    wanted = properscoring.crps_ensemble(y, members)
    torch.testing.assert_close(
        mixed.crps(torch.from_numpy(y)), torch.from_numpy(wanted), rtol=0, atol=1e-8
    )


def test_it_has_the_units_of_the_label():
    density, y = Gaussian(torch.randn(9), torch.rand(9) + 0.1), torch.randn(9)
    loc, scale = torch.tensor(5.0), torch.tensor(3.0)
    there = mean_crps(density.rescale(loc, scale), loc + scale * y)
    torch.testing.assert_close(there, scale * mean_crps(density, y), rtol=1e-4, atol=1e-4)
