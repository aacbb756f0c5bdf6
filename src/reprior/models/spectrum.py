"""Eigenvalues and eigenvectors of small symmetric matrices, one per member of a population.

An operator of its own (`reprior::spectrum`): a library's solver waits for its result on a GPU,
which a captured step may not. There Jacobi's rotations serve, as plain tensor operations.
"""

from typing import Any

import torch
from torch import Tensor

SWEEPS = 6  # of Jacobi's method: errors square with each of the last ones


def spectrum(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Ascending eigenvalues (n,) and eigenvectors (n, n), one a column, without gradient.

    matrix  (n, n) symmetric
    """
    values, vectors = torch.ops.reprior.spectrum(matrix.detach())
    return values, vectors


def by_rotations(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Jacobi's method on matrices (..., n, n), n even: n/2 rotations at once.

    In each of the n − 1 rounds of a sweep, rows stand in other pairs (a round robin: the first
    stays, the others move on by one), so that every two meet once.
    """
    n = matrix.shape[-1]
    order = torch.arange(n, device=matrix.device)
    seats = torch.stack([order[: n // 2], order[n // 2 :].flip(0)], 1).flatten()
    places = torch.cat([order[:1], order[1:].roll(1)])
    # From seat to seat: whoever stands at place i of the table moves to the next place.
    turn = torch.empty_like(order)
    turn[torch.argsort(seats)[places]] = torch.argsort(seats)[order]
    vectors = torch.eye(n, dtype=matrix.dtype, device=matrix.device).expand_as(matrix)
    even, odd = order[0::2], order[1::2]
    for _ in range(SWEEPS * (n - 1)):
        diagonal = matrix.diagonal(dim1=-2, dim2=-1)
        across = matrix[..., even, odd]
        apart = diagonal[..., odd] - diagonal[..., even]
        # The smaller of the two angles that serve: by the larger one rows would only swap.
        angle = 0.5 * torch.atan2(torch.where(apart < 0, -2.0, 2.0) * across, apart.abs())
        cosine, sine = angle.cos(), angle.sin()
        rotation = torch.zeros_like(matrix)
        rotation[..., even, even] = cosine
        rotation[..., odd, odd] = cosine
        rotation[..., even, odd] = sine
        rotation[..., odd, even] = -sine
        matrix = (rotation.transpose(-1, -2) @ matrix @ rotation)[..., turn, :][..., turn]
        vectors = (vectors @ rotation)[..., turn]
    values, rank = matrix.diagonal(dim1=-2, dim2=-1).sort(-1)
    return values, vectors.gather(-1, rank.unsqueeze(-2).expand_as(vectors))


_operators = torch.library.Library("reprior", "FRAGMENT")  # type: ignore[no-untyped-call]
_operators.define("spectrum(Tensor matrix) -> (Tensor, Tensor)")  # type: ignore[no-untyped-call]


@torch.library.impl(_operators, "spectrum", "CPU")
def _by_library(matrix: Tensor) -> tuple[Tensor, Tensor]:
    # A diverged member's matrix holds no numbers, which the library refuses for all.
    values, vectors = torch.linalg.eigh(matrix.nan_to_num(0.0, 0.0, 0.0))
    return values, vectors.contiguous()


@torch.library.impl(_operators, "spectrum", "CUDA")
def _by_rotations(matrix: Tensor) -> tuple[Tensor, Tensor]:
    return by_rotations(matrix)


@torch.library.register_fake("reprior::spectrum", lib=_operators)  # type: ignore[untyped-decorator]
def _shapes(matrix: Tensor) -> tuple[Tensor, Tensor]:
    return matrix.new_empty(matrix.shape[:-1]), torch.empty_like(
        matrix, memory_format=torch.contiguous_format
    )


def _through_vmap(info: Any, in_dims: tuple[int | None, ...], matrix: Tensor) -> Any:
    return torch.ops.reprior.spectrum(matrix.movedim(in_dims[0] or 0, 0)), (0, 0)


torch.library.register_vmap("reprior::spectrum", _through_vmap, lib=_operators)
