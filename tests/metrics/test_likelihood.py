import pytest
import torch
from scipy import stats

from reprior.likelihoods import Gaussian
from reprior.metrics import nll, nll_in_units


def test_it_is_scipys_mean_negative_log_density():
    mean, std, y = torch.randn(3, 50).double()
    std = std.abs() + 0.1
    wanted = -stats.norm.logpdf(y, mean, std).mean()
    assert nll(Gaussian(mean, std).log_prob(y)).item() == pytest.approx(wanted)


def test_units_of_the_labels_give_what_the_rescaled_density_gives():
    density, y = Gaussian(torch.randn(9), torch.rand(9) + 0.1), torch.randn(9)
    loc, scale = torch.tensor(22.0), torch.tensor(9.0)
    there = nll(density.rescale(loc, scale).log_prob(loc + scale * y))
    here = nll_in_units(nll(density.log_prob(y)), scale)
    torch.testing.assert_close(here, there, rtol=1e-4, atol=1e-4)
