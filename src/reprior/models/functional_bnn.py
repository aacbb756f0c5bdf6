"""Functional variational BNN (Sun et al.): a posterior over functions, against a Gaussian process.

Weights are independent normals, as in any variational network, but what is kept close to a prior is
the function they make: its values at some rows of the batch and as many random points around them.
The prior is a Gaussian process, whose score is known; that of the network's own functions is
estimated from S of them by the spectral Stein gradient estimator (Shi et al.), so only the gradient
of the divergence exists, not its value.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from reprior.contracts import (
    Batch,
    Draws,
    Likelihood,
    Mixture,
    Network,
    Noise,
    Params,
    Setting,
    Settings,
)
from reprior.likelihoods import Gaussian, mixture
from reprior.models.spectrum import spectrum

SMALLEST_NOISE = 1e-3  # of standardised labels, as for the other networks
START_STD = 0.02  # of a weight's posterior
BLUR = 0.1  # standard deviation added to measured values: without it their density has no score
KEPT = 0.99  # share of the kernel's spectrum that the estimator uses


@dataclass(frozen=True)
class FunctionalBNN:
    """Regression only: of the network's outputs the first is the function."""

    network: Network
    likelihood: Callable[[Tensor], Likelihood]
    functions: int = 16  # S, drawn at every step
    measured: int = 2  # rows of the batch, and as many random points
    draws: int = 20  # of a prediction

    name = "functional_bnn"
    members = 1
    takes_augmentation = False
    space = {  # noqa: RUF012  a constant
        "prior_length": Setting(1.0, (0.5, 1.0, 2.0, 4.0), "the process's length scale, in √D"),
    }

    def noise(self, batch: int) -> dict[str, Noise]:
        points = min(self.measured, batch)
        inputs = self.network.noise()["weight0"].shape[0]
        return self._weight_noise(self.functions) | {
            "points": Noise("uniform", (points, inputs)),
            "blur": Noise("normal", (self.functions, 2 * points)),
        }

    def start_noise(self) -> dict[str, Noise]:
        return self.network.noise() | {"noise": Noise("uniform", ())}

    def init(self, noise: Draws) -> Params:
        """A weight is a mean and the logarithm of its standard deviation over START_STD."""
        means = self.network.init(noise)
        widths = {f"{name}.width": torch.zeros_like(value) for name, value in means.items()}
        return means | widths | {"noise": 0.1 * (noise["noise"] - 0.5)}

    def features(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, at: int
    ) -> Tensor:
        if at:
            raise ValueError("A functional posterior has no features of its own; enter at stage 0.")
        return x

    def density(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, start: int = 0
    ) -> Likelihood:
        """By every drawn function, batch (S, B)."""
        return self._labels(params, self._values(params, x, draws))

    def loss(
        self, params: Params, batch: Batch, settings: Settings, draws: Draws
    ) -> tuple[Tensor, Likelihood]:
        count = len(draws["points"])
        around = batch.x.roll(1, 0)[:count] + (draws["points"] - 0.5) * batch.reach
        values = self._values(params, torch.cat([batch.x, around]), draws)  # (S, B + count)
        rows = len(batch.x)
        labels = self._labels(params, values[:, :rows])
        where = torch.cat([batch.x[:count], around])
        there = torch.cat([values[:, :count], values[:, rows:]], 1) + BLUR * draws["blur"]
        length = settings["prior_length"] * math.sqrt(batch.x.shape[1])
        pull = divergence_surrogate(there, where, length)
        return -labels.training_log_prob(batch.y).mean() + pull / batch.rows, labels

    def prediction_noise(self) -> dict[str, Noise]:
        return self._weight_noise(self.draws)

    def predict(self, params: Params, x: Tensor, settings: Settings, draws: Draws) -> Mixture:
        """x (N, D) to the mixture over drawn functions, the same for every row."""
        return mixture(self._labels(params, self._values(params, x, draws)))

    def _values(self, params: Params, x: Tensor, draws: Draws) -> Tensor:
        """Drawn functions at rows x (B, D), (S, B)."""
        theta = {}
        for name in self.network.noise():
            std = START_STD * params[f"{name}.width"].exp()
            value = params[name] + std * draws[name]
            theta[name] = value if value.dim() > 2 else value.unsqueeze(-2)
        drawn = len(next(iter(theta.values())))
        return self.network.run(theta, x.expand(drawn, *x.shape))[..., 0]

    def _labels(self, params: Params, values: Tensor) -> Gaussian:
        return Gaussian(values, (params["noise"].exp() + SMALLEST_NOISE).expand_as(values))

    def _weight_noise(self, draws: int) -> dict[str, Noise]:
        return {
            name: Noise("normal", (draws, *wanted.shape))
            for name, wanted in self.network.noise().items()
        }


def divergence_surrogate(values: Tensor, where: Tensor, length: Tensor) -> Tensor:
    """A number, (), whose gradient is that of KL[q(f) ‖ p(f)] at the measured points.

    values  (S, M) functions drawn from q, blurred
    where   (M, D) the points
    length  () length scale of the prior's kernel
    """
    ours = spectral_score(values.detach())
    gap = ours - process_score(values.detach(), where, length)
    return (gap * values).sum(-1).mean()


def process_score(values: Tensor, where: Tensor, length: Tensor) -> Tensor:
    """∇_f log p(f) of a Gaussian process with an RBF kernel and blurred values, (S, M)."""
    squared = (where[:, None] - where).square().sum(-1)
    identity = torch.eye(len(where), dtype=where.dtype, device=where.device)
    kernel = torch.exp(-squared / (2 * length.square())) + BLUR**2 * identity
    factor = torch.linalg.cholesky_ex(kernel).L
    return -torch.cholesky_solve(values.transpose(-1, -2), factor).transpose(-1, -2)


def spectral_score(samples: Tensor) -> Tensor:
    """∇ log q at S samples (S, M) of a density q, by the spectral Stein gradient estimator.

    The score is expanded in the eigenfunctions of an RBF kernel under q (Nyström's estimate of
    them, as many as hold 99 % of the spectrum). At the samples themselves that is −K⁺ B with
    B_m = Σ_n ∇_{x_n} k(x_n, x_m) and K⁺ the kernel matrix inverted on those eigenvectors.
    """
    count = len(samples)
    difference = samples[:, None] - samples  # (S, S, M), of n and m
    squared = difference.square().sum(-1)
    width = squared.sum() / (count * (count - 1))  # mean squared distance
    kernel = torch.exp(-squared / (2 * width))
    slopes = -(kernel.unsqueeze(-1) * difference).sum(0) / width  # (S, M): B
    values, vectors = spectrum(kernel)  # ascending
    above = values.flip(0).cumsum(0).flip(0) - values  # what the larger ones hold together
    kept = above < KEPT * values.sum()
    inverse = torch.where(kept, 1 / values.clamp_min(1e-6), 0.0)
    return -(vectors * inverse) @ (vectors.transpose(-1, -2) @ slopes)
