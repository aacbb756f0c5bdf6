import pytest
import torch

from reprior.contracts import Batch
from reprior.likelihoods import gaussian
from reprior.models import MCDropout
from reprior.networks import MLP

NET = MLP((3, 6, 5, 2))


def made(net=NET, draws=20, dropout=0.3, dtype=torch.float64):
    torch.manual_seed(0)
    model = MCDropout(net, gaussian.from_outputs, draws)
    params = model.init({k: torch.rand(n.shape, dtype=dtype) for k, n in net.noise().items()})
    return model, params, {"dropout": torch.tensor(dropout, dtype=dtype)}


def rolled(wanted, dtype=torch.float64):
    return {k: torch.rand(n.shape, dtype=dtype) for k, n in wanted.items()}


def test_training_has_a_mask_of_its_own_for_every_row_and_prediction_one_for_all():
    model, params, settings = made(dropout=0.5)
    x = torch.randn(1, 3).double().expand(30, 3)
    training = model.density(params, x, settings, rolled(model.noise(30)))
    assert training.mean.unique().numel() > 5
    predicted = model.predict(params, x, settings, rolled(model.prediction_noise())).components
    assert predicted.mean.shape == (20, 30)
    assert torch.equal(predicted.mean, predicted.mean[:, :1].expand(20, 30))
    assert predicted.mean[:, 0].unique().numel() > 5


def test_a_draw_is_the_network_without_the_dropped_units():
    model, params, settings = made(draws=4)
    draws, x = rolled(model.prediction_noise()), torch.randn(7, 3).double()
    found = model.predict(params, x, settings, draws).components
    for s in range(4):
        hidden = x
        for i in (0, 1):
            hidden = (hidden @ params[f"weight{i}"] + params[f"bias{i}"]).relu()
            hidden[:, draws[f"mask{i}"][s] >= 0.7] = 0
            hidden = hidden / 0.7
        out = hidden @ params["weight2"] + params["bias2"]
        torch.testing.assert_close(found.mean[s], out[:, 0])


def test_the_mean_over_many_draws_is_the_whole_network_where_it_is_linear_in_its_units():
    model, params, settings = made(MLP((3, 50, 2)), draws=4000, dropout=0.2)
    x = torch.randn(5, 3).double()
    draws = model.predict(params, x, settings, rolled(model.prediction_noise())).components.mean
    whole = model.network.run(params, x)[:, 0]
    error = draws.std(0) / 4000**0.5
    assert ((draws.mean(0) - whole).abs() < 4.5 * error).all()


def test_without_dropout_every_draw_is_the_plain_network():
    model, params, settings = made(dropout=0.0)
    x = torch.randn(5, 3).double()
    found = model.predict(params, x, settings, rolled(model.prediction_noise())).components
    expected = gaussian.from_outputs(NET.run(params, x))
    torch.testing.assert_close(found.mean, expected.mean.expand(20, 5))


def test_units_are_dropped_as_often_as_the_setting_says():
    model, _, settings = made(dropout=0.2)
    masks = {"mask0": torch.rand(4000, 6), "mask1": torch.rand(4000, 5)}
    for scale in model._scales({"dropout": settings["dropout"].float()}, masks):
        assert float((scale == 0).float().mean()) == pytest.approx(0.2, abs=0.02)
        assert scale.unique().tolist() == pytest.approx([0, 1 / 0.8])


def test_a_prediction_is_the_mixture_of_twenty_draws():
    model, params, settings = made()
    assert model.draws == 20
    x, y = torch.randn(4, 3).double(), torch.randn(4).double()
    found = model.predict(params, x, settings, rolled(model.prediction_noise()))
    each = torch.distributions.Normal(*found.components).log_prob(y)
    torch.testing.assert_close(found.log_prob(y), each.exp().mean(0).log())


def test_the_loss_is_the_mean_negative_log_likelihood_under_the_batchs_masks():
    model, params, settings = made()
    x, y = torch.randn(4, 3).double(), torch.randn(4).double()
    draws = rolled(model.noise(4))
    batch = Batch(x, y, torch.ones(3).double(), torch.tensor(4.0).double(), x[:0])
    loss, labels = model.loss(params, batch, settings, draws)
    expected = model.density(params, x, settings, draws)
    torch.testing.assert_close(loss, -torch.distributions.Normal(*expected).log_prob(y).mean())
    torch.testing.assert_close(labels.std, expected.std)
