"""Every density's exact answers against general numeric ones, and lifted against looped."""

import math

import pytest
import torch
from torch.utils._pytree import tree_map

from reprior.likelihoods import Categorical, Gaussian, TemperedCategorical, mixture

SHAPES = [(), (3,), (2, 3)]
DTYPES = [torch.float32, torch.float64]


def gaussian(shape, dtype=torch.float64):
    return Gaussian(torch.randn(shape, dtype=dtype), 0.3 + torch.rand(shape, dtype=dtype))


def categorical(shape, dtype=torch.float64):
    return Categorical(2 * torch.randn(*shape, 4, dtype=dtype))


def tempered(shape, dtype=torch.float64):
    logits, log_t = torch.randn(*shape, 4, dtype=dtype), torch.randn(shape, dtype=dtype)
    return TemperedCategorical(3 * logits, log_t)


def gaussians(shape, dtype=torch.float64):
    return mixture(gaussian((5, *shape), dtype))


def weighted_gaussians(shape, dtype=torch.float64):
    return mixture(gaussian((5, *shape), dtype), torch.randn(5, dtype=dtype))


def categoricals(shape, dtype=torch.float64):
    return mixture(categorical((5, *shape), dtype))


def weighted_temperings(shape, dtype=torch.float64):
    return mixture(tempered((5, *shape), dtype), torch.randn(5, dtype=dtype))


OF_NUMBERS = [gaussian, gaussians, weighted_gaussians]
OF_CLASSES = [categorical, tempered, categoricals, weighted_temperings]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def integral(function, start, stop):
    """∫ function from start to stop, both (...), by the trapezoid rule."""
    share = torch.linspace(0, 1, 20_001, dtype=torch.float64).reshape(-1, *[1] * start.dim())
    points = start + (stop - start) * share
    return torch.trapezoid(function(points), points, dim=0)


def close(got, wanted, dtype):
    assert got.dtype == dtype
    assert got.shape == wanted.shape
    tolerance = 5e-5 if dtype == torch.float32 else 1e-6
    torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("make", OF_NUMBERS)
def test_answers_about_numbers_are_integrals_of_the_density(make, shape, dtype):
    density = make(shape, dtype)
    y, share = torch.randn(shape, dtype=dtype), torch.rand(shape, dtype=dtype)
    exact = tree_map(torch.Tensor.double, density)
    end = torch.full(shape, 15.0, dtype=torch.float64)

    def p(points):
        return exact.log_prob(points).exp()

    def expected(function):
        return integral(lambda points: p(points) * function(points), -end, end)

    close(density.log_prob(y), p(y.double()).log(), dtype)
    close(density.mean, expected(lambda points: points), dtype)
    close(density.variance, expected(lambda points: (points - exact.mean).square()), dtype)
    close(density.std, density.variance.double().sqrt(), dtype)
    close(density.entropy(), expected(lambda points: -exact.log_prob(points)), dtype)
    close(density.cdf(y), integral(p, -end, y.double()), dtype)
    close(density.cdf(density.icdf(share)), share.double(), dtype)

    def below(points):
        return exact.cdf(points).square()

    def above(points):
        return (1 - exact.cdf(points)).square()

    crps = integral(below, -end, y.double()) + integral(above, y.double(), end)
    close(density.crps(y), crps, dtype)
    close(density.to_torch().log_prob(y), p(y.double()).log(), dtype)
    assert density.to_torch().batch_shape == shape


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("make", OF_CLASSES)
def test_answers_about_classes_are_sums_over_the_labels(make, shape, dtype):
    density = make(shape, dtype)
    exact = tree_map(torch.Tensor.double, density)
    labels = [torch.full(shape, label) for label in range(4)]
    p = torch.stack([exact.log_prob(label).exp() for label in labels], -1)  # (..., C)

    close(p.sum(-1).to(dtype), torch.ones(shape, dtype=torch.float64), dtype)
    close(density.probs, p, dtype)
    close(density.log_probs, p.log(), dtype)
    close(density.log_prob(labels[2]), p[..., 2].log(), dtype)
    close(density.entropy(), -(p * p.log()).sum(-1), dtype)
    close(density.kl_to_uniform(), (p * (4 * p).log()).sum(-1), dtype)
    close(density.to_torch().entropy(), -(p * p.log()).sum(-1), dtype)
    assert density.to_torch().batch_shape == shape


@pytest.mark.parametrize("make", [gaussian, categorical, tempered])
def test_vmap_over_a_density_equals_a_loop_over_its_rows(make):
    densities, labels = make((6, 3)), torch.randint(4, (6, 3))

    def answers(density, y):
        return density.log_prob(y), density.entropy()

    rows = [
        answers(type(densities)(*leaves), y) for *leaves, y in zip(*densities, labels, strict=True)
    ]
    one_by_one = tuple(torch.stack(column) for column in zip(*rows, strict=True))
    torch.testing.assert_close(torch.vmap(answers)(densities, labels), one_by_one)


@pytest.mark.parametrize("make", [gaussian, categorical, tempered])
@pytest.mark.parametrize("log_weights", [None, torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)])
def test_vmap_over_the_making_of_a_mixture_equals_a_loop(make, log_weights):
    draws, labels = make((6, 3, 2)), torch.randint(4, (6, 2))  # six members of three draws

    def answers(components, y):
        mixed = mixture(components, log_weights)
        return mixed.log_prob(y), mixed.entropy()

    rows = [answers(type(draws)(*leaves), y) for *leaves, y in zip(*draws, labels, strict=True)]
    one_by_one = tuple(torch.stack(column) for column in zip(*rows, strict=True))
    torch.testing.assert_close(torch.vmap(answers)(draws, labels), one_by_one)


def test_vmap_over_quantiles_of_a_mixture_equals_a_loop():
    draws, p = gaussian((6, 3, 2)), torch.rand(6, 2, dtype=torch.float64)

    def quantile(components, p):
        return mixture(components).icdf(p)

    one_by_one = torch.stack(
        [quantile(Gaussian(*row), q) for *row, q in zip(*draws, p, strict=True)]
    )
    torch.testing.assert_close(torch.vmap(quantile)(draws, p), one_by_one)


def test_a_density_keeps_gradients_finite_where_probabilities_underflow():
    logits = torch.tensor([0.0, -300.0, 200.0], requires_grad=True)
    for density in [Categorical(logits), TemperedCategorical(logits, torch.tensor(-1.0))]:
        (gradient,) = torch.autograd.grad(density.entropy(), logits)
        assert gradient.isfinite().all()


def test_a_class_ruled_out_adds_nothing_to_the_entropy():
    density = Categorical(torch.tensor([0.5, 0.5, 0.0]).log())
    assert density.entropy() == pytest.approx(math.log(2))
    assert mixture(Categorical(density.logits[None])).entropy() == pytest.approx(math.log(2))
