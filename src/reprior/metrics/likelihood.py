"""Negative log-likelihood of the true labels."""

from torch import Tensor

from reprior.metrics.rows import mean_over_rows


def nll(log_prob: Tensor, mask: Tensor | None = None) -> Tensor:
    """Mean negative log-likelihood.

    log_prob  (..., N) log density of each true label
    mask      (..., N) true where the row is real
    """
    return -mean_over_rows(log_prob, mask)


def nll_in_units(standardised_nll: Tensor, label_std: Tensor) -> Tensor:
    """From labels divided by label_std to labels in their own units: the density shrinks by it.

    standardised_nll  (...)
    label_std         (...) what the labels were divided by, on the training rows
    """
    return standardised_nll + label_std.log()
