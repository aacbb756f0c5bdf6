"""Class labels whose softmax carries a temperature of its own for every input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor

from reprior.likelihoods.categorical import Categorical, entropy_of, log_prob_of_label

if TYPE_CHECKING:
    from torch.distributions import Categorical as TorchCategorical


class TemperedCategorical(NamedTuple):
    """Labels 0 … C−1 with probabilities softmax(logits / t), as they are predicted.

    Training leaves t out of its cross-entropy; `TemperedInTraining` does not.
    """

    logits: Tensor  # (..., C)
    log_t: Tensor  # (...)

    @property
    def temperature(self) -> Tensor:  # (...)
        return self.log_t.exp()

    @property
    def log_probs(self) -> Tensor:  # (..., C)
        return self.tempered().log_probs

    @property
    def probs(self) -> Tensor:  # (..., C)
        return self.tempered().probs

    def log_prob(self, y: Tensor) -> Tensor:
        return log_prob_of_label(self.log_probs, y)

    def training_log_prob(self, y: Tensor) -> Tensor:
        return self.untempered().log_prob(y)

    def entropy(self) -> Tensor:
        return entropy_of(self.log_probs)

    def kl_to_uniform(self) -> Tensor:
        """KL[self ‖ uniform] = log C − entropy."""
        return math.log(self.logits.shape[-1]) - self.entropy()

    def tempered(self) -> Categorical:
        """The same density with t divided in."""
        return Categorical(self.logits * (-self.log_t).exp()[..., None])

    def untempered(self) -> Categorical:
        """The density at t = 1."""
        return Categorical(self.logits)

    def to_torch(self) -> TorchCategorical:
        return self.tempered().to_torch()


class TemperedInTraining(TemperedCategorical):
    """What the paper tried and dropped: the cross-entropy of training divides by t as well."""

    def training_log_prob(self, y: Tensor) -> Tensor:
        return self.log_prob(y)


def from_outputs(outputs: Tensor) -> TemperedCategorical:
    """outputs (..., C+1): one logit per class, then log t."""
    if outputs.shape[-1] < 3:
        raise ValueError(
            f"outputs have shape {tuple(outputs.shape)}, but a tempered categorical needs "
            "(..., C+1) with at least two classes: give the network one output more than classes."
        )
    return TemperedCategorical(logits=outputs[..., :-1], log_t=outputs[..., -1])


def from_outputs_in_training(outputs: Tensor) -> TemperedInTraining:
    """outputs (..., C+1), read so that t takes part in training."""
    return TemperedInTraining(*from_outputs(outputs))
