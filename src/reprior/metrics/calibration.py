"""Calibration of regression: do labels fall below the p-quantile with frequency p?"""

import torch
from torch import Tensor

from reprior.metrics.rows import same_rows


def promised_shares(levels: int, like: Tensor) -> Tensor:
    """p_j = j / levels for j = 1 … levels, of the dtype and on the device of `like`."""
    return torch.arange(1, levels + 1, dtype=like.dtype, device=like.device) / levels


def reliability(pit: Tensor, levels: int = 100, mask: Tensor | None = None) -> Tensor:
    """Share of rows whose predicted cdf is at most p_j: the curve of a reliability diagram.

    pit   (..., N) predicted cdf at each true label
    mask  (..., N) true where the row is real

    Returns (..., levels), NaN throughout where a real row is NaN.
    """
    if mask is None:
        mask = torch.ones_like(pit, dtype=torch.bool)
    same_rows(mask, pit.shape, "pit", given="mask")
    diverged = (pit.isnan() & mask).any(-1, keepdim=True)
    # Sorted once and searched, since a table of rows against levels is large for a population.
    ordered = torch.where(mask, pit, torch.inf).sort(-1).values
    promised = promised_shares(levels, pit).expand(*pit.shape[:-1], levels).contiguous()
    at_most = torch.searchsorted(ordered, promised, right=True)
    observed = at_most.to(pit.dtype) / mask.sum(-1, keepdim=True)
    return torch.where(diverged, torch.nan, observed)


def calibration_error(pit: Tensor, levels: int = 100, mask: Tensor | None = None) -> Tensor:
    """Squared gap between promised and observed share, summed over levels.

    0 is perfect. At 100 levels the worst value is Σ_{j<100} (j/100)² = 32.835, reached both when
    every label lies above its density (pit 1) and when every label lies below it (pit 0).

    pit   (..., N) predicted cdf at each true label
    mask  (..., N) true where the row is real
    """
    return calibration_gap(reliability(pit, levels, mask))


def calibration_gap(observed: Tensor) -> Tensor:
    """The same from the curve: observed (..., levels)."""
    return (promised_shares(observed.shape[-1], observed) - observed).square().sum(-1)
