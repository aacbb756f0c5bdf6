"""SWAG (Maddox et al.): a normal over weights, read off the path that SGD takes.

The last 40 % of training walk at a constant rate. At the end of every epoch the weights are looked
at: their mean and variance, and the last K deviations from the mean, make the normal
N(mean, ½ diag(variance) + ½ D Dᵀ / (K − 1)) from which a prediction draws its networks.
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
class SWAG:
    network: Network
    likelihood: Callable[[Tensor], Likelihood]  # network outputs to label density
    draws: int = 20  # S
    rank: int = 20  # K
    walk_share: float = 0.4
    members: int = 1
    name: str = "swag"

    takes_augmentation = True
    space = {  # noqa: RUF012  a constant
        "walk_lr": Setting(1e-3, (3e-4, 1e-3, 3e-3, 1e-2), "constant SGD rate of the walk"),
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
        return -labels.training_log_prob(batch.y).mean(), labels

    def set_out(self, params: Params) -> Params:
        """Mean, variance and deviations of every parameter, nothing seen yet."""
        kept = {"looks": next(iter(params.values())).new_zeros(())}
        for name, value in params.items():
            kept[f"mean.{name}"] = torch.zeros_like(value)
            kept[f"variance.{name}"] = torch.zeros_like(value)
            kept[f"deviation.{name}"] = value.new_zeros(self.rank, *value.shape)
        return kept

    def collect(self, kept: Params, params: Params, looks: Tensor) -> Params:
        """Running mean and variance; the K latest deviations, the newest last."""
        found = {"looks": looks + 1}
        for name, value in params.items():
            before = kept[f"mean.{name}"]
            mean = before + (value - before) / (looks + 1)
            # Welford's way: a difference of two mean squares would leave nothing but rounding.
            spread = looks * kept[f"variance.{name}"] + (value - before) * (value - mean)
            found[f"mean.{name}"] = mean
            found[f"variance.{name}"] = spread / (looks + 1)
            away = (value - mean).unsqueeze(0)
            found[f"deviation.{name}"] = torch.cat([kept[f"deviation.{name}"][1:], away])
        return found

    def prediction_noise(self) -> dict[str, Noise]:
        diagonal = {
            f"diagonal.{name}": Noise("normal", (self.draws, *wanted.shape))
            for name, wanted in self.network.noise().items()
        }
        return diagonal | {"low_rank": Noise("normal", (self.draws, self.rank))}

    def predict(self, params: Params, x: Tensor, settings: Settings, draws: Draws) -> Mixture:
        """x (N, D) to the mixture over S networks; params are what `collect` kept."""
        theta = self.sample(params, draws)
        return mixture(self.likelihood(self.network.run(theta, x.expand(self.draws, *x.shape))))

    def sample(self, kept: Params, draws: Draws) -> Params:
        """S networks from the normal, each parameter with S in front (and 1 before a bias)."""
        found, free = {}, kept["looks"].clamp(2, self.rank) - 1
        for name in self.network.noise():
            low_rank = torch.tensordot(draws["low_rank"], kept[f"deviation.{name}"], 1)
            value = (
                kept[f"mean.{name}"]
                + (kept[f"variance.{name}"] / 2).sqrt() * draws[f"diagonal.{name}"]
                + low_rank / (2 * free).sqrt()
            )
            found[name] = value if value.dim() > 2 else value.unsqueeze(-2)
        return found
