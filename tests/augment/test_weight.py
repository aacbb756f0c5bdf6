import math

import pytest
import torch

from reprior.augment.weight import kl_weight

X = torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=torch.float64)


@pytest.mark.parametrize("ell", [0.5, 2.0])
def test_lambda_grows_with_the_distance_to_the_nearest_real_row(ell):
    x_tilde = torch.tensor([[0.0, 1.0], [3.0, 2.0], [-3.0, -4.0]], dtype=torch.float64)
    expected = [1 - math.exp(-least / (2 * ell**2)) for least in (1, 4, 25)]
    found = kl_weight(x_tilde, X, torch.tensor(ell, dtype=torch.float64))
    assert found.tolist() == pytest.approx(expected)


def test_an_infinite_length_scale_switches_the_pull_off_exactly():
    assert (
        kl_weight(1e6 * torch.randn(9, 3), torch.randn(5, 3), torch.tensor(torch.inf)) == 0
    ).all()


def test_on_a_real_row_lambda_is_zero():
    found = kl_weight(X, X, torch.tensor(0.5, dtype=torch.float64))
    assert found.tolist() == pytest.approx([0, 0], abs=1e-14)


def test_far_from_everything_lambda_is_one():
    assert float(kl_weight(X + 1e3, X, torch.tensor(1.0).double()).min()) == 1


def test_a_larger_reference_sample_can_only_lower_lambda():
    torch.manual_seed(0)
    x_tilde, batch, more = torch.randn(8, 3), torch.randn(8, 3), torch.randn(40, 3)
    of_batch = kl_weight(x_tilde, batch, torch.tensor(1.0))
    of_all = kl_weight(x_tilde, torch.cat([batch, more]), torch.tensor(1.0))
    nearest = torch.cdist(x_tilde, torch.cat([batch, more])).amin(1)
    assert (of_all <= of_batch).all()
    torch.testing.assert_close(of_all, 1 - torch.exp(-nearest.square() / 2))


def test_small_distances_are_not_rounded_away():
    step = torch.tensor([[1e-6]], dtype=torch.float64)
    found = kl_weight(step, torch.zeros(1, 1).double(), torch.tensor(8.0).double())
    assert float(found) == pytest.approx(1e-12 / 128, rel=1e-6)


def test_every_member_has_its_own_length_scale():
    x_tilde, ell = torch.randn(5, 3), torch.tensor([0.5, 2.0, torch.inf])
    lifted = torch.vmap(kl_weight, (None, None, 0))(x_tilde, torch.zeros(2, 3), ell)
    for p in range(3):
        torch.testing.assert_close(lifted[p], kl_weight(x_tilde, torch.zeros(2, 3), ell[p]))
