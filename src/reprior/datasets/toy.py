"""The paper's one-dimensional example: a wavy line seen on two intervals, with a gap between.

    y = x' + sin(4x') + sin(13x'),  x' = x + e,  e ~ N(0, 0.03²)

The noise sits on the input, so its size in y follows the slope of the line.
"""

import numpy as np

from reprior.contracts import Floats, Table

INPUT_NOISE = 0.03  # a standard deviation
INTERVALS = ((0.0, 0.4), (0.8, 1.0))
POINTS = 100  # in each interval


def true_function(x: Floats) -> Floats:
    """The line without noise, elementwise."""
    return x + np.sin(4 * x) + np.sin(13 * x)


def toy(seed: int = 0) -> Table:
    """The training set: 100 points in each interval, drawn uniformly."""
    return _drawn(np.random.default_rng([seed, 0]), (POINTS, POINTS))


def fresh(seed: int = 0, n: int = 1000) -> Table:
    """n further points from the same two intervals: a test set without shift."""
    return _drawn(np.random.default_rng([seed, 1]), (n - n // 2, n // 2))


def noise_std(x: Floats, draws: int = 20_000, seed: int = 0) -> Floats:
    """Standard deviation of y given each x (N,), by simulation, in the units of y.

    No model can predict this noise away: it is what a predicted standard deviation should reach
    where there is data.
    """
    e = INPUT_NOISE * np.random.default_rng([seed, 2]).standard_normal((draws, 1))
    spread: Floats = true_function(x + e).std(0)
    return spread


def _drawn(rng: np.random.Generator, counts: tuple[int, int]) -> Table:
    x = np.concatenate(
        [rng.uniform(*ends, n) for ends, n in zip(INTERVALS, counts, strict=True)]
    )  # (N,)
    y = true_function(x + INPUT_NOISE * rng.standard_normal(len(x)))
    return Table("toy", x[:, None], y, ("x",), "y")
