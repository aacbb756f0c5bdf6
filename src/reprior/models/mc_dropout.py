"""Monte Carlo Dropout (Gal & Ghahramani): dropout in training and in prediction.

A prediction is the mixture over several dropout masks. Each mask is one network, kept for all
rows of the prediction, so that a draw is a function and not noise.
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
    Network,
    Noise,
    Params,
    Setting,
    Settings,
)
from reprior.likelihoods import mixture


@dataclass(frozen=True)
class MCDropout:
    network: Network
    likelihood: Callable[[Tensor], Likelihood]  # network outputs to label density
    draws: int = 20  # S

    name = "mc_dropout"
    members = 1
    takes_augmentation = True
    space = {  # noqa: RUF012  a constant
        "dropout": Setting(0.05, (0.005, 0.01, 0.02, 0.05, 0.1, 0.2), "share of units dropped"),
    }

    def noise(self, batch: int) -> dict[str, Noise]:
        return {f"mask{i}": Noise("uniform", (batch, h)) for i, h in enumerate(self.network.hidden)}

    def start_noise(self) -> dict[str, Noise]:
        return self.network.noise()

    def init(self, noise: Draws) -> Params:
        return self.network.init(noise)

    def features(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, at: int
    ) -> Tensor:
        return self.network.run(params, x, 0, at, self._scales(settings, draws))

    def density(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, start: int = 0
    ) -> Likelihood:
        return self.likelihood(
            self.network.run(params, x, start, scales=self._scales(settings, draws))
        )

    def loss(
        self, params: Params, batch: Batch, settings: Settings, draws: Draws
    ) -> tuple[Tensor, Likelihood]:
        labels = self.density(params, batch.x, settings, draws)
        return -labels.training_log_prob(batch.y).mean(), labels

    def prediction_noise(self) -> dict[str, Noise]:
        return {
            f"mask{i}": Noise("uniform", (self.draws, h)) for i, h in enumerate(self.network.hidden)
        }

    def predict(self, params: Params, x: Tensor, settings: Settings, draws: Draws) -> Mixture:
        """x (N, D) to the mixture over S masks, batch (N,)."""
        scales = [scale.unsqueeze(-2) for scale in self._scales(settings, draws)]  # (S, 1, H)
        outputs = self.network.run(params, x.expand(self.draws, *x.shape), scales=scales)
        return mixture(self.likelihood(outputs))

    def _scales(self, settings: Settings, draws: Draws) -> list[Tensor]:
        keep = 1 - settings["dropout"]
        return [
            torch.where(draws[f"mask{i}"] < keep, 1 / keep, 0.0)
            for i in range(len(self.network.hidden))
        ]
