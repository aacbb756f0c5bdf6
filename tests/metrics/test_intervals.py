import pytest
import torch
from sklearn.metrics import mean_pinball_loss

from reprior.likelihoods import Gaussian, mixture
from reprior.metrics import (
    Interval,
    central_interval,
    coverage,
    interval_score,
    mean_width,
    pinball,
)


def standard(*shape):
    return Gaussian(torch.zeros(shape), torch.ones(shape))


def test_ninety_five_percent_of_a_normal_lie_within_1_96():
    lower, upper, level = central_interval(standard(3), 0.95)
    assert lower.tolist() == pytest.approx([-1.959964] * 3)
    assert upper.tolist() == pytest.approx([1.959964] * 3)
    assert level == 0.95


def test_labels_of_the_density_are_covered_as_often_as_promised():
    torch.manual_seed(0)
    density = mixture(Gaussian(torch.randn(4, 1).expand(4, 40_000), torch.ones(4, 40_000)))
    y = density.to_torch().sample()
    for level in [0.5, 0.9]:
        assert coverage(central_interval(density, level), y) == pytest.approx(level, abs=0.01)


def test_the_ends_belong_to_the_interval():
    interval = Interval(torch.zeros(4), torch.ones(4), 0.9)
    y = torch.tensor([-0.1, 0.0, 1.0, 1.1])
    assert coverage(interval, y) == 0.5
    assert mean_width(interval) == 1


def test_an_interval_of_everything_covers_every_label():
    interval = Interval(torch.full((3,), -torch.inf), torch.full((3,), torch.inf), 0.9)
    assert coverage(interval, torch.randn(3)) == 1


def test_the_score_is_two_pinball_losses_over_the_tail():
    torch.manual_seed(0)
    y, interval = 2 * torch.randn(200), central_interval(standard(200), 0.8)
    losses = pinball(interval.lower, y, 0.1) + pinball(interval.upper, y, 0.9)
    torch.testing.assert_close(interval_score(interval, y), losses / 0.1)


def test_pinball_is_sklearns():
    torch.manual_seed(0)
    y, quantile = torch.randn(2, 100).double()
    wanted = mean_pinball_loss(y, quantile, alpha=0.3)
    assert pinball(quantile, y, 0.3).item() == pytest.approx(wanted)


def test_a_level_in_percent_is_refused():
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        central_interval(standard(3), 90)
