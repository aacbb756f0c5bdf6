"""Independent normal labels: what a regression network predicts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import softplus

if TYPE_CHECKING:
    from torch.distributions import Normal


class Gaussian(NamedTuple):
    """Independent N(mean, std²) labels. A NamedTuple, so vmap sees through it."""

    mean: Tensor  # (...)
    std: Tensor  # (...), positive

    @property
    def variance(self) -> Tensor:
        return self.std.square()

    def log_prob(self, y: Tensor) -> Tensor:
        z = (y - self.mean) / self.std
        return -0.5 * z.square() - self.std.log() - 0.5 * math.log(2 * math.pi)

    def training_log_prob(self, y: Tensor) -> Tensor:
        return self.log_prob(y)

    def entropy(self) -> Tensor:
        return 0.5 * math.log(2 * math.pi * math.e) + self.std.log()

    def cdf(self, y: Tensor) -> Tensor:
        below: Tensor = torch.special.ndtr((y - self.mean) / self.std)
        return below

    def icdf(self, p: Tensor) -> Tensor:
        """The label below which a share p of the mass lies; -inf at p = 0, inf at p = 1."""
        z: Tensor = torch.special.ndtri(p)
        return self.mean + self.std * z

    def kl_to(self, other: Gaussian) -> Tensor:
        """KL[self ‖ other]."""
        ratio = self.std / other.std
        distance = (self.mean - other.mean) / other.std
        return 0.5 * (ratio.square() + distance.square() - 1) - ratio.log()

    def crps(self, y: Tensor) -> Tensor:
        """Continuous ranked probability score, ∫ (F(u) − 1{u ≥ y})² du; smaller is better."""
        return mean_distance(y - self.mean, self.std) - self.std / math.sqrt(math.pi)

    def rescale(self, loc: Tensor, scale: Tensor) -> Gaussian:
        """Density of loc + scale · y, scale positive: back from standardised to original units."""
        return Gaussian(loc + scale * self.mean, scale * self.std)

    def to_torch(self) -> Normal:
        from torch.distributions import Normal

        return Normal(self.mean, self.std)


def mean_distance(loc: Tensor, std: Tensor) -> Tensor:
    """E|U| of U ~ N(loc, std²), which every CRPS of normals is made of."""
    z = loc / std
    density = torch.exp(-0.5 * z.square()) / math.sqrt(2 * math.pi)
    return std * (z * torch.erf(z / math.sqrt(2)) + 2 * density)


def from_outputs(outputs: Tensor, floor: float = 1e-3) -> Gaussian:
    """Reads a network's last layer: the mean, and the standard deviation before its softplus.

    outputs  (..., 2)
    floor    smallest standard deviation, in standardised units
    """
    if outputs.shape[-1] != 2:
        raise ValueError(
            f"outputs have shape {tuple(outputs.shape)}, but a Gaussian needs (..., 2): "
            "give the network two outputs, mean and standard deviation."
        )
    return Gaussian(mean=outputs[..., 0], std=softplus(outputs[..., 1]) + floor)
