"""No shift at all: test rows drawn at random. What the paper tunes its plain models on."""

import numpy as np

from reprior.contracts import InputError, Split
from reprior.shifts.divisions import of_test


def splits(n: int, count: int = 10, share: float = 0.2, seed: int = 0) -> list[Split]:
    """count independent divisions of n rows, each with about share of them to test on."""
    return [_split(n, share, np.random.default_rng([seed, i])) for i in range(count)]


def single(n: int, share: float = 0.2, seed: int = 0) -> Split:
    """One division: the paper's 80/20 of training and validation."""
    return splits(n, 1, share, seed)[0]


def _split(n: int, share: float, rng: np.random.Generator) -> Split:
    if n < 2:
        raise InputError(
            f"There are {n} rows to divide into training and test, but each needs at least one; "
            "give more rows."
        )
    held_out = min(max(round(share * n), 1), n - 1)
    test = np.zeros(n, bool)
    test[rng.permutation(n)[:held_out]] = True
    return of_test(test)
