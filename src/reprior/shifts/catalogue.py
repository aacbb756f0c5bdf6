"""Every way of dividing a table into training and test rows, by its name: one line each."""

from collections.abc import Callable

from reprior.contracts import Rows, Split
from reprior.shifts import clusters, random_rows

# From the cluster of every row, (N,), and how many splits are wanted.
SHIFTS: dict[str, Callable[[Rows, int], list[Split]]] = {
    "cluster": lambda labels, count: clusters.splits(labels, count),
    "random": lambda labels, count: random_rows.splits(len(labels), count),
}
