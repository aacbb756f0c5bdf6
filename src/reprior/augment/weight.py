"""λ: how strongly a pseudo row pulls, 0 on top of a real row, 1 far from all (eq:kl-weight)."""

import torch
from torch import Tensor

from reprior.augment.neighbours import squared_distances


def kl_weight(x_tilde: Tensor, reference: Tensor, ell: Tensor) -> Tensor:
    """λ_n = 1 − exp(−min_m ‖x̃_n − x_m‖² / 2ℓ²), (B,).

    x_tilde    (B, D) pseudo rows
    reference  (M, D) real rows: the batch itself, or a larger sample
    ell        () length scale; infinite switches the pull off
    """
    least = squared_distances(x_tilde, reference).amin(-1)
    return -torch.expm1(-least / (2 * ell.square()))
