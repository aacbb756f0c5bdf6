"""Laplace approximation of the last layer (MacKay; Daxberger et al.), in closed form.

A network is trained to a mean μ = φ(x)ᵀβ and one noise σ for all rows. Its last layer's weights are
then given the normal posterior that a linear model on the features φ would have: precision
Φᵀ Φ / σ² + prior_precision · I. The prediction is N(μ, σ² + φᵀ Σ φ).
"""

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


@dataclass(frozen=True)
class Laplace:
    """Regression only: of the network's outputs the first is the mean, the others are not used."""

    network: MLP
    likelihood: Callable[[Tensor], Likelihood]

    name = "laplace"
    members = 1
    takes_augmentation = False
    space = {  # noqa: RUF012  a constant
        "prior_precision": Setting(1.0, (0.1, 1.0, 10.0, 100.0), "of the last layer's weights"),
    }

    def noise(self, batch: int) -> dict[str, Noise]:
        return {}

    def start_noise(self) -> dict[str, Noise]:
        return self.network.noise() | {"noise": Noise("uniform", ())}

    def init(self, noise: Draws) -> Params:
        """σ starts a little around 1, that of the labels."""
        return self.network.init(noise) | {"noise": 0.1 * (noise["noise"] - 0.5)}

    def features(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, at: int
    ) -> Tensor:
        return self.network.run(params, x, 0, at)

    def density(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, start: int = 0
    ) -> Likelihood:
        mean = self.network.run(params, x, start)[..., 0]
        return Gaussian(mean, self._noise(params).expand_as(mean))

    def loss(
        self, params: Params, batch: Batch, settings: Settings, draws: Draws
    ) -> tuple[Tensor, Likelihood]:
        labels = self.density(params, batch.x, settings, draws)
        return -labels.training_log_prob(batch.y).mean(), labels

    def close(self, params: Params, rows: TrainingRows, settings: Settings) -> Params:
        """Adds the posterior of the last layer's weights and bias, (H + 1, H + 1)."""
        phi = self._phi(params, rows.x) * rows.mask.unsqueeze(-1)
        found = whitener(phi, self._noise(params), settings["prior_precision"].double())
        return params | {"whitener": found}

    def prediction_noise(self) -> dict[str, Noise]:
        return {}

    def predict(self, params: Params, x: Tensor, settings: Settings, draws: Draws) -> Mixture:
        """x (N, D) to N(μ, σ² + φᵀ Σ φ), batch (N,)."""
        mean = self.network.run(params, x)[..., 0]
        unsure = variance(self._phi(params, x), params["whitener"])
        std = (self._noise(params).square() + unsure).sqrt()
        return mixture(Gaussian(mean.unsqueeze(0), std.unsqueeze(0)))

    def _noise(self, params: Params) -> Tensor:
        return params["noise"].exp() + SMALLEST_NOISE

    def _phi(self, params: Params, x: Tensor) -> Tensor:
        """What the last layer reads, its bias included: (N, H + 1)."""
        hidden = self.network.run(params, x, 0, self.network.stages - 1)
        return torch.cat([hidden, torch.ones_like(hidden[..., :1])], -1)
