"""One contract for every method that learns in one go, found in the catalogue by itself."""

import pytest
import torch

from reprior.benchmark.plan import candidates
from reprior.contracts import Direct
from reprior.likelihoods import gaussian
from reprior.models.catalogue import MODELS, model
from reprior.networks import MLP

NET = MLP((3, 6, 2))
DIRECT = [n for n in MODELS if isinstance(model(n, NET, gaussian.from_outputs), Direct)]
N, M = 60, 7
DTYPES = [torch.float32, torch.float64]


@pytest.fixture(params=DIRECT)
def method(request):
    return model(request.param, NET, gaussian.from_outputs)


def given(dtype=torch.float64):
    dice = torch.Generator().manual_seed(0)
    x = torch.randn(N, 3, generator=dice, dtype=dtype)
    y = x[:, 0] + 0.3 * torch.randn(N, generator=dice, dtype=dtype)
    return x, y, torch.randn(M, 3, generator=dice, dtype=dtype)


def settings(method):
    return {name: setting.default for name, setting in method.space.items()}


def test_there_are_some():
    assert {"gaussian_process", "boosted_quantiles"} <= set(DIRECT)


def test_every_setting_has_a_default_among_its_choices_a_meaning_and_an_even_hand(method):
    for name, setting in method.space.items():
        assert setting.default in setting.choices
        assert len(set(setting.choices)) == len(setting.choices)
        assert 12 % len(setting.choices) == 0
        assert setting.meaning
        assert name.isidentifier()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_prediction_has_one_density_per_row_in_the_precision_it_was_given(method, dtype):
    found = method.fit_predict(*given(dtype), settings(method), 0)
    assert found.components.mean.shape == found.components.std.shape == found.log_weights.shape
    assert found.components.mean.shape[1:] == (M,)
    assert {leaf.dtype for leaf in (*found.components, found.log_weights)} == {dtype}
    assert (found.components.std > 0).all()
    torch.testing.assert_close(found.log_weights.exp().sum(0), torch.ones(M, dtype=dtype))


def test_every_candidate_can_be_learned(method):
    for chosen in candidates(method.space, 12, seed=0):
        assert method.fit_predict(*given(), chosen, 0).std.isfinite().all()


def test_the_same_seed_gives_the_same_numbers_and_leaves_the_rows_as_they_were(method):
    x, y, asked = given()
    before = [leaf.clone() for leaf in (x, y, asked)]
    one, other = (method.fit_predict(x, y, asked, settings(method), 2**60 - 1) for _ in range(2))
    assert torch.equal(one.components.mean, other.components.mean)
    assert torch.equal(one.components.std, other.components.std)
    assert all(torch.equal(a, b) for a, b in zip((x, y, asked), before, strict=True))


def test_a_row_is_predicted_alike_in_any_company(method):
    x, y, asked = given()
    whole = method.fit_predict(x, y, asked, settings(method), 0)
    part = method.fit_predict(x, y, asked[2:5], settings(method), 0)
    torch.testing.assert_close(part.mean, whole.mean[2:5])
    torch.testing.assert_close(part.std, whole.std[2:5])


def test_it_has_learned_something(method):
    x, y, asked = given()
    found = method.fit_predict(x, y, asked, settings(method), 0)
    assert float((found.mean - asked[:, 0]).square().mean()) < 0.5 * float(asked[:, 0].var())


def test_constant_columns_and_repeated_rows_are_no_problem(method):
    x, y, asked = given()
    x[:, 1] = asked[:, 1] = 0
    x, y = x.repeat(3, 1), y.repeat(3)
    found = method.fit_predict(x, y, torch.cat([asked, x]), settings(method), 0)
    assert found.std.isfinite().all()
    assert (found.components.std > 0).all()
