import numpy as np
import pytest
import torch

from reprior.population.layout import Batches, questions, training_sets

RNG = np.random.default_rng(0)
X = RNG.normal(3.0, 2.0, (30, 4))
X[:, 2] = 0.1 + 0.2  # constant, and not representable
Y = RNG.normal(-1.0, 5.0, 30)
ROWS = [np.arange(10), np.arange(5, 28)]


def sets():
    return training_sets(X, Y, ROWS, torch.float64)


def test_each_set_is_scaled_by_its_own_rows_alone():
    made = sets()
    for g, rows in enumerate(ROWS):
        seen = made.x[g, rows]
        expected = [0.0] * 4, [1.0, 1.0, 0.0, 1.0]
        np.testing.assert_allclose(seen.mean(0), expected[0], atol=1e-12)
        np.testing.assert_allclose(seen.std(0, correction=0), expected[1], atol=1e-12)
        assert made.y[g, rows].mean() == pytest.approx(0, abs=1e-12)
        assert made.scaling.y_std[g] == pytest.approx(Y[rows].std())
        np.testing.assert_allclose(made.reach[g], np.ptp(seen.numpy(), axis=0))


def test_a_constant_column_is_no_error_and_stays_zero():
    assert sets().x[..., 2].abs().max() < 1e-12


def test_an_epoch_shows_every_member_each_of_its_rows_and_no_other():
    made, group = sets(), torch.tensor([0, 1, 1])
    batches = Batches(made, group, 4, torch.Generator().manual_seed(0))
    assert batches.steps.tolist() == [3, 6, 6]
    batches.shuffle()
    seen = [[] for _ in group]
    for _ in range(batches.steps_per_epoch):
        going = batches.take()
        for p in range(3):
            if going[p]:
                seen[p].extend(batches.current.y[p].tolist())
    for p, g in enumerate(group.tolist()):
        assert set(seen[p]) == set(made.y[g, ROWS[g]].tolist())
        assert len(seen[p]) == 4 * batches.steps[p]
    assert seen[1] != seen[2]


def test_x_and_y_of_a_batch_belong_to_the_same_rows():
    made = sets()
    batches = Batches(made, torch.tensor([1]), 8, torch.Generator().manual_seed(1))
    batches.shuffle()
    batches.take()
    pairs = {float(y): x for x, y in zip(made.x[1], made.y[1], strict=True)}
    for x, y in zip(batches.current.x[0], batches.current.y[0], strict=True):
        assert torch.equal(pairs[float(y)], x)


def test_a_batch_larger_than_the_set_is_filled_with_its_own_rows():
    made = sets()
    batches = Batches(made, torch.tensor([0]), 16, torch.Generator().manual_seed(1))
    batches.shuffle()
    batches.take()
    counts = [(batches.current.y[0] == y).sum().item() for y in made.y[0, ROWS[0]]]
    assert sum(counts) == 16
    assert set(counts) == {1, 2}


def test_the_rows_that_come_with_a_batch_are_the_ones_its_member_sees_next():
    made = sets()
    batches = Batches(made, torch.tensor([1]), 4, torch.Generator().manual_seed(2), others=6)
    batches.shuffle()
    batches.take()
    following = batches.current.others[0].clone()
    batches.take()
    assert torch.equal(following[:4], batches.current.x[0])
    batches.take()
    assert torch.equal(following[4:], batches.current.x[0, :2])


def test_a_label_that_is_constant_but_for_rounding_is_not_blown_up():
    made = training_sets(X, np.full(30, 0.1) + 1e-17, ROWS, torch.float64)
    assert made.y.abs().max() < 1e-12


def test_questions_are_scaled_as_their_set_and_padding_is_marked():
    made = sets()
    asked = questions(made, [np.array([29]), np.array([0, 1, 2])])
    assert asked.mask.tolist() == [[True, False, False], [True, True, True]]
    assert torch.equal(asked.x[0, 0], made.x[0, 29])
    assert torch.equal(asked.y[1], made.y[1, :3])
