"""Neighbour masks and the two searches, against plain loops and torch.topk."""

import pytest
import torch

from reprior.augment import neighbours_cuda
from reprior.augment.neighbours import (
    mean_of,
    nearest,
    squared_distances,
    squared_distances_within,
    which_is_largest,
)

DTYPES = [torch.float32, torch.float64]
DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[
            pytest.mark.cuda,
            pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is here"),
        ],
    ),
]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_squared_distances_are_those_of_every_pair(dtype):
    a, b = torch.randn(7, 3, dtype=dtype), torch.randn(5, 3, dtype=dtype)
    expected = torch.stack([torch.stack([((p - q) ** 2).sum() for q in b]) for p in a])
    tolerance = 1e-5 if dtype == torch.float32 else 1e-13
    torch.testing.assert_close(squared_distances(a, b), expected, rtol=tolerance, atol=tolerance)


def test_a_distance_is_never_negative_even_where_rounding_would_make_it_so():
    a = 1e3 * torch.randn(50, 8)
    assert (squared_distances(a, a) >= 0).all()


def test_distances_within_are_those_to_the_rows_themselves_and_none_to_oneself():
    z = 1e3 + torch.randn(2, 9, 5, dtype=torch.float64)
    within = torch.vmap(squared_distances_within)(z)
    torch.testing.assert_close(within, torch.cdist(z, z).square(), rtol=0, atol=1e-7)
    assert (squared_distances_within(1e3 * torch.randn(50, 8)).diagonal() == 0).all()


def test_the_distance_has_the_gradient_of_a_distance():
    a = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    b = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(squared_distances, (a, b))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 3, 9])
def test_the_nearest_are_those_topk_finds(k, dtype):
    squared = torch.rand(12, 9, dtype=dtype)
    found = nearest(squared, torch.tensor(float(k)))
    for row, mask in zip(squared, found, strict=True):
        expected = set(row.topk(k, largest=False).indices.tolist())
        assert set(mask.nonzero()[:, 0].tolist()) == expected


def test_a_tie_with_the_last_counts_too():
    squared = torch.tensor([[0.0, 2.0, 1.0, 1.0, 3.0]])
    assert nearest(squared, torch.tensor(2)).tolist() == [[True, False, True, True, False]]


def test_twins_are_near_together_or_not_at_all():
    x = torch.randn(6, 2)
    x = torch.cat([x, x])
    distances = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist").square()
    mask = nearest(distances, torch.tensor(3))
    assert torch.equal(mask[:, :6], mask[:, 6:])


def test_no_gradient_flows_through_a_choice():
    squared = torch.rand(3, 4, requires_grad=True)
    assert not nearest(squared, torch.tensor(2)).requires_grad


def test_the_mean_of_the_near_is_their_mean():
    near = torch.tensor([[True, False, True], [False, True, False]])
    z = torch.tensor([[1.0, 10.0], [2.0, 20.0], [5.0, 60.0]])
    assert mean_of(near, z).tolist() == [[3.0, 35.0], [2.0, 20.0]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_largest_is_found_as_by_looking_at_every_near_row(dtype):
    near, z = torch.rand(10, 8) < 0.4, torch.randn(8, 5, dtype=dtype)
    near[:, 0] = True
    found = which_is_largest(near, z)
    for n in range(10):
        rows = near[n].nonzero()[:, 0].tolist()
        for h in range(5):
            assert found[n, h] == max(rows, key=lambda m: z[m, h])


def test_where_two_rows_are_equally_large_either_may_hold_the_maximum():
    near, z = torch.ones(2, 3, dtype=torch.bool), torch.tensor([[1.0], [1.0], [0.0]])
    assert z.gather(0, which_is_largest(near, z)).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 6, 6, 4), (3, 32, 32, 50), (2, 37, 70, 9)])
def test_every_device_finds_the_same(shape, dtype, device):
    members, n, m, h = shape
    squared, z = torch.randn(members, n, m, dtype=dtype), torch.randn(members, m, h, dtype=dtype)
    squared[0, 1, 3], squared[1, :, 2] = torch.inf, squared[1, :, 4]
    k = torch.arange(1, members + 1).to(dtype)
    near = torch.vmap(nearest)(squared, k)
    there = neighbours_cuda.nearest(squared.to(device), k.to(device))
    assert torch.equal(near, there.cpu())
    largest = neighbours_cuda.which_is_largest(near.to(device), z.to(device)).cpu()
    assert torch.equal(torch.vmap(which_is_largest)(near, z), largest)


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_not_a_number_leads_out_of_no_row(device):
    squared, z = torch.full((2, 5, 5), torch.nan), torch.full((2, 5, 3), torch.nan)
    near = neighbours_cuda.nearest(squared.to(device), torch.tensor([1.0, 2.0], device=device))
    largest = neighbours_cuda.which_is_largest(near, z.to(device))
    assert ((largest >= 0) & (largest < 5)).all()


def test_a_member_without_any_near_row_spoils_no_other_member():
    near, z = torch.ones(3, 4, 4, dtype=torch.bool), torch.randn(3, 4, 2)
    near[1], z[1] = False, torch.nan
    found = torch.vmap(which_is_largest)(near, z)
    for p in (0, 2):
        assert torch.equal(found[p], which_is_largest(near[p], z[p]))
    assert ((found >= 0) & (found < 4)).all()


def test_under_vmap_every_member_has_its_own_k():
    squared, k = torch.rand(4, 6, 7), torch.tensor([1.0, 2.0, 5.0, 7.0])
    lifted = torch.vmap(nearest)(squared, k)
    assert lifted.sum(-1).tolist() == [[int(count)] * 6 for count in k]
    for p in range(4):
        assert torch.equal(lifted[p], nearest(squared[p], k[p]))


def test_the_searches_are_lifted_over_any_axis_and_over_one_argument_alone():
    squared, near, z = torch.rand(5, 3, 4), torch.rand(3, 6, 4) < 0.6, torch.randn(4, 2)
    near[..., 0] = True
    lifted = torch.vmap(nearest, (1, None), 1)(squared, torch.tensor(2.0))
    assert torch.equal(lifted.sum(-1), torch.full((5, 3), 2))
    assert torch.equal(lifted, squared <= squared.sort(-1).values[..., 1:2])
    lifted = torch.vmap(which_is_largest, (0, None))(near, z)
    assert torch.equal(lifted, torch.stack([which_is_largest(part, z) for part in near]))
