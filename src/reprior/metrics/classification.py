"""Measures of class probabilities: right, sure, and as sure as right."""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from reprior.likelihoods.categorical import log_prob_of_label
from reprior.metrics import likelihood
from reprior.metrics.rows import mean_over_rows, same_rows, share

# Every function takes
#
#   probs  (..., N, C) predicted probabilities
#   y      (..., N) integer labels
#   mask   (..., N) true where the row is real; padding needs a label below C all the same


def accuracy(probs: Tensor, y: Tensor, mask: Tensor | None = None) -> Tensor:
    """Share of rows whose likeliest class is the label; the first of equals is taken."""
    same_rows(y, probs.shape[:-1], "probs")
    confidence, guess = probs.max(-1)
    return share(guess == y, confidence, mask)


def nll(probs: Tensor, y: Tensor, mask: Tensor | None = None) -> Tensor:
    """Mean negative log-probability of the label, from probabilities someone else predicted.

    Our own densities keep more digits: give their `log_prob` to `likelihood.nll`.
    """
    same_rows(y, probs.shape[:-1], "probs")
    return likelihood.nll(log_prob_of_label(probs.log(), y), mask)


def brier(probs: Tensor, y: Tensor, mask: Tensor | None = None) -> Tensor:
    """Mean over rows of Σ_c (p_c − 1{y = c})², between 0 and 2."""
    same_rows(y, probs.shape[:-1], "probs")
    apart = probs - one_hot(y.long(), probs.shape[-1])
    return mean_over_rows(apart.square().sum(-1), mask)


def expected_calibration_error(
    probs: Tensor, y: Tensor, bins: int = 15, mask: Tensor | None = None
) -> Tensor:
    """Gap between accuracy and confidence, averaged over bins by the rows they hold.

    Bins of equal width contain their lower edge and not their upper one; a confidence of exactly 1
    has a bin of its own, which is torchmetrics' reading.
    """
    surplus = surplus_by_bin(probs, y, bins, mask)
    rows = probs.shape[-2] if mask is None else mask.sum(-1)
    return surplus.abs().sum(-1) / rows


def surplus_by_bin(
    probs: Tensor, y: Tensor, bins: int = 15, mask: Tensor | None = None
) -> Tensor:  # (..., bins + 1)
    """Σ (confidence − correct) over the rows of each bin of confidence.

    Sums rather than means, so that they add up over batches: the row count of a bin cancels when
    its gap is weighted by the rows it holds.
    """
    same_rows(y, probs.shape[:-1], "probs")
    confidence, guess = probs.max(-1)
    surplus = confidence - (guess == y).to(probs.dtype)
    if mask is not None:
        surplus = torch.where(mask, surplus, 0)
    edges = torch.linspace(0, 1, bins + 1, dtype=probs.dtype, device=probs.device)
    # NaN belongs to no bin; the clamp sends it to the last one, whence it reaches the result.
    index = (torch.bucketize(confidence, edges, right=True) - 1).clamp(0, bins)
    empty = surplus.new_zeros(*surplus.shape[:-1], bins + 1)
    return empty.scatter_add(-1, index.expand_as(surplus), surplus)
