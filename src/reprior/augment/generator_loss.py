"""What the generator minimises: A − B + C, each term on its own (eq:phi-loss)."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from reprior.augment.neighbours import nearest, squared_distances
from reprior.contracts import Likelihood
from reprior.likelihoods import Gaussian


class GeneratorTerms(NamedTuple):
    """The paper's three terms, each () and each the mean over the batch."""

    confidence: Tensor  # A: label entropy at the pseudo rows; small where the model is sure
    diversity: Tensor  # B: entropy of the pseudo rows' own densities
    distance: Tensor  # C: squared distance to the K nearest real rows

    def total(self, use: str = "ABC") -> Tensor:
        """The loss with the terms named in `use`; the ablation leaves letters out."""
        signed = {"A": self.confidence, "B": -self.diversity, "C": self.distance}
        # Left out, not multiplied by 0: an infinite term would come back as NaN.
        return sum((signed[letter] for letter in sorted(use)), torch.zeros_like(self.distance))


def generator_terms(
    labels: Likelihood,
    proposal: Gaussian,
    x_tilde: Tensor,
    x: Tensor,
    k: Tensor,
    radius: float | None,
) -> GeneratorTerms:
    """The terms for one batch of one member.

    labels    density of y at x_tilde, batch (B',)
    proposal  density that x_tilde was drawn from, batch (B', D)
    x_tilde   (B', D) pseudo rows, one draw each
    x         (B, D) real rows
    k         () how many neighbours count in C
    radius    only squared distance beyond radius² counts in C; None: all of it
    """
    if x_tilde.shape != proposal.mean.shape or x_tilde.shape[-1] != x.shape[-1]:
        raise ValueError(
            f"x_tilde has shape {tuple(x_tilde.shape)}, its density "
            f"{tuple(proposal.mean.shape)} and x {tuple(x.shape)}; draw once from each density, "
            "in the space of x."
        )
    squared = squared_distances(x_tilde, x)
    near = nearest(squared, k).to(x.dtype)
    beyond = squared if radius is None else (squared - radius**2).relu()
    return GeneratorTerms(
        confidence=labels.entropy().mean(),
        diversity=proposal.entropy().sum(-1).mean(),
        distance=((beyond * near).sum(-1) / near.sum(-1)).mean(),
    )


def ones_radius(features: int) -> float:
    """‖1^D‖ = √D, the radius the paper leaves free in regression (standardised inputs)."""
    return math.sqrt(features)
