"""Nearest rows within a batch: who is near, and what the near ones have in common.

K differs between the members of a population, so neighbours are a mask and never a slice. The two
searches that cost the most are operators of their own (`reprior::...`), so that each device can
take its fastest way while the functions here stay those of one member.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def squared_distances(a: Tensor, b: Tensor) -> Tensor:
    """‖a_n − b_m‖² for all pairs, (N, M), from a (N, D) and b (M, D); never below 0.

    The norms ride along as two more columns, so that one matrix product does it all.
    """
    ones_a, ones_b = torch.ones_like(a[..., :1]), torch.ones_like(b[..., :1])
    left = torch.cat([a, a.square().sum(-1, keepdim=True), ones_a], -1)
    right = torch.cat([-2 * b, ones_b, b.square().sum(-1, keepdim=True)], -1)
    return (left @ right.transpose(-1, -2)).relu()


def squared_distances_within(z: Tensor) -> Tensor:
    """‖z_n − z_m‖² for all pairs of z (N, H), (N, N); exactly 0 from a row to itself."""
    products = z @ z.transpose(-1, -2)
    norms = products.diagonal(dim1=-2, dim2=-1)
    return (norms.unsqueeze(-1) + norms.unsqueeze(-2) - 2 * products).relu()


def nearest(squared: Tensor, k: Tensor) -> Tensor:
    """Which columns are among the k smallest of their row, (N, M) bool, without gradient.

    squared  (N, M) squared distances
    k        () how many count, 1 <= k <= M

    A column that ties with the k-th counts too: two equal rows are equally near.
    """
    out: Tensor = torch.ops.reprior.nearest(squared.detach(), k)
    return out


def mean_of(near: Tensor, z: Tensor) -> Tensor:
    """Mean of the near rows, (N, H), from near (N, M) and z (M, H)."""
    weights = near.to(z.dtype)
    return (weights / weights.sum(-1, keepdim=True)) @ z


def which_is_largest(near: Tensor, z: Tensor) -> Tensor:
    """Row number of the largest near value of each feature, (N, H), without gradient.

    near  (N, M) bool, at least one per row
    z     (M, H)
    """
    out: Tensor = torch.ops.reprior.which_is_largest(near, z)
    return out


# What follows says how each device computes the two operators, for any leading axes, and how vmap
# passes through them. Registered by hand: torch.library.custom_op costs 100 µs at every call.

_operators = torch.library.Library("reprior", "DEF")  # type: ignore[no-untyped-call]
for _signature in (
    "nearest(Tensor squared, Tensor k) -> Tensor",
    "which_is_largest(Tensor near, Tensor z) -> Tensor",
):
    _operators.define(_signature)  # type: ignore[no-untyped-call]


@torch.library.impl(_operators, "nearest", "CPU")
def _nearest_by_sorting(squared: Tensor, k: Tensor) -> Tensor:
    """numpy sorts short rows over ten times faster than torch does on a CPU."""
    values = squared.clone(memory_format=torch.contiguous_format)
    values.numpy().sort(axis=-1)
    place = (k.to(torch.int64) - 1)[..., None, None].expand(*squared.shape[:-1], 1)
    return squared <= values.gather(-1, place)


@torch.library.impl(_operators, "nearest", "CUDA")
def _nearest_by_counting(squared: Tensor, k: Tensor) -> Tensor:
    from reprior.augment.neighbours_cuda import nearest

    return nearest(squared, k)


@torch.library.impl(_operators, "which_is_largest", "CPU")
def _largest_by_bags(near: Tensor, z: Tensor) -> Tensor:
    """An embedding bag walks through the near rows alone.

    Laying all N × M × H candidates side by side is bound by memory and four times slower.
    """
    n, m = near.shape[-2:]
    member, _, column = near.reshape(-1, n, m).nonzero(as_tuple=True)
    last = near.sum(-1).reshape(-1).cumsum(0)
    first = torch.cat([last.new_zeros(1), last[:-1]])
    rows = z.reshape(-1, z.shape[-1])
    found = torch._embedding_bag(rows, member * m + column, first, mode=2)[3]
    found = found.view(-1, n, rows.shape[1])
    # The bag of a row without any near row, which a diverged member may have, holds a 0.
    found.sub_(m * torch.arange(len(found))[:, None, None]).clamp_(0)
    return found.view(*near.shape[:-1], z.shape[-1])


@torch.library.impl(_operators, "which_is_largest", "CUDA")
def _largest_by_walking(near: Tensor, z: Tensor) -> Tensor:
    from reprior.augment.neighbours_cuda import which_is_largest

    return which_is_largest(near, z)


@torch.library.register_fake("reprior::nearest", lib=_operators)  # type: ignore[untyped-decorator]
def _shape_of_nearest(squared: Tensor, k: Tensor) -> Tensor:
    return squared.new_empty(squared.shape, dtype=torch.bool)


@torch.library.register_fake("reprior::which_is_largest", lib=_operators)  # type: ignore[untyped-decorator]
def _shape_of_largest(near: Tensor, z: Tensor) -> Tensor:
    return z.new_empty((*near.shape[:-1], z.shape[-1]), dtype=torch.int64)


def _through_vmap(operator: Callable[..., Tensor]) -> Callable[..., tuple[Tensor, int]]:
    def rule(info: Any, in_dims: tuple[int | None, ...], *args: Tensor) -> tuple[Tensor, int]:
        lifted = (
            arg.expand(info.batch_size, *arg.shape) if axis is None else arg.movedim(axis, 0)
            for arg, axis in zip(args, in_dims, strict=True)
        )
        return operator(*lifted), 0

    return rule


for _name in ("nearest", "which_is_largest"):
    torch.library.register_vmap(
        f"reprior::{_name}", _through_vmap(getattr(torch.ops.reprior, _name)), lib=_operators
    )
