"""Central prediction intervals: how often they hold the label, and how wide they are."""

from typing import NamedTuple

import torch
from torch import Tensor

from reprior.likelihoods import Gaussian, GaussianMixture
from reprior.metrics.rows import mean_over_rows, same_rows, share


class Interval(NamedTuple):
    """lower ≤ y ≤ upper, promised with the probability `level`."""

    lower: Tensor  # (..., N)
    upper: Tensor  # (..., N)
    level: float


def central_interval(density: Gaussian | GaussianMixture, level: float = 0.9) -> Interval:
    """Leaves (1 − level) / 2 of the mass of density (..., N) on either side."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; give a probability strictly between 0 and 1.")
    tail = torch.full_like(density.mean, (1 - level) / 2)
    return Interval(density.icdf(tail), density.icdf(1 - tail), level)


def coverage(interval: Interval, y: Tensor, mask: Tensor | None = None) -> Tensor:
    """Share of the labels y (..., N) inside their interval, ends included."""
    lower, upper, _ = interval
    same_rows(y, lower.shape, "the interval")
    inside = (lower <= y) & (y <= upper)
    known = torch.where(upper.isnan(), upper, torch.where(lower.isnan(), lower, y))
    return share(inside, known, mask)


def mean_width(interval: Interval, mask: Tensor | None = None) -> Tensor:
    """Mean over rows of upper − lower."""
    return mean_over_rows(interval.upper - interval.lower, mask)


def interval_score(interval: Interval, y: Tensor, mask: Tensor | None = None) -> Tensor:
    """Width, plus 2 / (1 − level) times how far the label lies outside; smaller is better.

    Proper: in expectation no other interval beats the true central one. y is (..., N).
    """
    lower, upper, level = interval
    same_rows(y, lower.shape, "the interval")
    outside = (lower - y).clamp(min=0) + (y - upper).clamp(min=0)
    return mean_over_rows(upper - lower + 2 / (1 - level) * outside, mask)


def pinball(quantile: Tensor, y: Tensor, p: float, mask: Tensor | None = None) -> Tensor:
    """Mean over rows of the loss that the p-quantile minimises.

    quantile  (..., N) predicted p-quantile
    y         (..., N) true labels
    """
    same_rows(y, quantile.shape, "quantile")
    above = y - quantile
    return mean_over_rows(torch.maximum(p * above, (p - 1) * above), mask)
