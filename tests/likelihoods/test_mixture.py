import itertools
import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from reprior.likelihoods import Categorical, Gaussian, TemperedCategorical, mixture


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def two_members():
    return mixture(Gaussian(torch.tensor([-5.0, 5.0]), torch.ones(2)))


def entropy_by_scipy(mean, std, weights):
    def integrand(y):
        p = (weights * stats.norm.pdf(y, mean, std)).sum()
        return -p * math.log(p) if p > 0 else 0.0

    ends = np.unique(mean[:, None] + std[:, None] * np.linspace(-9, 9, 37))
    parts = [integrate.quad(integrand, *pair, epsabs=1e-12)[0] for pair in itertools.pairwise(ends)]
    return sum(parts)


def test_two_members_apart_predict_a_standard_deviation_of_five_point_one():
    assert two_members().std.item() == pytest.approx(math.sqrt(26))
    assert round(two_members().std.item(), 2) == 5.10


def test_the_two_parts_of_the_variance_are_noise_and_disagreement():
    assert two_members().aleatoric_variance == pytest.approx(1)
    assert two_members().epistemic_variance == pytest.approx(25)


def test_one_draw_is_the_draw_itself():
    one = Gaussian(torch.randn(1, 8).double(), torch.rand(1, 8).double() + 0.1)
    alone, y, p = Gaussian(one.mean[0], one.std[0]), torch.randn(8), torch.rand(8).double()
    mixed = mixture(one)
    torch.testing.assert_close(mixed.log_prob(y), alone.log_prob(y))
    torch.testing.assert_close(mixed.crps(y), alone.crps(y))
    torch.testing.assert_close(mixed.icdf(p), alone.icdf(p))
    torch.testing.assert_close(mixed.entropy(), alone.entropy(), rtol=0, atol=1e-7)
    torch.testing.assert_close(mixed.moment_matched(), alone)


@pytest.mark.parametrize("scales", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("distance", [0.1, 1.0, 5.0])
def test_entropy_is_scipys_whatever_the_components_scales(scales, distance):
    mean = distance * torch.randn(4, dtype=torch.float64)
    std = (scales * torch.randn(4, dtype=torch.float64)).exp()
    mixed = mixture(Gaussian(mean, std), torch.randn(4, dtype=torch.float64))
    wanted = entropy_by_scipy(mean.numpy(), std.numpy(), mixed.log_weights.exp().numpy())
    assert mixed.entropy().item() == pytest.approx(wanted, abs=1e-6)
    single = mixture(Gaussian(mean.float(), std.float()), mixed.log_weights.float())
    assert single.entropy().item() == pytest.approx(wanted, abs=1e-5)


def test_entropy_of_members_far_apart_gains_the_choice_between_them():
    unit = 0.5 * math.log(2 * math.pi * math.e)
    apart = mixture(Gaussian(torch.tensor([-50.0, 50.0]), torch.ones(2)))
    assert apart.entropy().item() == pytest.approx(unit + math.log(2), abs=1e-5)


def test_a_large_common_mean_does_not_change_the_entropy():
    mean, std = torch.randn(5).double(), torch.rand(5).double() + 0.1
    here, there = (mixture(Gaussian(mean + far, std)).entropy() for far in (0, 1e6))
    torch.testing.assert_close(here, there)


def test_quantiles_rise_with_the_level_across_an_empty_gap():
    p = torch.linspace(0.001, 0.999, 501)
    quantiles = two_members().icdf(p)
    assert (quantiles.diff() >= 0).all()
    assert quantiles[0] < -5
    assert quantiles[-1] > 5


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 1e-6), (torch.float64, 1e-15)])
def test_quantiles_invert_the_cdf_to_the_precision_of_the_floats(dtype, error):
    mixed = mixture(Gaussian(torch.randn(5, 40, dtype=dtype), torch.rand(5, 40, dtype=dtype) + 0.2))
    p = torch.linspace(0.02, 0.98, 40, dtype=dtype)
    torch.testing.assert_close(mixed.cdf(mixed.icdf(p)), p, rtol=0, atol=error)


def test_levels_zero_and_one_are_at_infinity():
    assert two_members().icdf(torch.tensor([0.0, 1.0])).tolist() == [-math.inf, math.inf]


def test_many_levels_at_once_are_a_further_leading_axis():
    mixed = mixture(Gaussian(torch.randn(5, 7), torch.rand(5, 7) + 0.1))
    levels = torch.tensor([0.1, 0.5, 0.9])
    together = mixed.icdf(levels[:, None])
    assert together.shape == (3, 7)
    alone = torch.stack([mixed.icdf(level.expand(7)) for level in levels])
    torch.testing.assert_close(together, alone)
    torch.testing.assert_close(mixed.cdf(together), levels[:, None].expand(3, 7))


def test_weights_decide_how_much_each_component_counts():
    # A component of weight zero might as well be absent.
    mean, std = torch.randn(3, 6), torch.rand(3, 6) + 0.1
    weighted = mixture(Gaussian(mean, std), torch.tensor([1.0, 1.0, -math.inf]))
    fewer = mixture(Gaussian(mean[:2], std[:2]))
    y = torch.randn(6)
    for question in ["log_prob", "cdf", "crps"]:
        torch.testing.assert_close(getattr(weighted, question)(y), getattr(fewer, question)(y))
    torch.testing.assert_close(weighted.std, fewer.std)
    torch.testing.assert_close(weighted.entropy(), fewer.entropy(), rtol=0, atol=1e-5)


def test_rescaling_a_mixture_rescales_its_mean_and_spread():
    mixed = two_members().rescale(torch.tensor(100.0), torch.tensor(2.0))
    assert mixed.mean == pytest.approx(100)
    assert mixed.std == pytest.approx(2 * math.sqrt(26))
    assert mixed.entropy().item() == pytest.approx(two_members().entropy().item() + math.log(2))


def test_torchs_mixture_has_the_same_moments():
    mixed = mixture(Gaussian(torch.randn(5, 2, 3), torch.rand(5, 2, 3) + 0.1))
    torch.testing.assert_close(mixed.to_torch().mean, mixed.mean)
    torch.testing.assert_close(mixed.to_torch().variance, mixed.variance)
    torch.testing.assert_close(mixed.to_torch().cdf(mixed.mean), mixed.cdf(mixed.mean))


def test_a_diverged_component_shows_in_every_answer():
    mixed = mixture(Gaussian(torch.tensor([0.0, math.nan]), torch.ones(2)))
    half = torch.tensor(0.5)
    answers = [mixed.mean, mixed.std, mixed.entropy(), mixed.log_prob(half), mixed.cdf(half)]
    assert torch.stack([*answers, mixed.icdf(half), mixed.crps(half)]).isnan().all()


def test_draws_without_an_axis_to_mix_over_are_refused():
    with pytest.raises(ValueError, match="stack the draws on axis 0"):
        mixture(Gaussian(torch.zeros(()), torch.ones(())))


def test_classes_are_mixed_by_their_probabilities_not_their_logits():
    components = TemperedCategorical(torch.randn(6, 3, 4), torch.randn(6, 3))
    torch.testing.assert_close(mixture(components).probs, components.probs.mean(0))


def test_mutual_information_is_log_two_for_two_sure_members_who_disagree():
    mixed = mixture(Categorical(torch.tensor([[50.0, 0.0], [0.0, 50.0]])))
    assert mixed.mutual_information() == pytest.approx(math.log(2))
    assert mixed.expected_entropy() == pytest.approx(0, abs=1e-6)


def test_members_who_agree_share_no_information_however_unsure():
    mixed = mixture(Categorical(torch.randn(1, 7, 4).expand(5, 7, 4)))
    torch.testing.assert_close(mixed.mutual_information(), torch.zeros(7), atol=1e-6, rtol=0)
    torch.testing.assert_close(mixed.entropy(), mixed.components.entropy()[0])
