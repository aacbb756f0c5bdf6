import math

import pytest
import torch
from torch.distributions import Categorical, Normal, kl_divergence

from reprior.contracts import Batch
from reprior.likelihoods import gaussian
from reprior.models.depth_uncertainty import DepthUncertainty
from reprior.networks import MLP

MODEL = DepthUncertainty(MLP((3, 4, 4, 2)), gaussian.from_outputs, blocks=3)


def rolled(wanted):
    fill = {"normal": torch.randn, "uniform": torch.rand}
    return {k: fill[n.kind](n.shape, dtype=torch.float64) for k, n in wanted.items()}


def made():
    torch.manual_seed(0)
    params = MODEL.init(rolled(MODEL.start_noise()))
    params["depth"] = torch.tensor([0.3, -1.0, 0.8, 0.1]).double()
    x, y = torch.randn(6, 3, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    return params, Batch(x, y, torch.ones(3).double(), torch.tensor(50.0).double(), x[:0])


def at_depth(params, x, depth):
    h = (x @ params["weight0"] + params["bias0"]).relu()
    for i in range(1, depth + 1):
        h = h + (h @ params[f"weight{i}"] + params[f"bias{i}"]).relu()
    return gaussian.from_outputs(h @ params["weight4"] + params["bias4"])


def test_the_elbo_is_the_sum_over_enumerated_depths():
    params, batch = made()
    q = torch.softmax(params["depth"], 0)
    expected = kl_divergence(Categorical(q), Categorical(torch.ones(4).double())) / 50
    for depth in range(4):
        each = Normal(*at_depth(params, batch.x, depth)).log_prob(batch.y)
        expected = expected - q[depth] * each.mean()
    loss, _ = MODEL.loss(params, batch, {}, rolled(MODEL.noise(6)))
    torch.testing.assert_close(loss, expected)


def test_a_prediction_weighs_every_depth_by_its_posterior():
    params, batch = made()
    q = torch.softmax(params["depth"], 0)
    found = MODEL.predict(params, batch.x, {}, {})
    each = [Normal(*at_depth(params, batch.x, d)).log_prob(batch.y).exp() for d in range(4)]
    expected = sum(weight * density for weight, density in zip(q, each, strict=True)).log()
    torch.testing.assert_close(found.log_prob(batch.y), expected)


def test_one_draw_reaches_each_depth_as_often_as_the_posterior_says():
    params, batch = made()
    rows = 20_000
    x = batch.x[:1].expand(rows, 3)
    drawn = MODEL.density(params, x, {}, {"depth": torch.rand(rows, dtype=torch.float64)})
    q = torch.softmax(params["depth"], 0)
    for depth in range(4):
        here = torch.isclose(drawn.mean, at_depth(params, batch.x[:1], depth).mean)
        share = float(here.double().mean())
        assert share == pytest.approx(float(q[depth]), abs=4 * math.sqrt(0.25 / rows))


def test_pseudo_rows_may_enter_before_the_blocks_but_not_among_them():
    params, batch = made()
    with pytest.raises(ValueError, match="before the blocks"):
        MODEL.features(params, batch.x, {}, {}, 2)
