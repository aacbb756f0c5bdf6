import numpy as np
import torch
from torch.distributions import Normal, kl_divergence

from reprior.contracts import Batch
from reprior.likelihoods import gaussian
from reprior.models.rank_one_bnn import START_STD, RankOneBNN
from reprior.networks import MLP

NET = MLP((3, 4, 5, 2))
MODEL = RankOneBNN(NET, gaussian.from_outputs)
SETTINGS = {"prior_std": torch.tensor(0.2).double()}


def rolled(wanted):
    fill = {"normal": torch.randn, "uniform": torch.rand}
    return {k: fill[n.kind](n.shape, dtype=torch.float64) for k, n in wanted.items()}


def made():
    torch.manual_seed(0)
    params = MODEL.init(rolled(MODEL.start_noise()))
    params = {k: v + 0.1 * torch.randn_like(v) for k, v in params.items()}
    return params, torch.randn(7, 3, dtype=torch.float64)


def by_explicit_weights(params, x, draws, component, draw=None):
    """The network whose weights are W ∘ (r sᵀ), layer by layer."""
    row = component if draw is None else draw
    for i in range(3):
        r, s = (
            1
            + params[f"{f}{i}.mean"][component]
            + START_STD * params[f"{f}{i}.width"][component].exp() * draws[f"{f}{i}"][row]
            for f in "rs"
        )
        x = x @ (params[f"weight{i}"] * torch.outer(r, s)) + params[f"bias{i}"][component]
        x = x.relu() if i < 2 else x
    return x


def test_a_forward_pass_is_that_of_the_explicit_weights():
    params, x = made()
    draws = rolled(MODEL.noise(7))
    found = MODEL.density(params, x, SETTINGS, draws)
    assert found.mean.shape == (4, 7)
    for c in range(4):
        expected = gaussian.from_outputs(by_explicit_weights(params, x, draws, c))
        torch.testing.assert_close(found.mean[c], expected.mean)
        torch.testing.assert_close(found.std[c], expected.std)


def test_a_prediction_mixes_five_draws_of_each_of_four_components():
    params, x = made()
    draws = rolled(MODEL.prediction_noise())
    found = MODEL.predict(params, x, SETTINGS, draws)
    assert found.components.mean.shape == (20, 7)
    for s in range(20):
        expected = by_explicit_weights(params, x, draws, s // 5, s)[:, 0]
        torch.testing.assert_close(found.components.mean[s], expected)


def test_the_divergence_is_that_of_torchs_normals():
    params, _ = made()
    total = 0.0
    for i, (into, out) in enumerate([(3, 4), (4, 5), (5, 2)]):
        for factor, width in (("r", into), ("s", out)):
            mean = 1 + params[f"{factor}{i}.mean"]
            std = START_STD * params[f"{factor}{i}.width"].exp()
            assert mean.shape == (4, width)
            total += kl_divergence(Normal(mean, std), Normal(1.0, 0.2)).sum() / 4
    torch.testing.assert_close(MODEL.divergence(params, SETTINGS), total)


def test_the_loss_is_the_mean_over_components_plus_the_divergence_of_one_row():
    params, x = made()
    draws, y = rolled(MODEL.noise(7)), torch.randn(7, dtype=torch.float64)
    batch = Batch(x, y, torch.ones(3).double(), torch.tensor(40.0).double(), x[:0])
    loss, labels = MODEL.loss(params, batch, SETTINGS, draws)
    nll = -Normal(labels.mean, labels.std).log_prob(y).mean()
    torch.testing.assert_close(loss, nll + MODEL.divergence(params, SETTINGS) / 40)


def test_components_start_around_the_prior_and_apart():
    torch.manual_seed(0)
    params = MODEL.init(rolled(MODEL.start_noise()))
    means = torch.cat([v.flatten() for k, v in params.items() if k.endswith(".mean")])
    assert np.isclose(float(means.std()), START_STD, rtol=0.3)
    assert params["r0.mean"][:, 0].unique().numel() == 4
