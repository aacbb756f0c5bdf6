"""Neighbour masks and the two searches, against plain loops and torch.topk."""

import pytest
import torch

from reprior.augment.neighbours import (
    mean_of,
    nearest,
    sorted_values,
    squared_distances,
    which_is_largest,
)

DTYPES = [torch.float32, torch.float64]


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
    assert not sorted_values(squared.detach()).requires_grad


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


def test_both_ways_of_finding_the_largest_agree():
    from reprior.augment import neighbours

    near, z = torch.rand(2, 6, 6) < 0.5, torch.randn(2, 6, 4)
    near |= torch.eye(6, dtype=torch.bool)
    assert torch.equal(
        neighbours._largest_by_bags(near, z), neighbours._largest_side_by_side(near, z)
    )


def test_both_ways_of_sorting_agree_also_on_what_is_not_a_number():
    from reprior.augment import neighbours

    values = torch.randn(4, 9)
    values[1, 3], values[2, 5] = torch.nan, torch.inf
    both = neighbours._sorted_by_numpy(values), neighbours._sorted_by_torch(values)
    assert torch.equal(both[0].nan_to_num(7e7), both[1].nan_to_num(7e7))


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
    values, near, z = torch.rand(5, 3, 4), torch.rand(3, 6, 4) < 0.6, torch.randn(4, 2)
    near[..., 0] = True
    torch.testing.assert_close(torch.vmap(sorted_values, 1, 1)(values), values.sort(-1).values)
    lifted = torch.vmap(which_is_largest, (0, None))(near, z)
    assert torch.equal(lifted, torch.stack([which_is_largest(part, z) for part in near]))
