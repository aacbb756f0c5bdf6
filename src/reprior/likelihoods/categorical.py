"""One label out of C classes: what a classification network predicts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

if TYPE_CHECKING:
    from torch.distributions import Categorical as TorchCategorical


class Categorical(NamedTuple):
    """Independent labels 0 … C−1 with probabilities softmax(logits)."""

    logits: Tensor  # (..., C)

    @property
    def log_probs(self) -> Tensor:  # (..., C)
        return self.logits.log_softmax(-1)

    @property
    def probs(self) -> Tensor:  # (..., C)
        return self.logits.softmax(-1)

    def log_prob(self, y: Tensor) -> Tensor:
        return log_prob_of_label(self.log_probs, y)

    def training_log_prob(self, y: Tensor) -> Tensor:
        return self.log_prob(y)

    def entropy(self) -> Tensor:
        return entropy_of(self.log_probs)

    def kl_to_uniform(self) -> Tensor:
        """KL[self ‖ uniform] = log C − entropy."""
        return math.log(self.logits.shape[-1]) - self.entropy()

    def untempered(self) -> Categorical:
        return self

    def to_torch(self) -> TorchCategorical:
        from torch.distributions import Categorical as TorchCategorical

        return TorchCategorical(logits=self.logits)


def log_prob_of_label(log_probs: Tensor, y: Tensor) -> Tensor:
    """Picks each label's entry.

    log_probs  (..., C)
    y          (...) integer labels, broadcast against the leading axes
    """
    batch = torch.broadcast_shapes(log_probs.shape[:-1], y.shape)  # type: ignore[no-untyped-call]
    index = y.long().expand(batch)[..., None]
    return log_probs.expand(*batch, -1).gather(-1, index)[..., 0]


def entropy_of(log_probs: Tensor) -> Tensor:
    """−Σ p log p over the last axis, where a class without probability contributes nothing.

    log_probs  (..., C)
    """
    # Written in logarithms because the derivative of −p log p in p is infinite at p = 0, and a
    # sure network does underflow to 0; the clamp keeps 0 · log 0 from being NaN.
    finite = log_probs.clamp(min=torch.finfo(log_probs.dtype).min)
    return -(finite.exp() * finite).sum(-1)


def from_outputs(outputs: Tensor) -> Categorical:
    """outputs (..., C): one logit per class."""
    return Categorical(logits=outputs)
