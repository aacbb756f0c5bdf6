"""One contract for every model of the catalogue: a new model is tested by being listed there."""

import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map

from reprior.contracts import Batch, Closer, Direct, Noise, TrainingRows, Walker
from reprior.likelihoods import gaussian, tempered
from reprior.models.catalogue import MODELS, model
from reprior.networks import MLP

NET = MLP((3, 6, 5, 2))
B, P = 8, 4
DTYPES = [torch.float32, torch.float64]
WHOLE = ("functional_bnn",)  # entered at its inputs only
ESTIMATED = ("functional_bnn",)  # its gradient is an estimate, and of no function's value
CONSTANTS = {"frequency"}  # drawn once and never learned
REGRESSION = ("functional_bnn", "laplace", "sngp")  # methods that know no classes


def _built(name):
    return model(name, NET, gaussian.from_outputs)


BY_STEPS = [name for name in MODELS if not isinstance(_built(name), Direct)]


@pytest.fixture(params=BY_STEPS)
def built(request):
    torch.manual_seed(0)
    return _built(request.param)


def rolled(wanted, dtype=torch.float64, lead=()):
    def roll(noise):
        draw = torch.rand if noise.kind == "uniform" else torch.randn
        return draw((*lead, *noise.shape), dtype=dtype)

    return {name: roll(noise) for name, noise in wanted.items()}


def started(built, dtype=torch.float64):
    return built.init(rolled(built.start_noise(), dtype))


def defaults(built, dtype=torch.float64):
    return {name: torch.tensor(s.default, dtype=dtype) for name, s in built.space.items()}


def batch(dtype=torch.float64, lead=(), classes=0):
    y = torch.randint(0, classes, (*lead, B)) if classes else torch.randn(*lead, B)
    return Batch(
        x=torch.randn(*lead, B, 3, dtype=dtype),
        y=y.to(dtype),
        reach=1 + torch.rand(*lead, 3, dtype=dtype),
        rows=torch.full(lead, 40.0, dtype=dtype),
        others=torch.zeros(*lead, 0, 3, dtype=dtype),
    )


def finished(built, dtype=torch.float64):
    """Parameters as they are when predictions are made: after a walk, after closing."""
    params = started(built, dtype)
    if isinstance(built, Walker):
        kept = built.set_out(params)
        for looks in range(3):
            moved = {k: v + 0.01 * torch.randn_like(v) for k, v in params.items()}
            kept = built.collect(kept, moved, torch.tensor(looks, dtype=dtype))
        params = kept
    if isinstance(built, Closer):
        given = batch(dtype)
        rows = TrainingRows(given.x, given.y, torch.arange(B) < B - 1)
        params = built.close(params, rows, defaults(built, dtype))
    return params


def close(a, b):
    for one, other in zip(tree_leaves(a), tree_leaves(b), strict=True):
        torch.testing.assert_close(one, other)


def members(tree):
    return [tree_map(lambda leaf, p=p: leaf[p], tree) for p in range(P)]


def test_it_says_what_it_is(built):
    assert isinstance(built.name, str)
    assert built.members >= 1
    assert built.network is NET


def test_every_setting_has_a_default_among_its_choices_and_a_meaning(built):
    for name, setting in built.space.items():
        assert setting.default in setting.choices
        assert len(set(setting.choices)) == len(setting.choices)
        assert setting.meaning
        assert name.isidentifier()


def test_randomness_is_asked_for_by_name_kind_and_shape(built):
    for wanted in (built.noise(B), built.prediction_noise(), built.start_noise()):
        for noise in wanted.values():
            assert isinstance(noise, Noise)
            assert noise.kind in ("normal", "uniform")
            assert all(size >= 1 for size in noise.shape)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_density_has_one_row_per_row_in_the_precision_it_was_given(built, dtype):
    args = defaults(built, dtype), rolled(built.noise(B), dtype)
    labels = built.density(started(built, dtype), batch(dtype).x, *args)
    assert labels.mean.shape == labels.std.shape
    assert labels.mean.shape[-1] == B
    assert labels.mean.dtype == labels.std.dtype == dtype
    assert (labels.std > 0).all()


@pytest.mark.parametrize("at", [0, 1])
def test_features_then_head_are_the_whole_network(built, at):
    if at and built.name in WHOLE:
        with pytest.raises(ValueError, match="stage 0"):
            built.features({}, batch().x, {}, {}, at)
        return
    params, settings, draws = started(built), defaults(built), rolled(built.noise(B))
    x = batch().x
    middle = built.features(params, x, settings, draws, at)
    assert middle.shape == (B, NET.sizes[at])
    whole = built.density(params, x, settings, draws)
    head = built.density(params, middle, settings, draws, at)
    if whole.mean.dim() == 2:  # components share the rows out: each row has the features of one
        row = torch.arange(B)
        whole, head = (tree_map(lambda v: v[row % len(v), row], some) for some in (whole, head))
    close(head, whole)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_loss_is_one_finite_number_with_the_density_of_the_real_rows(built, dtype):
    args = defaults(built, dtype), rolled(built.noise(B), dtype)
    params, given = started(built, dtype), batch(dtype)
    loss, labels = built.loss(params, given, *args)
    assert loss.shape == ()
    assert loss.dtype == dtype
    assert loss.isfinite()
    close(labels, built.density(params, given.x, *args))


def test_the_loss_has_the_gradient_that_finite_differences_find(built):
    params, given = started(built), batch()
    settings = defaults(built)
    if "spectral_bound" in settings:  # its derivative is that of a norm found by iteration
        settings["spectral_bound"] = torch.tensor(1e6).double()
    args = settings, rolled(built.noise(B))

    def loss(params):
        return built.loss(params, given, *args)[0]

    gradient = torch.func.grad(loss)(params)
    if built.name in ESTIMATED:
        del gradient["noise"]
        assert all(value.isfinite().all() and value.any() for value in gradient.values())
        return
    assert all(value.isfinite().all() for value in gradient.values())
    still = {name for name, value in gradient.items() if not value.any()}
    assert still <= CONSTANTS
    way = {name: torch.randn_like(value) * (name not in still) for name, value in params.items()}
    small = 1e-6
    ahead = loss({name: value + small * way[name] for name, value in params.items()})
    behind = loss({name: value - small * way[name] for name, value in params.items()})
    slope = sum((gradient[name] * way[name]).sum() for name in params)
    torch.testing.assert_close((ahead - behind) / (2 * small), slope, rtol=1e-5, atol=1e-6)


def test_the_same_arguments_give_the_same_numbers_and_stay_as_they_were(built):
    params, given = started(built), batch()
    args = defaults(built), rolled(built.noise(B))
    before = tree_map(torch.clone, (params, given, *args))
    close(built.loss(params, given, *args), built.loss(params, given, *args))
    for now, was in zip(tree_leaves((params, given, *args)), tree_leaves(before), strict=True):
        assert torch.equal(now, was)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_prediction_leads_with_its_draws(built, dtype):
    wanted = built.prediction_noise()
    labels = built.predict(
        finished(built, dtype), batch(dtype).x, defaults(built, dtype), rolled(wanted, dtype)
    )
    draws = labels.components
    assert {noise.shape[0] for noise in wanted.values()} <= {len(draws.mean)}
    assert draws.mean.shape == draws.std.shape == labels.log_weights.shape
    assert labels.mean.dtype == dtype
    assert labels.mean.shape == (B,)
    torch.testing.assert_close(labels.log_weights.exp().sum(0), torch.ones(B, dtype=dtype))


def test_a_row_is_predicted_alike_in_any_company(built):
    params, settings, x = finished(built), defaults(built), batch().x
    draws = rolled(built.prediction_noise())
    whole = built.predict(params, x, settings, draws)
    part = built.predict(params, x[2:5], settings, draws)
    close(part, tree_map(lambda leaf: leaf[:, 2:5], whole))


def test_lifted_over_members_it_equals_the_loop(built):
    params = torch.vmap(built.init)(rolled(built.start_noise(), lead=(P,)))
    settings = {
        name: torch.tensor([(s.choices * P)[p] for p in range(P)], dtype=torch.float64)
        for name, s in built.space.items()
    }
    given, draws = batch(lead=(P,)), rolled(built.noise(B), lead=(P,))
    asked = rolled(built.prediction_noise(), lead=(P,))

    def step(params, given, settings, draws):
        def loss(params):
            return built.loss(params, given, settings, draws)

        return torch.func.grad_and_value(loss, has_aux=True)(params)

    rows = (params, given, settings, draws)
    one_by_one = [step(*member) for member in members(rows)]
    for found, expected in zip(members(torch.vmap(step)(*rows)), one_by_one, strict=True):
        close(found, expected)
    done = [finished(built) for _ in range(P)]
    params = {name: torch.stack([member[name] for member in done]) for name in done[0]}
    rows = (params, given.x, settings, asked)
    one_by_one = [built.predict(*member) for member in members(rows)]
    lifted = torch.vmap(built.predict)(*rows)
    for found, expected in zip(members(lifted), one_by_one, strict=True):
        close(found, expected)


def test_members_that_start_from_other_numbers_are_other_networks(built):
    one, other = started(built), started(built)
    assert one.keys() == other.keys()
    assert all(not torch.equal(one[name], other[name]) for name in one if "width" not in name)


@pytest.mark.parametrize("name", [name for name in BY_STEPS if name not in REGRESSION])
def test_training_on_classes_does_not_see_the_temperature(name):
    torch.manual_seed(0)
    net = MLP((3, 6, 5, 5))  # four classes and log t

    def loss(shift, read):
        def likelihood(outputs):
            return read(torch.cat([outputs[..., :-1], outputs[..., -1:] + shift], -1))

        built = model(name, net, likelihood)
        return built.loss(params, given, defaults(built), draws)[0]

    built = model(name, net, tempered.from_outputs)
    params, given, draws = started(built), batch(classes=4), rolled(built.noise(B))
    torch.testing.assert_close(loss(2.0, tempered.from_outputs), loss(0.0, tempered.from_outputs))
    tried = tempered.from_outputs_in_training
    assert not torch.isclose(loss(2.0, tried), loss(0.0, tried))
