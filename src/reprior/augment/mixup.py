"""Mixup (Zhang et al.): learn from points on the line between two rows instead of from rows.

x = w x₁ + (1 − w) x₂ and the same for the labels, with one w ~ Beta(α, α) for each batch. Labels
are averaged, which is meant for regression.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from reprior.contracts import Batch, Draws, Noise, Setting, Settings

TRIES = 16  # of Jöhnk's rejection: at α = 1, the worst, all fail once in 65,536 batches


@dataclass(frozen=True)
class Mixup:
    features: int  # D; of no consequence here

    name = "mixup"
    space = {  # noqa: RUF012  a constant
        "alpha": Setting(0.2, (0.1, 0.2, 0.4, 1.0), "of Beta(α, α), the share of the first row"),
    }

    def mix_noise(self, batch: int) -> dict[str, Noise]:
        return {"pairs": Noise("uniform", (TRIES, 2))}

    def mix(self, batch: Batch, settings: Settings, draws: Draws) -> Batch:
        """A batch comes in random order, so a row and the one before it are a random pair."""
        share = beta(draws["pairs"], settings["alpha"])
        return batch._replace(
            x=share * batch.x + (1 - share) * batch.x.roll(1, 0),
            y=share * batch.y + (1 - share) * batch.y.roll(1, 0),
        )


def beta(pairs: Tensor, alpha: Tensor) -> Tensor:
    """One draw of Beta(α, α), (), for α ≤ 1 from uniform pairs (TRIES, 2), by Jöhnk's rejection.

    U^(1/α) / (U^(1/α) + V^(1/α)), given that the two add up to at most 1; in logarithms, where
    small α would underflow.
    """
    one, other = (pairs.log() / alpha).unbind(-1)
    accepted = torch.logaddexp(one, other) <= 0
    first = accepted.to(pairs.dtype).argmax(0)
    return (one - other).sigmoid().gather(0, first.unsqueeze(0)).squeeze(0)
