"""Noise: the simplest rival of PAD, pseudo rows without a generator.

x̃ = x + s·ε with ε standard normal and s log-uniform on [0.1, 3], one scale for each row. How
strongly such rows count and where they pull is PAD's, so what PAD gains over noise is its
generator's doing.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Tensor

from reprior.augment.prior import Prior
from reprior.augment.weight import kl_weight
from reprior.contracts import Draws, Likelihood, Noise, Params, Setting, Settings


class Moved(NamedTuple):
    """Pseudo rows of one batch."""

    x: Tensor  # (B, D)


@dataclass(frozen=True)
class GaussianNoise:
    features: int  # D of the space that pseudo rows live in
    prior: Prior = field(default_factory=Prior)
    at: int = 0  # the network stage that pseudo rows enter; 0 is the input
    others: int = 0  # training rows beyond the batch that λ's minimum runs over
    smallest: float = 0.1  # scale s, in units of standardised inputs
    largest: float = 3.0

    name = "noise"

    @property
    def space(self) -> dict[str, Setting]:
        return self.prior.space

    def start_noise(self) -> dict[str, Noise]:
        return {}

    def init(self, noise: Draws) -> Params:
        return {}

    def count(self, batch: int) -> int:
        return batch

    def batch_noise(self) -> dict[str, Noise]:
        return {}

    def noise(self, batch: int) -> dict[str, Noise]:
        return {
            "epsilon": Noise("normal", (batch, self.features)),
            "scale": Noise("uniform", (batch, 1)),
        }

    def search(self, phi: Params, x: Tensor, draws: Draws) -> None:
        return None

    def propose(self, phi: Params, x: Tensor, found: None, draws: Draws) -> Moved:
        """One pseudo row per row of x (B, D), each at a scale of its own."""
        scale = self.smallest * (self.largest / self.smallest) ** draws["scale"]
        return Moved(x + scale * draws["epsilon"])

    def weight(self, pseudo: Tensor, reference: Tensor, settings: Settings) -> Tensor:
        """λ (B,) of pseudo rows (B, D) against real rows (M, D)."""
        return kl_weight(pseudo, reference, settings["ell"])

    def pull(
        self, labels: Likelihood, real: Likelihood, weight: Tensor, settings: Settings
    ) -> Tensor:
        return self.prior.pull(labels, real, weight, settings)

    def objective(self, labels: Likelihood, pseudo: Moved, x: Tensor) -> tuple[Tensor, tuple[()]]:
        """Nothing learns here; training leaves this turn out."""
        return x.new_zeros(()), ()
