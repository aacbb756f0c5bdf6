"""What every measure does with rows: the last axis, of which some may be padding.

Members of a population can be tested on different numbers of rows. They are then padded to a common
length, and `mask` (..., N) is true where a row is real. Padding may hold anything, NaN included.
"""

import torch
from torch import Tensor


def mean_over_rows(values: Tensor, mask: Tensor | None = None) -> Tensor:
    """values (..., N) to (...), NaN where no row is real."""
    if mask is None:
        return values.mean(-1)
    if mask.shape[-1] != values.shape[-1]:
        raise ValueError(
            f"mask has {mask.shape[-1]} rows but the values have {values.shape[-1]}; "
            "give one boolean per row, true where the row is real."
        )
    return torch.where(mask, values, 0).sum(-1) / mask.sum(-1)


def share(true: Tensor, known: Tensor, mask: Tensor | None = None) -> Tensor:
    """Share of rows where something is true.

    A comparison with NaN is merely false, so a diverged member would get an ordinary share; it gets
    NaN instead.

    true   (..., N) boolean
    known  (..., N) floats, NaN where the comparison means nothing
    """
    return mean_over_rows(torch.where(known.isnan(), known, true.to(known.dtype)), mask)


def same_rows(y: Tensor, rows: torch.Size, name: str, given: str = "y") -> None:
    """Refuses labels that would be broadcast against the rows of a prediction.

    y     (..., N) labels, or whatever is `given`
    rows  shape (..., N) of the prediction
    """
    if y.dim() == 0 or y.shape[-1:] != rows[-1:] or y.dim() > len(rows):
        raise ValueError(
            f"{given} has shape {tuple(y.shape)} but {name} has rows of shape {tuple(rows)}; "
            "give one value per row, on the last axis."
        )
