"""Depth Uncertainty Net (Antorán et al.): how deep the network is, is what is uncertain.

An input layer, L residual blocks and one output layer that reads the activations after any number
of blocks. The depth d = 0 … L has a uniform prior and a categorical posterior q, learned with the
weights by the exact ELBO: Σ_d q_d · (negative log-likelihood at depth d) + KL(q ‖ uniform) / N.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

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
from reprior.likelihoods import mixture
from reprior.networks import MLP


@dataclass(frozen=True)
class DepthUncertainty:
    """The network gives the widths of inputs, blocks (its first hidden layer) and outputs."""

    network: MLP
    likelihood: Callable[[Tensor], Likelihood]  # network outputs to label density
    blocks: int = 5  # L

    name = "depth_uncertainty"
    members = 1
    takes_augmentation = True
    space: ClassVar[dict[str, Setting]] = {}

    @property
    def chain(self) -> MLP:
        """All layers one after another, each with its parameters under its own number."""
        inputs, width, *_, outputs = self.network.sizes
        return MLP((inputs, *[width] * (self.blocks + 1), outputs))

    def noise(self, batch: int) -> dict[str, Noise]:
        return {"depth": Noise("uniform", (batch,))}

    def start_noise(self) -> dict[str, Noise]:
        return self.chain.noise() | {"depth": Noise("normal", (self.blocks + 1,))}

    def init(self, noise: Draws) -> Params:
        """The posterior starts next to the prior."""
        return self.chain.init(noise) | {"depth": 0.01 * noise["depth"]}

    def features(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, at: int
    ) -> Tensor:
        """at 0: the inputs; 1: behind the input layer, where the blocks begin."""
        if at > 1:
            raise ValueError(f"Pseudo rows were to enter stage {at}; at most 1, before the blocks.")
        return x if at == 0 else self._enter(params, x)

    def density(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, start: int = 0
    ) -> Likelihood:
        """At every row, at a depth of its own drawn from the posterior: batch (B,)."""
        return self._drawn(params, self._at_every_depth(params, x, start), draws)

    def loss(
        self, params: Params, batch: Batch, settings: Settings, draws: Draws
    ) -> tuple[Tensor, Likelihood]:
        outputs = self._at_every_depth(params, batch.x)
        log_q = self.posterior(params)
        nll = -self.likelihood(outputs).training_log_prob(batch.y).mean(-1)  # (L + 1,)
        divergence = (log_q.exp() * (log_q + math.log(len(log_q)))).sum()
        loss = (log_q.exp() * nll).sum() + divergence / batch.rows
        return loss, self._drawn(params, outputs, draws)

    def posterior(self, params: Params) -> Tensor:
        """log q (L + 1,)."""
        return params["depth"].log_softmax(0)

    def prediction_noise(self) -> dict[str, Noise]:
        return {}

    def predict(self, params: Params, x: Tensor, settings: Settings, draws: Draws) -> Mixture:
        """x (N, D) to the mixture over all depths, weighted by their posterior."""
        labels = self.likelihood(self._at_every_depth(params, x))
        return mixture(labels, self.posterior(params))

    def _drawn(self, params: Params, outputs: Tensor, draws: Draws) -> Likelihood:
        """Of outputs (L + 1, B, ...) every row's at one depth from the posterior."""
        reached = self.posterior(params).exp().cumsum(0)
        depth = (draws["depth"][:, None] > reached[:-1]).sum(-1)  # (B,)
        place = depth[None, :, None].expand(1, *outputs.shape[1:])
        return self.likelihood(outputs.gather(0, place).squeeze(0))

    def _enter(self, params: Params, x: Tensor) -> Tensor:
        return (x @ params["weight0"] + params["bias0"]).relu()

    def _at_every_depth(self, params: Params, x: Tensor, start: int = 0) -> Tensor:
        """The output layer behind 0 … L blocks, (L + 1, B, outputs)."""
        h = self._enter(params, x) if start == 0 else x
        reached = [h]
        for i in range(1, self.blocks + 1):
            h = h + (h @ params[f"weight{i}"] + params[f"bias{i}"]).relu()
            reached.append(h)
        last = self.blocks + 1
        return torch.stack(reached) @ params[f"weight{last}"] + params[f"bias{last}"]
