"""Deep Ensemble (Lakshminarayanan et al.): five networks that share nothing but their data.

Each has its own initialisation and its own order of rows, which is the population's business; what
stands here is one of the five, and its adversarial training: every batch is learned a second time
after a small step towards larger loss.
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
class DeepEnsemble:
    network: Network
    likelihood: Callable[[Tensor], Likelihood]  # network outputs to label density
    adversarial: bool = True  # on for tables
    members: int = 5

    name = "deep_ensemble"
    takes_augmentation = True
    space = {  # noqa: RUF012  a constant
        "adversarial_step": Setting(0.01, (0.01,), "adversarial step, share of a feature's range"),
    }

    def noise(self, batch: int) -> dict[str, Noise]:
        return {}

    def start_noise(self) -> dict[str, Noise]:
        return self.network.noise()

    def init(self, noise: Draws) -> Params:
        return self.network.init(noise)

    def features(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, at: int
    ) -> Tensor:
        return self.network.run(params, x, 0, at)

    def density(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, start: int = 0
    ) -> Likelihood:
        return self.likelihood(self.network.run(params, x, start))

    def loss(
        self, params: Params, batch: Batch, settings: Settings, draws: Draws
    ) -> tuple[Tensor, Likelihood]:
        labels = self.density(params, batch.x, settings, draws)
        nll = -labels.training_log_prob(batch.y).mean()
        if not self.adversarial:
            return nll, labels
        x = self._step_up(params, batch, settings, draws)
        moved = self.density(params, x, settings, draws)
        against = -moved.training_log_prob(batch.y).mean()
        # The mean of the two, so that the loss keeps the scale of one likelihood.
        return (nll + against) / 2, labels

    def prediction_noise(self) -> dict[str, Noise]:
        return {}

    def predict(self, params: Params, x: Tensor, settings: Settings, draws: Draws) -> Mixture:
        """One draw: the mixture over the ensemble is the population's business."""
        return mixture(self.density(params, x.unsqueeze(0), settings, draws))

    def _step_up(self, params: Params, batch: Batch, settings: Settings, draws: Draws) -> Tensor:
        """x + ε · range · sign(∂ NLL / ∂x), (B, D): the fast gradient sign step, held constant."""

        def surprise(x: Tensor) -> Tensor:
            return -self.density(params, x, settings, draws).training_log_prob(batch.y).sum()

        uphill: Tensor = torch.func.grad(surprise)(batch.x).sign()
        return (batch.x + settings["adversarial_step"] * batch.reach * uphill).detach()
