import torch
from torch.distributions import MultivariateNormal, Normal

from reprior.contracts import Batch
from reprior.likelihoods import gaussian
from reprior.models.functional_bnn import (
    BLUR,
    START_STD,
    FunctionalBNN,
    divergence_surrogate,
    process_score,
    spectral_score,
)
from reprior.networks import MLP

NET = MLP((2, 5, 2))
MODEL = FunctionalBNN(NET, gaussian.from_outputs, functions=6, measured=4)
SETTINGS = {"prior_length": torch.tensor(1.0).double()}


def rolled(wanted):
    fill = {"normal": torch.randn, "uniform": torch.rand}
    return {k: fill[n.kind](n.shape, dtype=torch.float64) for k, n in wanted.items()}


def made():
    torch.manual_seed(0)
    params = MODEL.init(rolled(MODEL.start_noise()))
    x, y = torch.randn(8, 2, dtype=torch.float64), torch.randn(8, dtype=torch.float64)
    reach = torch.tensor([3.0, 4.0]).double()
    return params, Batch(x, y, reach, torch.tensor(30.0).double(), x[:0])


def test_the_estimated_score_of_a_gaussian_is_near_the_known_one():
    torch.manual_seed(0)
    mean, scale = torch.tensor([1.0, -2.0]), torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    known = MultivariateNormal(mean, scale_tril=scale)
    samples = known.sample((400,)).double()
    covariance = (scale @ scale.T).double()
    expected = -(samples - mean) @ torch.linalg.inv(covariance)
    found = spectral_score(samples)
    near = ((samples - mean) @ torch.linalg.inv(scale.double()).T).norm(dim=1) < 1.5
    error = (found - expected)[near].square().mean() / expected[near].square().mean()
    assert error < 0.05


def test_the_processs_score_is_the_slope_of_its_density():
    torch.manual_seed(0)
    where, length = torch.randn(5, 2, dtype=torch.float64), torch.tensor(1.3, dtype=torch.float64)
    squared = (where[:, None] - where).square().sum(-1)
    kernel = torch.exp(-squared / (2 * 1.3**2)) + BLUR**2 * torch.eye(5).double()
    values = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    density = MultivariateNormal(torch.zeros(5).double(), kernel).log_prob(values).sum()
    (expected,) = torch.autograd.grad(density, values)
    torch.testing.assert_close(process_score(values.detach(), where, length), expected)


def test_the_pull_moves_functions_towards_the_process():
    """Descent on the functions themselves leaves them with about the process's own variance."""
    torch.manual_seed(0)
    where = torch.tensor([[-4.0], [0.0], [4.0]]).double()  # all but independent under the prior
    values = (0.2 * torch.randn(60, 3)).double()
    start = values.var(0).mean()
    for _ in range(300):
        values = values.detach().requires_grad_()
        pull = divergence_surrogate(values, where, torch.tensor(1.0).double())
        (slope,) = torch.autograd.grad(pull, values)
        values = values - 3.0 * slope
    assert start < 0.06
    assert 0.6 < float(values.detach().var(0).mean()) < 1.5


def test_a_prediction_mixes_networks_with_drawn_weights():
    params, batch = made()
    draws = rolled(MODEL.prediction_noise())
    found = MODEL.predict(params, batch.x, SETTINGS, draws).components
    assert found.mean.shape == (20, 8)
    for s in (0, 7):
        theta = {
            k: params[k] + START_STD * params[f"{k}.width"].exp() * draws[k][s] for k in NET.noise()
        }
        torch.testing.assert_close(found.mean[s], NET.run(theta, batch.x)[:, 0])


def test_the_loss_has_the_mean_likelihood_over_drawn_functions():
    params, batch = made()
    draws = rolled(MODEL.noise(8))
    far = batch._replace(rows=torch.tensor(torch.inf).double())
    loss, labels = MODEL.loss(params, far, SETTINGS, draws)
    assert labels.mean.shape == (6, 8)
    expected = -Normal(labels.mean, labels.std).log_prob(batch.y).mean()
    torch.testing.assert_close(loss, expected)
