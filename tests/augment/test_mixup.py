import numpy as np
import pytest
import scipy.stats
import torch

from reprior.augment.mixup import TRIES, Mixup, beta
from reprior.contracts import Batch


@pytest.mark.parametrize("alpha", [0.1, 0.4, 1.0])
def test_shares_are_beta_distributed(alpha):
    torch.manual_seed(0)
    pairs = torch.rand(20_000, TRIES, 2, dtype=torch.float64)
    drawn = torch.vmap(beta, in_dims=(0, None))(pairs, torch.tensor(alpha).double()).numpy()
    levels = np.linspace(0.01, 0.99, 99)
    share = (drawn[:, None] <= levels).mean(0)
    error = 0.5 / np.sqrt(len(drawn))
    assert np.abs(share - scipy.stats.beta(alpha, alpha).cdf(levels)).max() < 3.5 * error


def test_rows_and_labels_lie_on_the_line_between_two_real_rows():
    torch.manual_seed(0)
    x, y = torch.randn(8, 3, dtype=torch.float64), torch.randn(8, dtype=torch.float64)
    batch = Batch(x, y, torch.ones(3), torch.tensor(8.0), x[:0])
    draws = {"pairs": torch.rand(TRIES, 2, dtype=torch.float64)}
    settings = {"alpha": torch.tensor(1.0).double()}
    share = float(beta(draws["pairs"], settings["alpha"]))
    mixed = Mixup(3).mix(batch, settings, draws)
    for n in range(8):
        np.testing.assert_allclose(mixed.x[n], share * x[n] + (1 - share) * x[n - 1])
        np.testing.assert_allclose(mixed.y[n], share * y[n] + (1 - share) * y[n - 1])
    assert torch.equal(mixed.rows, batch.rows)
