import numpy as np
import torch
from sklearn.linear_model import BayesianRidge

from reprior.contracts import TrainingRows
from reprior.likelihoods import gaussian
from reprior.models.laplace import Laplace
from reprior.networks import MLP

NET = MLP((3, 6, 5, 2))
MODEL = Laplace(NET, gaussian.from_outputs)
SETTINGS = {"prior_precision": torch.tensor(3.0).double()}


def made(rows=40):
    torch.manual_seed(0)
    params = MODEL.init(
        {k: torch.rand(n.shape, dtype=torch.float64) for k, n in MODEL.start_noise().items()}
    )
    x, y = torch.randn(rows, 3, dtype=torch.float64), torch.randn(rows, dtype=torch.float64)
    return params, TrainingRows(x, y, torch.ones(rows, dtype=torch.bool))


def features(params, x):
    h = NET.run(params, x, 0, 2).numpy()
    return np.concatenate([h, np.ones((len(h), 1))], 1)


def test_the_covariance_is_that_of_a_bayesian_linear_model_on_the_last_features():
    params, rows = made()
    inverse = MODEL.close(params, rows, SETTINGS)["whitener"].numpy()
    found = inverse.T @ inverse
    phi = features(params, rows.x)
    noise = float(params["noise"].exp()) + 1e-3
    expected = np.linalg.inv(phi.T @ phi / noise**2 + 3 * np.eye(6))
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    # Other people's posterior covariance at the same fixed precisions.
    ridge = BayesianRidge(
        alpha_init=1 / noise**2, lambda_init=3.0, max_iter=1, fit_intercept=False,
        alpha_1=1e12, alpha_2=1e12 * noise**2, lambda_1=1e12, lambda_2=1e12 / 3,
    ).fit(phi, rows.y.numpy())  # fmt: skip
    np.testing.assert_allclose(found, ridge.sigma_, rtol=1e-5)


def test_a_prediction_adds_the_noise_to_what_the_weights_leave_open():
    params, rows = made()
    closed = MODEL.close(params, rows, SETTINGS)
    x = torch.randn(9, 3, dtype=torch.float64)
    found = MODEL.predict(closed, x, SETTINGS, {})
    phi = features(params, x)
    noise = float(params["noise"].exp()) + 1e-3
    seen = features(params, rows.x)
    covariance = np.linalg.inv(seen.T @ seen / noise**2 + 3 * np.eye(6))
    variance = noise**2 + np.einsum("ni,ij,nj->n", phi, covariance, phi)
    np.testing.assert_allclose(found.std.numpy(), np.sqrt(variance), rtol=1e-10)
    np.testing.assert_allclose(found.mean.numpy(), NET.run(params, x)[:, 0].numpy(), rtol=1e-12)


def test_rows_that_only_fill_up_a_list_change_nothing():
    params, rows = made()
    mask = torch.arange(40) < 30
    cut = TrainingRows(rows.x[:30], rows.y[:30], mask[:30])
    found = MODEL.close(params, TrainingRows(rows.x, rows.y, mask), SETTINGS)
    torch.testing.assert_close(found["whitener"], MODEL.close(params, cut, SETTINGS)["whitener"])
