"""The paper's shift: cluster the inputs, then test on clusters that training never saw.

`assign` finds the clusters of a table. `splits` divides its rows into training and test by whole
clusters. `folds` divides the training rows once more, to tune on, in the paper's way or in the
fair one.
"""

import warnings
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from reprior.contracts import Floats, InputError, Rows, Split
from reprior.shifts import random_rows
from reprior.shifts.divisions import of_test
from reprior.shifts.remembered import key, recall, remember

SHARE = 0.2  # of the rows, at least, are tested on
MOST = 0.4  # of the rows, at most
# What a fair fold may hold out: as a split does, else somewhat less or more, in this order.
BOUNDS = ((SHARE, MOST), (0.15, 0.5), (0.1, 0.6), (0.05, 0.7))
DRAWS = 1000  # before we believe that there is no further division


class Settings(NamedTuple):
    """How clusters are found. Other affinities serve as a sensitivity check only."""

    clusters: int = 10
    affinity: str = "nearest_neighbors"  # the usual rbf puts 97 % of wine into one cluster
    n_neighbors: int = 10
    seed: int = 0


DEFAULT = Settings()


def assign(
    x: Floats,
    clusters: int = DEFAULT.clusters,
    affinity: str = DEFAULT.affinity,
    n_neighbors: int = DEFAULT.n_neighbors,
    seed: int = DEFAULT.seed,
) -> Rows:
    """The cluster of every row, (N,): shipped with the package, cached, or computed now.

    x  (N, D), as it comes from the file; standardised here over all rows
    """
    if len(x) < clusters:
        raise InputError(
            f"There are {len(x)} rows, but {clusters} clusters were to be made of them; give more "
            "rows or ask for fewer clusters."
        )
    settings = Settings(clusters, affinity, n_neighbors, seed)
    name = key(x, **settings._asdict())
    labels = recall(name)
    if labels is None:
        labels = compute(x, settings)
        remember(name, labels)
    return labels


def compute(x: Floats, settings: Settings) -> Rows:
    """Spectral clustering itself, without any memory.

    x  (N, D)
    """
    from sklearn.cluster import SpectralClustering  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    model = SpectralClustering(
        settings.clusters,
        affinity=settings.affinity,
        n_neighbors=min(settings.n_neighbors, len(x)),
        random_state=settings.seed,
    )
    with warnings.catch_warnings():
        # Designed experiments are grids, and their neighbour graphs fall into pieces. That is no
        # fault: the pieces show in the embedding as indicators, and k-means separates them.
        warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
        # StandardScaler leaves constant columns alone.
        labels = model.fit_predict(StandardScaler().fit_transform(x))
    return np.asarray(labels, np.int64)


def splits(
    labels: Rows, count: int = 10, share: float = SHARE, most: float = MOST, seed: int = 0
) -> list[Split]:
    """Divisions by whole clusters, each with between share and most of the rows to test on.

    Clusters are drawn at random until they hold at least share of the rows; a draw with more than
    most is drawn again, and so is one that an earlier split has. If the clusters allow fewer
    than count different divisions, only those are returned, with a warning: a division counted
    twice would pass for evidence. Split i does not depend on count.

    labels  (N,) cluster of every row
    """
    if not 0 < share <= most < 1:
        raise InputError(
            f"Between {share} and {most} of the rows were to be tested on, but shares lie above 0 "
            "and below 1; give the smaller one first."
        )
    found = _draw(labels, count, ((share, most),), (seed, 0))
    if not found:
        sizes = np.unique(labels, return_counts=True)[1]
        raise InputError(
            f"No choice of these {len(sizes)} clusters ({', '.join(map(str, sizes))} rows) "
            f"holds between {share:.0%} and {most:.0%} of all rows to test on; ask for another "
            "number of clusters."
        )
    if len(found) < count:
        warnings.warn(
            f"The clusters allow {len(found)} different splits instead of {count}.", stacklevel=2
        )
    return found


def folds(labels: Rows, protocol: str = "fair", seed: int = 0, count: int = 5) -> list[Split]:
    """Divisions of training rows to tune on; row numbers count within labels.

    paper  two folds: one half of the clusters is held out, then the other
    fair   count folds, each holding out about as much as the test shift: drawn as `splits` are

    Where the training clusters do not allow count such folds, the fair ones go as little beyond
    the bounds as they must (`BOUNDS`); fewer are returned if even that does not suffice, and where
    one cluster holds nearly everything, rows are held out at random. Each time there is a warning.

    labels  (M,) cluster of every training row
    """
    if protocol not in ("paper", "fair"):
        raise InputError(f"No protocol is called {protocol!r}; choose 'paper' or 'fair'.")
    clusters = np.unique(labels)
    if protocol == "paper" and len(clusters) > 1:
        half = np.random.default_rng([seed, 0, 2]).permutation(clusters)[: len(clusters) // 2]
        held_out = np.isin(labels, half)
        return [of_test(held_out), of_test(~held_out)]
    count = 2 if protocol == "paper" else count
    found = _draw(labels, count, BOUNDS, (seed, 1))
    if not found:
        warnings.warn(
            "The training clusters cannot be divided, so folds hold out random rows.", stacklevel=2
        )
        return random_rows.splits(len(labels), count, SHARE, seed)
    if len(found) < count:
        warnings.warn(
            f"The training clusters allow {len(found)} different folds instead of {count}.",
            stacklevel=2,
        )
    outside = [fold for fold in found if not SHARE <= len(fold.test) / len(labels) <= MOST]
    if outside:
        sizes = ", ".join(f"{len(fold.test) / len(labels):.1%}" for fold in outside)
        warnings.warn(
            f"The training clusters allow too few folds that hold out between {SHARE:.0%} and "
            f"{MOST:.0%} of the rows, so {len(outside)} of {len(found)} hold out {sizes}.",
            stacklevel=2,
        )
    return found


def _draw(
    labels: Rows, count: int, bounds: Sequence[tuple[float, float]], seed: tuple[int, int]
) -> list[Split]:
    """Up to count different divisions, each within the first (share, most) that has a new one."""
    clusters, member, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    found: dict[bytes, Split] = {}
    for i in range(count):
        rng = np.random.default_rng([seed[0], i, seed[1]])
        for (share, most), _ in product(bounds, range(DRAWS)):
            order = rng.permutation(len(clusters))
            part = np.cumsum(sizes[order]) / len(labels)
            last = int(np.argmax(part >= share))  # the first that reaches the share
            chosen = np.zeros(len(clusters), bool)
            chosen[order[: last + 1]] = True
            if part[last] <= most and not chosen.all() and chosen.tobytes() not in found:
                found[chosen.tobytes()] = of_test(chosen[member])
                break
    return list(found.values())
