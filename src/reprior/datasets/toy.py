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


def noise_std(draws: int = 20_000, seed: int = 0) -> float:
    """Standard deviation of y given x, by simulation: root mean square over the two intervals.

    In the units of y. No model can predict this noise away, so it is the floor a predicted
    standard deviation should reach where there is data.
    """
    rng = np.random.default_rng([seed, 2])
    x = np.concatenate([np.linspace(low, high, POINTS) for low, high in INTERVALS])
    e = INPUT_NOISE * rng.standard_normal((draws, 1))
    return float(np.sqrt(true_function(x + e).var(0).mean()))


def _drawn(rng: np.random.Generator, counts: tuple[int, int]) -> Table:
    x = np.concatenate(
        [rng.uniform(*ends, n) for ends, n in zip(INTERVALS, counts, strict=True)]
    )  # (N,)
    y = true_function(x + INPUT_NOISE * rng.standard_normal(len(x)))
    return Table("toy", x[:, None], y, ("x",), "y")
