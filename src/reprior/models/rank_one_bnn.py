"""Rank-1 BNN (Dusenberry et al.): one set of weights, random rank-1 factors on each of them.

A layer computes ((x ∘ r) W) ∘ s + b. W is shared and learned as usual; r and s are Bayesian: C
components, each with its own normal posterior for every factor and its own bias. The prior of a
factor is N(1, prior_std²). Minimised is the mean over components of the negative log-likelihood
plus KL / N, by one draw of every component's factors for each batch.
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
)
from reprior.likelihoods import Gaussian, mixture
from reprior.networks import MLP

START_STD = 0.05  # of a factor's posterior, and of its mean around 1


@dataclass(frozen=True)
class RankOneBNN:
    network: MLP
    likelihood: Callable[[Tensor], Likelihood]  # network outputs to label density
    components: int = 4  # C
    draws: int = 5  # of each component

    name = "rank_one_bnn"
    members = 1
    takes_augmentation = True
    space = {  # noqa: RUF012  a constant
        "prior_std": Setting(0.1, (0.05, 0.1, 0.2, 0.4), "standard deviation of a factor's prior"),
    }

    def noise(self, batch: int) -> dict[str, Noise]:
        return self._factor_noise(self.components)

    def start_noise(self) -> dict[str, Noise]:
        """The network's, and one number for every component's mean of every factor."""
        spread = {
            f"{name}.mean": Noise("normal", (self.components, width))
            for name, width in self._factors().items()
        }
        return self.network.noise() | spread

    def init(self, noise: Draws) -> Params:
        """Components start a little apart, so that they can settle in different places."""
        params = self.network.init(noise)
        for i in range(self.network.stages):
            params[f"bias{i}"] = params[f"bias{i}"].expand(self.components, -1).clone()
        for name in self._factors():
            # At 0, where weight decay pulls to, are the prior's mean and the starting width.
            params[f"{name}.mean"] = START_STD * noise[f"{name}.mean"]
            params[f"{name}.width"] = torch.zeros_like(noise[f"{name}.mean"])
        return params

    def features(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, at: int
    ) -> Tensor:
        """Rows (B, D) share the components out among themselves: row n has component n mod C."""
        if at == 0:
            return x
        of_all = self._run(params, x, draws, 0, at)  # (C, B, H)
        row = torch.arange(len(x), device=x.device)
        return of_all[row % self.components, row]

    def density(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, start: int = 0
    ) -> Likelihood:
        """What every component says of every row, batch (C, B)."""
        return self.likelihood(self._run(params, x, draws, start))

    def loss(
        self, params: Params, batch: Batch, settings: Settings, draws: Draws
    ) -> tuple[Tensor, Likelihood]:
        labels = self.density(params, batch.x, settings, draws)
        nll = -labels.training_log_prob(batch.y).mean()
        return nll + self.divergence(params, settings) / batch.rows, labels

    def divergence(self, params: Params, settings: Settings) -> Tensor:
        """KL of the factors' posterior from their prior, summed, mean over the components, ()."""
        prior = settings["prior_std"]
        total = prior.new_zeros(())
        for name in self._factors():
            posterior = self._posterior(params, name)
            here = posterior.kl_to(Gaussian(torch.ones_like(prior), prior))
            total = total + here.sum() / self.components
        return total

    def prediction_noise(self) -> dict[str, Noise]:
        return self._factor_noise(self.components * self.draws)

    def predict(self, params: Params, x: Tensor, settings: Settings, draws: Draws) -> Mixture:
        """x (N, D) to the mixture over all draws of all components, the same for every row."""
        repeated = {
            name: value.repeat_interleave(self.draws, 0) if "weight" not in name else value
            for name, value in params.items()
        }
        return mixture(self.likelihood(self._run(repeated, x, draws)))

    def _run(
        self, params: Params, x: Tensor, draws: Draws, start: int = 0, stop: int | None = None
    ) -> Tensor:
        """Stages start to stop for x (B, D) or (C, B, D), by every component: (C, B, outputs)."""
        last = self.network.stages
        for i in range(start, last if stop is None else stop):
            r, s = (self._sample(params, f"{factor}{i}", draws) for factor in "rs")
            x = ((x * r) @ params[f"weight{i}"]) * s + params[f"bias{i}"].unsqueeze(-2)
            if i < last - 1:
                x = x.relu()
        return x

    def _sample(self, params: Params, name: str, draws: Draws) -> Tensor:
        """One factor of every component, (C, 1, width)."""
        posterior = self._posterior(params, name)
        return (posterior.mean + posterior.std * draws[name]).unsqueeze(-2)

    def _posterior(self, params: Params, name: str) -> Gaussian:
        """(C, width)"""
        return Gaussian(1 + params[f"{name}.mean"], START_STD * params[f"{name}.width"].exp())

    def _factors(self) -> dict[str, int]:
        """The name and width of every factor: r at a stage's inputs, s at its outputs."""
        sizes = self.network.sizes
        into = {f"r{i}": width for i, width in enumerate(sizes[:-1])}
        return into | {f"s{i}": width for i, width in enumerate(sizes[1:])}

    def _factor_noise(self, components: int) -> dict[str, Noise]:
        return {n: Noise("normal", (components, width)) for n, width in self._factors().items()}
