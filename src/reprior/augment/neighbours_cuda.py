"""The two searches of `neighbours.py` on a GPU: one short Triton kernel each.

Laid out as ordinary tensor operations they would write every pair, or every pair and feature, to
memory; a kernel keeps them in registers. Where Triton is missing the ordinary way serves, on any
device.
"""

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # it comes with PyTorch's CUDA builds for Linux, and with no other
    triton = None

ROWS = 16  # of one member that one instance of a kernel handles


def nearest(squared: Tensor, k: Tensor) -> Tensor:
    """squared (..., N, M), k (...) to (..., N, M) bool."""
    if triton is None or not squared.is_cuda:
        place = (k.to(torch.int64) - 1)[..., None, None].expand(*squared.shape[:-1], 1)
        return squared <= squared.sort(-1).values.gather(-1, place)
    n, m = squared.shape[-2:]
    squared, k = squared.contiguous(), k.to(torch.int32).contiguous()
    near = torch.empty_like(squared, dtype=torch.bool)
    if near.numel():
        grid = (k.numel(), triton.cdiv(n, ROWS))
        _count_smaller[grid](squared, k, near, n, m, triton.next_power_of_2(m), ROWS)
    return near


def which_is_largest(near: Tensor, z: Tensor) -> Tensor:
    """near (..., N, M), z (..., M, H) to (..., N, H) int64."""
    if triton is None or not z.is_cuda:
        side_by_side = torch.where(near[..., None], z[..., None, :, :], -torch.inf)
        return side_by_side.max(-2).indices
    (n, m), h = near.shape[-2:], z.shape[-1]
    near, z = near.contiguous(), z.contiguous()
    row = torch.empty(*near.shape[:-1], h, dtype=torch.int64, device=z.device)
    if row.numel():
        grid = (row.numel() // (n * h), triton.cdiv(n, ROWS))
        _walk[grid](near, z, row, n, m, h, triton.next_power_of_2(h), ROWS, num_warps=1)
    return row


if triton is not None:

    @triton.jit
    def _count_smaller(SQUARED, K, NEAR, n, m, M: tl.constexpr, ROWS: tl.constexpr):
        """Near is who has fewer than k smaller ones beside it; equal ones do not count."""
        member = tl.program_id(0).to(tl.int64)
        row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
        column = tl.arange(0, M)
        at = member * n * m + row[:, None] * m + column[None, :]
        inside = (row[:, None] < n) & (column[None, :] < m)
        mine = tl.load(SQUARED + at, mask=inside, other=0.0)
        smaller = tl.zeros((ROWS, M), tl.int32)
        for other in range(m):
            theirs = tl.load(SQUARED + member * n * m + row * m + other, mask=row < n, other=0.0)
            smaller += (theirs[:, None] < mine).to(tl.int32)
        tl.store(NEAR + at, smaller < tl.load(K + member), mask=inside)

    @triton.jit
    def _walk(NEAR, Z, ROW, n, m, h, H: tl.constexpr, ROWS: tl.constexpr):
        """Every feature's largest value so far, and whose it is, on one walk along the rows."""
        member = tl.program_id(0).to(tl.int64)
        row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
        feature = tl.arange(0, H)
        largest = tl.full((ROWS, H), float("-inf"), Z.dtype.element_ty)
        whose = tl.zeros((ROWS, H), tl.int64)
        for other in range(m):
            value = tl.load(Z + (member * m + other) * h + feature, mask=feature < h, other=0.0)
            near = tl.load(NEAR + (member * n + row) * m + other, mask=row < n, other=0)
            better = (near[:, None] != 0) & (value[None, :] > largest)
            largest = tl.where(better, value[None, :], largest)
            whose = tl.where(better, other, whose)
        at = (member * n + row[:, None]) * h + feature[None, :]
        tl.store(ROW + at, whose, mask=(row[:, None] < n) & (feature[None, :] < h))
