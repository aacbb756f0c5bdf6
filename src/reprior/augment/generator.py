"""The OOD generator g_φ: a batch of real rows in, one density of a pseudo row per real row out.

Every row is encoded on its own; then a row's pseudo row is decoded from what its K nearest
neighbours (in the encoded space) have in common, so that it knows the data around it.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from reprior.augment.neighbours import (
    mean_of,
    nearest,
    squared_distances_within,
    which_is_largest,
)
from reprior.contracts import Noise, Params
from reprior.likelihoods import Gaussian
from reprior.networks import MLP

Pooling = Literal["mean_max", "mean"]  # the experiments' words, the method section's formula


class Neighbourhood(NamedTuple):
    """Which rows of a batch a pooled row is made of; no gradient flows through a choice."""

    mask: Tensor  # (B, B) bool, who is among the K nearest of whom
    largest: Tensor  # (B, H) which of them holds each feature's maximum


class Generator(NamedTuple):
    """Encoder and decoder with one hidden layer each, and the pooling between them."""

    features: int  # D
    hidden: int = 50
    pooling: Pooling = "mean_max"
    self_is_near: bool = True  # a row is one of its own K nearest
    floor: float = 1e-3  # smallest standard deviation of a pseudo row

    @property
    def encoder(self) -> MLP:
        return MLP((self.features, self.hidden, self.hidden))

    @property
    def decoder(self) -> MLP:
        pooled = 2 if self.pooling == "mean_max" else 1
        return MLP((pooled * self.hidden, self.hidden, 2 * self.features))

    def noise(self) -> dict[str, Noise]:
        parts = {"enc": self.encoder, "dec": self.decoder}
        return {f"{p}.{name}": n for p, net in parts.items() for name, n in net.noise().items()}

    def init(self, noise: Mapping[str, Tensor]) -> Params:
        return _named("enc", self.encoder.init(_part("enc", noise))) | _named(
            "dec", self.decoder.init(_part("dec", noise))
        )

    def search(self, phi: Params, x: Tensor, k: Tensor) -> Neighbourhood:
        """Whose encodings are near whose, in a batch x (B, D); without gradient.

        k  () how many neighbours count, 1 <= k <= B (B − 1 where a row is not its own)
        """
        z = self._encode(phi, x).detach()
        squared = squared_distances_within(z)
        if not self.self_is_near:
            own = torch.eye(len(x), dtype=torch.bool, device=x.device)
            squared = squared.masked_fill(own, torch.inf)
        near = nearest(squared, k)
        return Neighbourhood(near, which_is_largest(near, z))

    def decode(self, phi: Params, x: Tensor, near: Neighbourhood) -> Gaussian:
        """q_φ(x̃_n | X): one density per real row, batch (B, D), from x (B, D)."""
        z = self._encode(phi, x)
        pooled = mean_of(near.mask, z)
        if self.pooling == "mean_max":
            pooled = torch.cat([pooled, z.gather(-2, near.largest)], -1)
        mean, width = self.decoder.run(_part("dec", phi), pooled).chunk(2, -1)
        return Gaussian(mean, F.softplus(width) + self.floor)

    def _encode(self, phi: Params, x: Tensor) -> Tensor:
        return self.encoder.run(_part("enc", phi), x)  # (B, H)


def how_many_near(u: Tensor, batch: int) -> Tensor:
    """K for one mini-batch, uniform on {1, …, ⌊B/2⌋}, from u () uniform on (0, 1)."""
    most = max(batch // 2, 1)
    return (1 + (u * most).floor()).clamp(1, most)


def _part(name: str, params: Mapping[str, Tensor]) -> Params:
    return {k.removeprefix(f"{name}."): v for k, v in params.items() if k.startswith(f"{name}.")}


def _named(name: str, params: Mapping[str, Tensor]) -> Params:
    return {f"{name}.{k}": v for k, v in params.items()}
