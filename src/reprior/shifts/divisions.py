"""What every way of dividing rows shares: building a Split, mapping it, and naming it by a hash."""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from reprior.contracts import Rows, Split


def of_test(test: NDArray[np.bool_]) -> Split:
    """The split whose test rows are marked.

    test  (N,)
    """
    return Split(train=np.flatnonzero(~test), test=np.flatnonzero(test))


def within(rows: Rows, split: Split) -> Split:
    """A split made of some rows, in the numbers of the table those rows come from.

    rows   (M,) where row m of the smaller table stands in the larger one
    split  of the M rows: a fold of a split's training rows, say
    """
    return Split(train=rows[split.train], test=rows[split.test])


def fingerprint(splits: Iterable[Split]) -> str:
    """One hash for these splits in this order: the same anywhere, another if a row moves."""
    seen = hashlib.sha256()
    for split in splits:
        for rows in split:
            seen.update(f"{len(rows)}:".encode())
            seen.update(np.ascontiguousarray(rows, "<i8").tobytes())
    return seen.hexdigest()
