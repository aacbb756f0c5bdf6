import numpy as np
import pytest
import torch

from reprior.likelihoods import Gaussian
from reprior.metrics import calibration_error, reliability


def by_hand(pit, levels=100):
    promised = [j / levels for j in range(1, levels + 1)]
    return sum((p - np.mean(pit <= p)) ** 2 for p in promised)


def test_it_is_the_sum_over_levels_written_out():
    pit = np.random.default_rng(0).beta(2, 3, size=217)
    assert calibration_error(torch.from_numpy(pit)).item() == pytest.approx(by_hand(pit))
    assert calibration_error(torch.from_numpy(pit), 7).item() == pytest.approx(by_hand(pit, 7))


@pytest.mark.parametrize("pit", [0.0, 1.0])
def test_its_largest_value_is_32_8_reached_with_every_label_on_one_side(pit):
    worst = calibration_error(torch.full((50,), pit)).item()
    assert worst == pytest.approx(32.835, abs=1e-4)
    others = calibration_error(torch.rand(1000, 50).pow(torch.linspace(0, 20, 1000)[:, None]))
    assert (others <= worst).all()


def test_labels_drawn_from_the_density_bring_it_to_zero():
    torch.manual_seed(0)

    def error(rows):
        density = Gaussian(torch.randn(20, rows), torch.rand(20, rows) + 0.1)
        y = density.mean + density.std * torch.randn(20, rows)
        return calibration_error(density.cdf(y)).mean().item()

    # E[(share − p)²] = p (1 − p) / N, summed over levels: 16.665 / N.
    for rows in [100, 1000, 10_000]:
        assert error(rows) == pytest.approx(16.665 / rows, rel=0.75)


def test_evenly_spread_labels_lie_on_the_diagonal():
    pit = (torch.arange(1000, dtype=torch.float64) + 0.5) / 1000
    torch.testing.assert_close(reliability(pit, 10), torch.arange(1, 11).double() / 10)
    assert calibration_error(pit) == pytest.approx(0, abs=1e-20)


def test_a_label_exactly_at_a_level_counts_as_below_it():
    for dtype in [torch.float32, torch.float64]:
        pit = torch.arange(1, 11, dtype=dtype) / 10
        torch.testing.assert_close(reliability(pit, 10), pit)


def test_too_narrow_a_density_bends_the_curve_towards_one_half():
    y = torch.linspace(-3, 3, 1001)
    curve = reliability(Gaussian(torch.zeros(1001), torch.full((1001,), 0.1)).cdf(y), 10)
    assert (curve[:4] > torch.tensor([0.1, 0.2, 0.3, 0.4])).all()
    assert (curve[5:9] < torch.tensor([0.6, 0.7, 0.8, 0.9])).all()
