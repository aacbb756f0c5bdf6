import numpy as np
import torch
from scipy.spatial.distance import cdist

from reprior.benchmark.curves import BINS, LEVELS, curves, to_nearest
from reprior.likelihoods import Gaussian, mixture
from reprior.population.layout import questions, training_sets

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(300, 4)), RNG.normal(size=300)
TRAIN, TEST = [np.arange(100), np.arange(50, 150)], [np.arange(200, 300), np.arange(150, 190)]
SETS = training_sets(X, Y, TRAIN, torch.float64)
ASKED = questions(SETS, TEST)


def found(std=1.0):
    mean = torch.zeros(1, 2, 100, dtype=torch.float64)
    normal = Gaussian(mean, torch.full_like(mean, std))
    return curves(mixture(normal), ASKED, SETS, torch.tensor([0, 1]))


def test_distances_are_scipys_to_the_nearest_row():
    a, b = torch.as_tensor(X[:30]), torch.as_tensor(X[30:90])
    expected = cdist(X[:30], X[30:90]).min(1) / 2
    np.testing.assert_allclose(to_nearest(a, b), expected)


def test_shares_are_counted_over_real_rows_only():
    z = (Y[TEST[1]] - Y[TRAIN[1]].mean()) / Y[TRAIN[1]].std()
    pit = torch.special.ndtr(torch.as_tensor(z)).numpy()
    expected = [(pit <= level / LEVELS).mean() for level in range(1, LEVELS + 1)]
    np.testing.assert_allclose(found()[1]["reliability"], expected)


def test_groups_run_from_near_to_far_and_lose_no_row():
    for kept, rows in zip(found(0.5), TEST, strict=True):
        assert len(kept["reversion_rows"]) == BINS
        assert sum(kept["reversion_rows"]) == len(rows)
        assert kept["reversion_distance"] == sorted(kept["reversion_distance"])
        np.testing.assert_allclose(kept["reversion_std"], 0.5)


def test_errors_are_root_mean_squares_of_their_group():
    kept = found()[0]
    z = (Y[TEST[0]] - Y[TRAIN[0]].mean()) / Y[TRAIN[0]].std()
    weights = np.array(kept["reversion_rows"])
    pooled = (weights * np.square(kept["reversion_error"])).sum() / weights.sum()
    np.testing.assert_allclose(pooled, (z**2).mean())
