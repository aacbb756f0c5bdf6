import numpy as np
import scipy.stats
import torch

from reprior.augment import PAD
from reprior.augment.noise import GaussianNoise
from reprior.likelihoods import Gaussian


def test_rows_move_by_a_scale_that_is_log_uniform():
    torch.manual_seed(0)
    x = torch.randn(5000, 2, dtype=torch.float64)
    draws = {
        "epsilon": torch.randn(5000, 2, dtype=torch.float64),
        "scale": torch.rand(5000, 1, dtype=torch.float64),
    }
    moved = GaussianNoise(2).propose({}, x, None, draws).x - x
    scale = np.log((moved / draws["epsilon"])[:, 0].numpy())
    low, high = np.log(0.1), np.log(3.0)
    assert scipy.stats.kstest(scale, scipy.stats.uniform(low, high - low).cdf).pvalue > 0.01


def test_weight_and_pull_are_pads():
    torch.manual_seed(0)
    noise, pad = GaussianNoise(3), PAD(3)
    x, pseudo = torch.randn(2, 6, 3, dtype=torch.float64)
    settings = {"ell": torch.tensor(0.7).double()}
    weight = noise.weight(pseudo, x, settings)
    assert torch.equal(weight, pad.weight(pseudo, x, settings))
    labels = Gaussian(x[:, 0], 0.1 + x[:, 1].abs())
    assert torch.equal(
        noise.pull(labels, labels, weight, settings), pad.pull(labels, labels, weight, settings)
    )
    assert noise.space["ell"] == pad.space["ell"]
