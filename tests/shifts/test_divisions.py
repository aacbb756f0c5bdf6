import hashlib

import numpy as np

from reprior.contracts import Split
from reprior.shifts.divisions import fingerprint, of_test, within


def test_marked_rows_are_tested_on_and_the_others_trained_on():
    split = of_test(np.array([False, True, False, True]))
    assert split.train.tolist() == [0, 2]
    assert split.test.tolist() == [1, 3]
    assert split.test.dtype == np.int64


def test_a_fold_of_training_rows_maps_back_to_the_table():
    train = np.array([10, 20, 30, 40])
    fold = within(train, Split(np.array([0, 3]), np.array([1, 2])))
    assert fold.train.tolist() == [10, 40]
    assert fold.test.tolist() == [20, 30]


def test_a_fingerprint_is_the_hash_of_the_row_numbers():
    split = Split(np.array([0, 2]), np.array([1]))
    by_hand = b"2:" + (0).to_bytes(8, "little") + (2).to_bytes(8, "little")
    by_hand += b"1:" + (1).to_bytes(8, "little")
    assert fingerprint([split]) == hashlib.sha256(by_hand).hexdigest()


def test_a_fingerprint_changes_with_any_row_the_role_and_the_order():
    a = Split(np.array([0, 2]), np.array([1]))
    b = Split(np.array([0, 1]), np.array([2]))
    prints = [fingerprint(s) for s in ([a], [b], [a, b], [b, a], [Split(a.test, a.train)])]
    assert len(set(prints)) == 5
