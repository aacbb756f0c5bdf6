import pytest
import torch
from scipy import stats

from reprior.contracts import Noise
from reprior.population.randomness import Dice, fill_uniform


def dice(rows=slice(None), members=6, seed=3):
    wanted = {
        "a": {"u": Noise("uniform", (40, 5)), "k": Noise("uniform", ())},
        "b": {"n": Noise("normal", (40,))},
    }
    generator = torch.Generator().manual_seed(seed)
    return Dice(wanted, members, generator, torch.float64, rows)


def test_uniform_numbers_are_uniform_and_never_reach_the_ends():
    buffer = torch.empty(100_000)
    fill_uniform(buffer, torch.Generator().manual_seed(0))
    assert 0 < buffer.min() < 1e-4
    assert 1 - 1e-4 < buffer.max() < 1
    assert stats.kstest(buffer.numpy(), "uniform").pvalue > 0.01


def test_neighbouring_uniform_numbers_are_unrelated():
    buffer = torch.empty(100_000)
    fill_uniform(buffer, torch.Generator().manual_seed(1))
    for lag in (1, 2, 3, 4, 8):
        assert abs(stats.pearsonr(buffer[lag:], buffer[:-lag]).statistic) < 0.015


def test_every_roll_is_fresh_and_in_the_same_buffers():
    some = dice()
    first = some.roll()["b"]["n"]
    kept = first.clone()
    second = some.roll()["b"]["n"]
    assert second.data_ptr() == first.data_ptr()
    assert not torch.equal(second, kept)


@pytest.mark.parametrize("rows", [slice(0, 3), slice(3, 6), slice(2, 3)])
def test_part_of_a_population_sees_the_numbers_it_saw_in_the_whole(rows):
    whole, part = dice(), dice(rows)
    for _ in range(2):
        all_values, some_values = whole.roll(), part.roll()
        for group, names in all_values.items():
            for name, value in names.items():
                assert torch.equal(value[rows], some_values[group][name])
