"""PAD's options, each seen to do what it says, and its questions answered in one place."""

import pytest
import torch
from torch.distributions import Categorical as TorchCategorical
from torch.distributions import kl_divergence

from reprior.augment import PAD
from reprior.augment.generator import Generator
from reprior.augment.generator_loss import generator_terms
from reprior.augment.prior import regression_pull, temperature_on_data, temperature_pull
from reprior.augment.weight import kl_weight
from reprior.contracts import InputError
from reprior.likelihoods import Categorical, Gaussian, TemperedCategorical, TemperedInTraining

SETTINGS = {
    name: torch.tensor(s.default).double()
    for name, s in PAD(3, task="classification").space.items()
}
WEIGHT = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def outputs(count):
    return torch.randn(3, count, dtype=torch.float64)


def pseudo(pad, rows=8):
    x = torch.randn(rows, pad.features, dtype=torch.float64)
    noise = pad.generator.noise()
    phi = pad.generator.init({k: torch.rand(n.shape, dtype=x.dtype) for k, n in noise.items()})
    found = pad.search(phi, x, {"k": torch.tensor(0.6).double()})
    draws = {"x_tilde": torch.randn(pad.noise(rows)["x_tilde"].shape, dtype=x.dtype)}
    return x, pad.propose(phi, x, found, draws), draws


def test_a_pseudo_row_is_its_mean_plus_a_scaled_draw():
    _, made, draws = pseudo(PAD(3, hidden=5))
    torch.testing.assert_close(made.x, made.density.mean + made.density.std * draws["x_tilde"])
    assert float(made.k) == 3  # of 1 to 4, at u = 0.6


def test_the_generators_options_reach_the_generator():
    assert PAD(4, hidden=7, pooling="mean", self_is_near=False).generator == Generator(
        4, 7, "mean", False
    )


@pytest.mark.parametrize(
    ("task", "threshold", "radius"),
    [
        ("regression", None, 3**0.5),
        ("regression", True, 3**0.5),
        ("regression", False, None),
        ("classification", None, None),
        ("classification", True, 3**0.5),
    ],
)
def test_distance_has_its_threshold_in_regression_unless_told_otherwise(task, threshold, radius):
    pad = PAD(3, task, hidden=5, threshold=threshold)
    x, made, _ = pseudo(pad)
    far = made._replace(x=3 * made.x)
    labels = Gaussian(torch.zeros(8).double(), torch.ones(8).double())
    expected = generator_terms(labels, made.density, far.x, x, made.k, radius)
    assert pad.objective(labels, far, x)[1] == expected


def test_the_weight_is_lambda_with_the_members_own_length_scale():
    x, reference = torch.randn(5, 3).double(), torch.randn(20, 3).double()
    settings = SETTINGS | {"ell": torch.tensor(2.0).double()}
    expected = kl_weight(x, reference, torch.tensor(2.0).double())
    assert torch.equal(PAD(3).weight(x, reference, settings), expected)


@pytest.mark.parametrize("mean", ["own", "zero"])
def test_regression_pulls_to_the_prior_that_was_chosen(mean):
    labels = PAD(3).read(outputs(2))
    found = PAD(3, prior_mean=mean).pull(labels, labels, WEIGHT, SETTINGS)
    assert torch.equal(found, regression_pull(labels, WEIGHT, mean))


@pytest.mark.parametrize("on_data", [True, False])
@pytest.mark.parametrize("form", ["tau_to_lambda", "doubly_weighted"])
def test_classification_pulls_the_temperature_and_holds_it_at_one_on_data(form, on_data):
    pad = PAD(3, "classification", temperature=form, temperature_on_data=on_data)
    fake, real = pad.read(outputs(5)), pad.read(outputs(5))
    expected = temperature_pull(fake, WEIGHT, SETTINGS["tau"], form)
    if on_data:
        expected = expected + temperature_on_data(real)
    torch.testing.assert_close(pad.pull(fake, real, WEIGHT, SETTINGS), expected)
    assert PAD(3, "classification").temperature_on_data
    assert PAD(3, "classification").temperature == "tau_to_lambda"


def test_the_pull_to_the_uniform_needs_no_temperature():
    pad = PAD(3, "classification", temperature="uniform")
    labels = pad.read(outputs(4))
    assert isinstance(labels, Categorical)
    uniform = TorchCategorical(logits=torch.zeros(3, 4).double())
    expected = WEIGHT * kl_divergence(TorchCategorical(logits=labels.logits), uniform)
    torch.testing.assert_close(pad.pull(labels, labels, WEIGHT, SETTINGS), expected.mean())


def test_labels_without_a_temperature_are_refused_where_one_is_pulled():
    labels = Categorical(outputs(4))
    with pytest.raises(ValueError, match=r"C \+ 1 outputs"):
        PAD(3, "classification").pull(labels, labels, WEIGHT, SETTINGS)


def test_outputs_are_read_as_the_pull_needs_them():
    assert isinstance(PAD(3).read(outputs(2)), Gaussian)
    plain = PAD(3, "classification").read(outputs(5))
    tried = PAD(3, "classification", temper_training=True).read(outputs(5))
    assert type(plain) is TemperedCategorical
    assert type(tried) is TemperedInTraining
    assert plain.logits.shape == (3, 4)


def test_training_leaves_the_temperature_out_unless_it_is_told_to_temper():
    given, y = outputs(5), torch.tensor([0.0, 3.0, 1.0])
    plain = PAD(3, "classification").read(given)
    tried = PAD(3, "classification", temper_training=True).read(given)
    untempered = TorchCategorical(logits=given[:, :4]).log_prob(y)
    tempered = TorchCategorical(logits=given[:, :4] / given[:, 4:].exp()).log_prob(y)
    torch.testing.assert_close(plain.training_log_prob(y), untempered)
    torch.testing.assert_close(tried.training_log_prob(y), tempered)
    for labels in (plain, tried):
        torch.testing.assert_close(labels.log_prob(y), tempered)


def test_a_density_that_is_tempered_in_training_passes_through_vmap():
    read = PAD(3, "classification", temper_training=True).read
    assert isinstance(torch.vmap(read)(torch.randn(2, 6, 5)), TemperedInTraining)


@pytest.mark.parametrize(
    "wrong",
    [
        {"task": "ranking"},
        {"pooling": "max"},
        {"prior_mean": "0"},
        {"temperature": "tau"},
        {"terms": "abc"},
    ],
)
def test_an_unknown_option_gets_one_sentence_that_names_it(wrong):
    with pytest.raises(InputError, match=next(iter(wrong.values()))) as caught:
        PAD(3, **wrong)
    assert "\n" not in str(caught.value)


def test_every_choice_of_a_setting_is_what_the_benchmark_promises():
    space = PAD(3, task="classification").space
    assert space["ell"].choices == (0.5, 1.0, 2.0, 4.0, 8.0, float("inf"))
    assert space["tau"].choices == (3.0, 10.0)
    assert "tau" not in PAD(3).space
    for setting in space.values():
        assert setting.default in setting.choices


@pytest.mark.parametrize(("per_row", "count"), [(0.5, 4), (1.0, 8), (2.0, 16)])
def test_a_batch_gets_as_many_pseudo_rows_as_told_around_its_rows_in_turn(per_row, count):
    pad = PAD(3, hidden=5, per_row=per_row)
    x, made, draws = pseudo(pad)
    _, whole, _ = pseudo_of(x)
    assert pad.count(8) == len(made.x) == count
    row = torch.arange(count) % 8
    expected = whole.density.mean[row] + whole.density.std[row] * draws["x_tilde"]
    torch.testing.assert_close(made.x, expected)
    terms = pad.objective(Gaussian(made.x[:, 0], made.density.std[:, 0]), made, x)[1]
    assert all(term.isfinite() for term in terms)


def pseudo_of(x):
    """The pseudo rows of a batch under the generator that `pseudo` starts from."""
    torch.manual_seed(0)
    return pseudo(PAD(3, hidden=5), rows=len(x))
