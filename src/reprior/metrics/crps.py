"""Continuous ranked probability score: the whole cdf against the label, in the label's units."""

from torch import Tensor

from reprior.likelihoods import Gaussian, GaussianMixture
from reprior.metrics.rows import mean_over_rows, same_rows


def mean_crps(density: Gaussian | GaussianMixture, y: Tensor, mask: Tensor | None = None) -> Tensor:
    """Mean over rows of ∫ (F(u) − 1{u ≥ y})² du, in closed form; smaller is better.

    density  (..., N)
    y        (..., N) true labels
    mask     (..., N) true where the row is real
    """
    same_rows(y, density.mean.shape, "the density")
    return mean_over_rows(density.crps(y), mask)
