import numpy as np
import torch

from reprior.contracts import Noise
from reprior.likelihoods import gaussian
from reprior.models.multi_swag import multi_swag
from reprior.models.swag import SWAG
from reprior.networks import MLP
from reprior.population.layout import Questions, training_sets
from reprior.training import Job, default_settings, estimates, fit, predict, search_space

NET = MLP((2, 3, 2))
RNG = np.random.default_rng(0)


def rolled(wanted):
    torch.manual_seed(0)
    return {k: torch.randn(n.shape, dtype=torch.float64) for k, n in wanted.items()}


def walked(rank, looks):
    """A recorded path of weights, and what the model keeps of it."""
    torch.manual_seed(1)
    model = SWAG(NET, gaussian.from_outputs, draws=6, rank=rank)
    path = [rolled_start(model) for _ in range(looks)]
    kept = model.set_out(path[0])
    for i, params in enumerate(path):
        kept = model.collect(kept, params, torch.tensor(float(i), dtype=torch.float64))
    flat = np.stack([np.concatenate([v.flatten() for v in params.values()]) for params in path])
    return model, kept, flat


def rolled_start(model):
    noise = model.start_noise()
    return model.init({k: torch.rand(n.shape, dtype=torch.float64) for k, n in noise.items()})


def joined(kept, part, axis):
    values = [v.flatten(axis) for name, v in kept.items() if name.startswith(f"{part}.")]
    return torch.cat(values, -1).numpy()


def test_mean_and_variance_are_numpys_over_the_recorded_path():
    _, kept, path = walked(rank=4, looks=9)
    np.testing.assert_allclose(joined(kept, "mean", 0), path.mean(0), rtol=1e-12)
    np.testing.assert_allclose(joined(kept, "variance", 0), path.var(0), rtol=1e-10)


def test_deviations_are_the_latest_ones_from_the_mean_so_far():
    _, kept, path = walked(rank=4, looks=9)
    expected = [path[i] - path[: i + 1].mean(0) for i in range(5, 9)]
    np.testing.assert_allclose(joined(kept, "deviation", 1), expected, atol=1e-12)


def test_drawn_weights_have_the_mean_and_covariance_of_the_paper():
    model, kept, path = walked(rank=5, looks=8)
    model = SWAG(NET, gaussian.from_outputs, draws=200_000, rank=5)
    noise = model.prediction_noise()
    theta = model.sample(kept, rolled(noise))
    drawn = torch.cat([v.flatten(1) for v in theta.values()], 1).numpy()
    deviations = np.stack([path[i] - path[: i + 1].mean(0) for i in range(3, 8)])
    expected = np.diag(path.var(0)) / 2 + deviations.T @ deviations / (2 * 4)
    np.testing.assert_allclose(drawn.mean(0), path.mean(0), atol=0.005)
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.005)


def test_a_walk_that_stands_still_predicts_the_one_network_it_stands_at():
    model = SWAG(NET, gaussian.from_outputs, draws=4, rank=3)
    params = rolled_start(model)
    kept = model.set_out(params)
    for i in range(5):
        kept = model.collect(kept, params, torch.tensor(float(i), dtype=torch.float64))
    x = torch.randn(7, 2, dtype=torch.float64)
    found = model.predict(kept, x, {}, rolled(model.prediction_noise())).components
    expected = gaussian.from_outputs(NET.run(params, x))
    torch.testing.assert_close(found.mean, expected.mean.expand(4, 7))
    torch.testing.assert_close(found.std, expected.std.expand(4, 7))


def job(model, epochs=10, walk_lr=1e-3):
    x, y = RNG.normal(size=(30, 2)), RNG.normal(size=30)
    sets = training_sets(x, y, [np.arange(24), np.arange(8, 30)], torch.float64)
    settings = default_settings(search_space(model, None), 2 * model.members, walk_lr=walk_lr)
    group = torch.arange(2).repeat_interleave(model.members)
    return Job(model, None, sets, group, settings, epochs, batch=8, seed=3)


def test_the_last_two_fifths_of_training_are_walked_and_looked_at_once_an_epoch():
    model = SWAG(NET, gaussian.from_outputs, rank=20)
    walk = fit(job(model)).theta
    looked = walk["deviation.weight0"].abs().sum((-1, -2)) > 0
    # The first look is the mean itself and deviates by nothing.
    assert looked.sum(1).tolist() == [3, 3]
    still = fit(job(model, walk_lr=0.0)).theta
    assert float(still["variance.weight0"].abs().max()) < 1e-20


def test_multi_swag_mixes_its_parts_equally():
    model = multi_swag(NET, gaussian.from_outputs)
    this = job(model)
    trained = fit(this)
    x = torch.randn(2, 4, 2, dtype=torch.float64)
    asked = Questions(x, x[..., 0], torch.ones(2, 4, dtype=torch.bool))
    parts = predict(model, trained.theta, this.settings, asked, this.group, seed=1)
    whole = estimates(parts, 5)
    y = torch.randn(4, dtype=torch.float64)
    each = parts.log_prob(y.expand(10, 4)).view(2, 5, 4)
    torch.testing.assert_close(whole.log_prob(y.expand(2, 4)), each.exp().mean(1).log())
    torch.testing.assert_close(whole.mean, parts.mean.view(2, 5, 4).mean(1))


def test_a_prediction_asks_for_one_number_per_weight_and_draw_and_one_per_deviation():
    model = SWAG(NET, gaussian.from_outputs)
    assert model.prediction_noise()["low_rank"] == Noise("normal", (20, 20))
    assert model.prediction_noise()["diagonal.weight0"] == Noise("normal", (20, 2, 3))


def test_a_walk_shorter_than_the_rank_is_scaled_by_the_looks_there_were():
    _, kept, path = walked(rank=20, looks=4)
    model = SWAG(NET, gaussian.from_outputs, draws=200_000, rank=20)
    theta = model.sample(kept, rolled(model.prediction_noise()))
    drawn = torch.cat([v.flatten(1) for v in theta.values()], 1).numpy()
    deviations = np.stack([path[i] - path[: i + 1].mean(0) for i in range(4)])
    expected = np.diag(path.var(0)) / 2 + deviations.T @ deviations / (2 * 3)
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.005)
