"""SNGP (Liu et al.): a network that keeps distances, under a Gaussian process.

Residual hidden layers whose spectral norm is bounded (about), so that far inputs stay far; on top a
Gaussian process over what they compute, as random Fourier features Φ with a linear read-out β. The
read-out's covariance comes in closed form after training, (Φᵀ Φ / σ² + I)⁻¹; far from all data the
prediction's variance goes back to the process's own, `amplitude`² + σ².
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
    Noise,
    Params,
    Setting,
    Settings,
    TrainingRows,
)
from reprior.likelihoods import Gaussian, mixture
from reprior.models.last_layer import variance, whitener
from reprior.networks import MLP

SMALLEST_NOISE = 1e-3  # of standardised labels, as for the other networks
POWER_STEPS = 15  # of the iteration that finds a spectral norm


@dataclass(frozen=True)
class SNGP:
    """Regression only. The network gives the widths of inputs and hidden layers."""

    network: MLP
    likelihood: Callable[[Tensor], Likelihood]
    frequencies: int = 128  # each makes a cosine and a sine

    name = "sngp"
    members = 1
    takes_augmentation = False
    space = {  # noqa: RUF012  constants
        "spectral_bound": Setting(1.0, (0.5, 1.0, 2.0, 4.0), "largest gain of a hidden layer"),
        "length_scale": Setting(0.5, (0.1, 0.2, 0.5, 1.0), "of the process, in units of √H"),
        "amplitude": Setting(1.0, (0.5, 1.0, 2.0), "standard deviation of the process"),
    }

    def noise(self, batch: int) -> dict[str, Noise]:
        return {}

    def start_noise(self) -> dict[str, Noise]:
        return self._body.noise() | {
            "frequency": Noise("normal", (self._width, self.frequencies)),
            "read_out": Noise("normal", (2 * self.frequencies,)),
            "noise": Noise("uniform", ()),
        }

    def init(self, noise: Draws) -> Params:
        """The frequencies stay as they are drawn: nothing has a gradient to them."""
        return self._body.init(noise) | {
            "frequency": noise["frequency"],
            "read_out": 0.1 * noise["read_out"],
            "noise": 0.1 * (noise["noise"] - 0.5),
        }

    def features(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, at: int
    ) -> Tensor:
        return self._run(params, x, settings, 0, at)

    def density(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, start: int = 0
    ) -> Likelihood:
        phi = self._phi(params, self._run(params, x, settings, start), settings)
        mean = (phi * params["read_out"]).sum(-1)
        return Gaussian(mean, self._noise(params).expand_as(mean))

    def loss(
        self, params: Params, batch: Batch, settings: Settings, draws: Draws
    ) -> tuple[Tensor, Likelihood]:
        labels = self.density(params, batch.x, settings, draws)
        prior = 0.5 * params["read_out"].square().sum() / batch.rows  # β ~ N(0, 1)
        return -labels.training_log_prob(batch.y).mean() + prior, labels

    def close(self, params: Params, rows: TrainingRows, settings: Settings) -> Params:
        """Adds the posterior of the read-out, (2 M, 2 M)."""
        phi = self._phi(params, self._run(params, rows.x, settings), settings)
        phi = phi * rows.mask.unsqueeze(-1)
        return params | {"whitener": whitener(phi, self._noise(params), 1.0)}

    def prediction_noise(self) -> dict[str, Noise]:
        return {}

    def predict(self, params: Params, x: Tensor, settings: Settings, draws: Draws) -> Mixture:
        """x (N, D) to N(φᵀβ, σ² + φᵀ Σ φ), batch (N,)."""
        phi = self._phi(params, self._run(params, x, settings), settings)
        mean = (phi * params["read_out"]).sum(-1)
        std = (self._noise(params).square() + variance(phi, params["whitener"])).sqrt()
        return mixture(Gaussian(mean.unsqueeze(0), std.unsqueeze(0)))

    @property
    def _body(self) -> MLP:
        return MLP(self.network.sizes[:-1])

    @property
    def _width(self) -> int:
        return self.network.sizes[-2]

    def _run(
        self, params: Params, x: Tensor, settings: Settings, start: int = 0, stop: int | None = None
    ) -> Tensor:
        """Hidden layers start to stop; a square one adds to what it is given."""
        for i in range(start, self._body.stages if stop is None else stop):
            weight = bounded(params[f"weight{i}"], settings["spectral_bound"])
            moved = (x @ weight + params[f"bias{i}"]).relu()
            x = x + moved if weight.shape[-1] == weight.shape[-2] else moved
        return x

    def _phi(self, params: Params, h: Tensor, settings: Settings) -> Tensor:
        """Random Fourier features of h (B, H), (B, 2 M): their products are the RBF kernel."""
        frequency = params["frequency"].detach()
        frequency = frequency / frequency.square().mean().sqrt()  # weight decay has no say here
        scale = settings["length_scale"] * math.sqrt(self._width)
        angle = (h @ frequency) / scale
        waves = torch.cat([angle.cos(), angle.sin()], -1)
        return settings["amplitude"] * waves / math.sqrt(self.frequencies)

    def _noise(self, params: Params) -> Tensor:
        return params["noise"].exp() + SMALLEST_NOISE


def bounded(weight: Tensor, bound: Tensor) -> Tensor:
    """weight (H, H'), scaled down to about the spectral norm `bound` if above it."""
    with torch.no_grad():
        right = torch.ones_like(weight[0]) / math.sqrt(weight.shape[1])
        for _ in range(POWER_STEPS):
            left = weight @ right
            left = left / (left.norm() + 1e-12)
            right = left @ weight
            right = right / (right.norm() + 1e-12)
    norm = left @ weight @ right
    return weight * (bound / norm.clamp_min(1e-12)).clamp_max(1.0)
