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
    ones_a, ones_b = torch.ones_like(a[:, :1]), torch.ones_like(b[:, :1])
    left = torch.cat([a, a.square().sum(-1, keepdim=True), ones_a], -1)
    right = torch.cat([-2 * b, ones_b, b.square().sum(-1, keepdim=True)], -1)
    return (left @ right.transpose(-1, -2)).clamp_min(0)


def nearest(squared: Tensor, k: Tensor) -> Tensor:
    """Which columns are among the k smallest of their row, (N, M) bool.

    squared  (N, M) squared distances, taken as constants
    k        () how many count, 1 <= k <= M

    A column that ties with the k-th counts too: two equal rows are equally near.
    """
    squared = squared.detach()
    place = (k.to(torch.int64) - 1).expand(squared.shape[:-1]).unsqueeze(-1)
    return squared <= sorted_values(squared).gather(-1, place)


def mean_of(near: Tensor, z: Tensor) -> Tensor:
    """Mean of the near rows, (N, H), from near (N, M) and z (M, H)."""
    weights = near.to(z.dtype)
    return (weights @ z) / weights.sum(-1, keepdim=True)


def sorted_values(values: Tensor) -> Tensor:
    """The last axis of values (..., M) in ascending order, without gradient."""
    out: Tensor = torch.ops.reprior.sorted_values(values)
    return out


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
    "sorted_values(Tensor values) -> Tensor",
    "which_is_largest(Tensor near, Tensor z) -> Tensor",
):
    _operators.define(_signature)  # type: ignore[no-untyped-call]


@torch.library.impl(_operators, "sorted_values", "CPU")
def _sorted_by_numpy(values: Tensor) -> Tensor:
    """numpy sorts short rows over ten times faster than torch does on a CPU."""
    out = values.clone(memory_format=torch.contiguous_format)
    out.numpy().sort(axis=-1)
    return out


@torch.library.impl(_operators, "sorted_values", "CUDA")
def _sorted_by_torch(values: Tensor) -> Tensor:
    return values.sort(-1).values


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
    return found.reshape(*near.shape[:-1], z.shape[-1]).remainder_(m)


@torch.library.impl(_operators, "which_is_largest", "CUDA")
def _largest_side_by_side(near: Tensor, z: Tensor) -> Tensor:
    return torch.where(near[..., None], z[..., None, :, :], -torch.inf).max(-2).indices


@torch.library.register_fake("reprior::sorted_values", lib=_operators)  # type: ignore[untyped-decorator]
def _shape_of_sorted(values: Tensor) -> Tensor:
    return torch.empty_like(values, memory_format=torch.contiguous_format)


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


for _name in ("sorted_values", "which_is_largest"):
    torch.library.register_vmap(
        f"reprior::{_name}", _through_vmap(getattr(torch.ops.reprior, _name)), lib=_operators
    )
