"""The posterior of a linear read-out over fixed features, shared by Laplace and SNGP.

Weights w with prior N(0, I / prior_precision) and labels φᵀw with noise σ have posterior precision
A = Φᵀ Φ / σ² + prior_precision · I, whatever the labels are.
"""

import torch
from torch import Tensor


def whitener(phi: Tensor, noise: Tensor, prior_precision: Tensor | float) -> Tensor:
    """L⁻¹ of A = L Lᵀ, (H, H), from features (N, H) and σ (): a read-out's variance is ‖L⁻¹φ‖².

    In double precision, since A's smallest and largest directions are far apart, and as a factor,
    whose squares cannot cancel. NaN where A has no factor, without stopping anybody else.
    """
    wide, sigma = phi.double(), noise.double()
    identity = torch.eye(phi.shape[-1], dtype=wide.dtype, device=phi.device)
    precision = wide.transpose(-1, -2) @ wide / sigma.square() + prior_precision * identity
    factor, failed = torch.linalg.cholesky_ex(precision)
    inverse = torch.linalg.solve_triangular(factor, identity, upper=False)
    return torch.where(failed == 0, inverse, torch.nan).to(phi.dtype)


def variance(phi: Tensor, inverse_factor: Tensor) -> Tensor:
    """What the weights leave open of φᵀw at rows (N, H), (N,)."""
    return (phi @ inverse_factor.transpose(-1, -2)).square().sum(-1)
