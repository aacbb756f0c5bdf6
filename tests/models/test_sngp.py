import numpy as np
import torch
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from reprior.contracts import TrainingRows
from reprior.likelihoods import gaussian
from reprior.models.sngp import SNGP, bounded
from reprior.networks import MLP

NET = MLP((3, 6, 6, 2))
SETTINGS = {
    "spectral_bound": torch.tensor(0.9).double(),
    "length_scale": torch.tensor(0.5).double(),
    "amplitude": torch.tensor(1.5).double(),
}


def made(frequencies):
    torch.manual_seed(0)
    model = SNGP(NET, gaussian.from_outputs, frequencies)
    fill = {"normal": torch.randn, "uniform": torch.rand}
    noise = model.start_noise()
    return model, model.init(
        {k: fill[n.kind](n.shape, dtype=torch.float64) for k, n in noise.items()}
    )


def test_a_layers_gain_is_bounded_and_a_smaller_one_is_left_alone():
    torch.manual_seed(0)
    weight = torch.randn(6, 6, dtype=torch.float64)
    gain = float(torch.linalg.matrix_norm(weight, 2))
    cut = bounded(weight, torch.tensor(0.9).double())
    assert 0.85 < float(torch.linalg.matrix_norm(cut, 2)) < 1.0
    assert torch.equal(bounded(weight, torch.tensor(1.1 * gain).double()), weight)


def test_products_of_features_are_the_rbf_kernel():
    model, params = made(200_000)
    h = torch.randn(5, 6, dtype=torch.float64)
    phi = model._phi(params, h, SETTINGS)
    squared = (h[:, None] - h).square().sum(-1)
    expected = 1.5**2 * torch.exp(-squared / (2 * (0.5 * 6**0.5) ** 2))
    torch.testing.assert_close(phi @ phi.T, expected, rtol=0, atol=0.03)


def test_the_variance_is_that_of_a_gaussian_process_over_the_hidden_features():
    model, params = made(2000)
    x = torch.randn(30, 3, dtype=torch.float64)
    rows = TrainingRows(x, x[:, 0], torch.ones(30, dtype=torch.bool))
    closed = model.close(params, rows, SETTINGS)
    asked = torch.randn(12, 3, dtype=torch.float64)
    found = model.predict(closed, asked, SETTINGS, {}).std.numpy()
    noise = float(params["noise"].exp()) + 1e-3
    kernel = ConstantKernel(1.5**2, "fixed") * RBF(0.5 * 6**0.5, "fixed")
    process = GaussianProcessRegressor(kernel, alpha=noise**2, optimizer=None)
    hidden = [model._run(params, rows, SETTINGS).numpy() for rows in (x, asked)]
    process.fit(hidden[0], x[:, 0].numpy())
    latent = process.predict(hidden[1], return_std=True)[1]
    np.testing.assert_allclose(found, np.sqrt(latent**2 + noise**2), rtol=0.02)


def test_far_from_all_data_the_variance_is_the_processs_own_and_the_noise():
    model, params = made(500)
    x = torch.randn(30, 3, dtype=torch.float64)
    rows = TrainingRows(x, x[:, 0], torch.ones(30, dtype=torch.bool))
    closed = model.close(params, rows, SETTINGS)
    far = model.predict(closed, 1000 + x, SETTINGS, {}).std
    noise = float(params["noise"].exp()) + 1e-3
    expected = (1.5**2 + noise**2) ** 0.5
    assert 0.85 * expected < float(far.mean()) <= expected
