import math

import pytest
import torch

from reprior.models.boosted_quantiles import BoostedQuantiles, density, step

K = 19
LEVELS = (torch.arange(K).double() + 0.5) / K
NORMAL = torch.special.ndtri(LEVELS)[:, None]  # (K, 1)


def defaults(**given):
    return {name: s.default for name, s in BoostedQuantiles().space.items()} | given


def rows(n, std, seed=0):
    """One feature on (-2, 2), labels sin(2x) with normal noise of std(x)."""
    dice = torch.Generator().manual_seed(seed)
    x = 4 * torch.rand(n, 1, generator=dice) - 2
    y = torch.sin(2 * x[:, 0]) + std(x[:, 0]) * torch.randn(n, generator=dice)
    return x, y


def test_the_quantiles_of_a_normal_become_that_normal_again():
    found = density(3 + 2 * NORMAL, 1e-3)
    y = torch.linspace(-3, 9, 50).double()
    truth = torch.distributions.Normal(3.0, 2.0)
    assert float(found.mean) == pytest.approx(3)
    assert float(found.std) == pytest.approx(2, rel=0.01)
    assert float((found.cdf(y[:, None])[:, 0] - truth.cdf(y)).abs().max()) < 0.01
    fresh = truth.sample((20_000,)).double()
    lost = truth.log_prob(fresh) - found.log_prob(fresh[:, None])[:, 0]
    assert float(lost.mean()) == pytest.approx(0.004, abs=0.002)


def test_crossing_quantiles_are_put_in_order():
    crossed = density(NORMAL[torch.randperm(K)], 1e-3)
    straight = density(NORMAL, 1e-3)
    for one, other in zip(crossed.components, straight.components, strict=True):
        assert torch.equal(one, other)
    assert (crossed.components.mean.diff(dim=0) >= 0).all()


def test_quantiles_that_coincide_have_the_smallest_width():
    found = density(torch.zeros(K, 2).double(), 0.1)
    assert (found.components.std == 0.1).all()


def test_normal_noise_is_predicted_calibrated():
    x, y = rows(3000, lambda x: 0.3)
    asked, labels = rows(2000, lambda x: 0.3, seed=1)
    found = BoostedQuantiles().fit_predict(x, y, asked, defaults(smallest_std=0.03), 0)
    below = found.cdf(labels)
    for level in (0.1, 0.25, 0.5, 0.75, 0.9):
        assert float((below <= level).float().mean()) == pytest.approx(level, abs=0.05)
    truth = torch.sin(2 * asked[:, 0])
    assert float((found.mean - truth).square().mean().sqrt()) < 0.1
    assert float(found.std.mean()) == pytest.approx(0.3, rel=0.15)


def test_noise_that_changes_with_the_input_is_seen():
    def std(x):
        return torch.where(x < 0, 0.1, 0.6)

    x, y = rows(3000, std)
    asked = torch.tensor([[-1.5], [-1.0], [-0.5], [0.5], [1.0], [1.5]])
    found = BoostedQuantiles().fit_predict(x, y, asked, defaults(), 0)
    assert (found.std[:3] < 0.25).all()
    assert (found.std[3:] > 0.4).all()


def test_whole_number_labels_cannot_be_hit_more_sharply_than_half_a_step():
    x, y = rows(500, lambda x: 0.3)
    y = (4 * y).round() / 2
    assert step(y) == 0.5
    assert step(torch.ones(3)) == 0
    found = BoostedQuantiles().fit_predict(x, y, x, defaults(), 0)
    assert float(found.components.std.min()) == pytest.approx(0.25)
    assert float(found.log_prob(y).max()) < -math.log(0.25 * math.sqrt(2 * math.pi)) + 1e-5
