import numpy as np
import pytest

from reprior.contracts import InputError
from reprior.shifts.random_rows import single, splits


def test_every_split_divides_all_rows_in_the_share():
    for split in splits(50, 10, 0.2):
        assert len(split.test) == 10
        assert sorted([*split.train, *split.test]) == list(range(50))
        assert (np.diff(split.train) > 0).all()
        assert (np.diff(split.test) > 0).all()


def test_a_seed_fixes_the_splits_and_a_longer_list_begins_with_the_shorter():
    first, again = splits(50, 2, seed=3), splits(50, 5, seed=3)[:2]
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.test, b.test)
    assert not np.array_equal(splits(50, 1, seed=4)[0].test, first[0].test)
    np.testing.assert_array_equal(single(50, seed=3).test, first[0].test)


def test_two_rows_are_enough_and_one_is_not():
    assert [len(rows) for rows in single(2)] == [1, 1]
    with pytest.raises(InputError, match="There are 1 rows"):
        single(1)
