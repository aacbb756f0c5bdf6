import numpy as np
import pytest

from reprior.benchmark import toy


def test_regions_are_read_off_the_line_they_name():
    line = toy.LINE[None]
    found = toy.Study(line, line, line, np.zeros(1), np.zeros(1), np.ones(1), 0)
    middles = {region: found.over(region, found.std) for region in toy.REGIONS}
    assert middles["gap"] == pytest.approx(0.6)
    assert middles["left"] == pytest.approx(-0.3)
    assert middles["right"] == pytest.approx(1.3)
    assert 0.2 < middles["data"] < 0.9


def test_a_study_is_in_standardised_labels_and_has_a_row_per_seed(monkeypatch):
    monkeypatch.setattr(toy, "EPOCHS", 2)
    found = toy.study("deep_ensemble", "pad", seeds=2)
    for values in (found.mean, found.std, found.own_std):
        assert values.shape == (2, len(toy.LINE))
        assert np.isfinite(values).all()
    assert found.nll.shape == (2,)
    assert found.diverged == 0
    for seed in range(2):
        assert found.y_std[seed] == pytest.approx(toy.toy.toy(seed).y.std(), rel=1e-6)
    assert (found.std >= found.own_std - 1e-6).mean() > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("model", ["mc_dropout", "deep_ensemble"])
def test_pad_goes_back_to_the_prior_where_there_is_no_data_and_costs_nothing_where_there_is(model):
    plain, pad = (toy.study(model, augment, seeds=10) for augment in ("", "pad"))
    for region in ("gap", "left", "right"):
        assert 0.8 < pad.over(region, pad.own_std) < 1.25
        assert pad.over(region, pad.std) >= 0.8
    assert plain.over("gap", plain.own_std) < 0.5
    assert pad.over("data", pad.own_std) == pytest.approx(toy.noise_on_data(), rel=0.15)
    assert pad.nll.mean() <= plain.nll.mean() + 0.03
