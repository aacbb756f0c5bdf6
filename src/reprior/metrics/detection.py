"""Does a score, such as predictive entropy, tell shifted rows from familiar ones?"""

import torch
from torch import Tensor

from reprior.metrics.rows import same_rows


def auroc(score: Tensor, shifted: Tensor, mask: Tensor | None = None) -> Tensor:
    """Probability that a shifted row scores higher than a familiar one, equals counting half.

    score    (..., N) larger where a shift is suspected
    shifted  (..., N) boolean
    mask     (..., N) true where the row is real

    NaN where a real row's score is NaN or one of the two kinds is missing.
    """
    same_rows(shifted, score.shape, "score", given="shifted")
    real = torch.ones_like(score, dtype=torch.bool) if mask is None else mask
    shifted = shifted.bool() & real
    familiar = real & ~shifted
    count = familiar.sum(-1, keepdim=True)
    ordered = torch.where(familiar, score, torch.inf).sort(-1).values
    score = score.contiguous()
    beaten = torch.searchsorted(ordered, score)
    # A score of inf would also tie with what stands at the end in place of the other rows.
    not_beating = torch.searchsorted(ordered, score, right=True).minimum(count)
    wins = 0.5 * (beaten + not_beating).double()
    area = torch.where(shifted, wins, 0).sum(-1) / (shifted.sum(-1) * count[..., 0])
    diverged = (score.isnan() & real).any(-1)
    return torch.where(diverged, torch.nan, area).to(score.dtype)
