"""What holds for every measure: members scored together, padded or not, equal members alone."""

import math

import pytest
import torch

from reprior.likelihoods import Gaussian, mixture
from reprior.metrics import (
    accuracy,
    auroc,
    brier,
    calibration_error,
    central_interval,
    classification,
    coverage,
    expected_calibration_error,
    interval_score,
    mean_crps,
    mean_width,
    nll,
    pinball,
    reliability,
)

# name: the measure of (values, labels, mask), and what its values look like
OF_NUMBERS = {
    "nll": lambda density, y, mask: nll(density.log_prob(y), mask),
    "crps": mean_crps,
    "reliability": lambda density, y, mask: reliability(density.cdf(y), 10, mask),
    "calibration error": lambda density, y, mask: calibration_error(density.cdf(y), mask=mask),
    "coverage": lambda density, y, mask: coverage(central_interval(density, 0.5), y, mask),
    "mean width": lambda density, y, mask: mean_width(central_interval(density), mask),
    "interval score": lambda density, y, mask: interval_score(central_interval(density), y, mask),
    "pinball": lambda density, y, mask: pinball(density.mean, y, 0.3, mask),
    "auroc": lambda density, y, mask: auroc(density.entropy(), y > 0, mask),
}
OF_CLASSES = {
    "accuracy": accuracy,
    "brier": brier,
    "nll of classes": classification.nll,
    "ece": lambda probs, y, mask: expected_calibration_error(probs, y, mask=mask),
}
LENGTHS = [12, 7, 9]  # rows of three members, padded to the longest
MASK = torch.arange(12) < torch.tensor(LENGTHS)[:, None]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def padded(values, filler):
    mask = MASK.reshape(*MASK.shape, *[1] * (values.dim() - 2))
    return torch.where(mask, values, filler)


@pytest.mark.parametrize("name", OF_NUMBERS)
@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize("filler", [0.0, math.nan, math.inf])
def test_a_padded_population_scores_as_its_members_alone(name, draws, filler):
    measure = OF_NUMBERS[name]
    shape = (4, 3, 12) if draws else (3, 12)
    mean, std, y = torch.randn(shape), torch.rand(shape) + 0.1, torch.randn(3, 12)

    def density(mean, std):
        return mixture(Gaussian(mean, std)) if draws else Gaussian(mean, std)

    rows = padded(mean.movedim(-2, 0).movedim(-1, 1), filler).movedim(1, -1).movedim(0, -2)
    together = measure(density(rows, std), padded(y, filler), MASK)
    alone = [
        measure(density(mean[..., member, :n], std[..., member, :n]), y[member, :n], None)
        for member, n in enumerate(LENGTHS)
    ]
    torch.testing.assert_close(together, torch.stack(alone))


@pytest.mark.parametrize("name", OF_CLASSES)
@pytest.mark.parametrize("filler", [0.0, math.nan])
def test_a_padded_population_of_classifiers_scores_as_its_members_alone(name, filler):
    measure = OF_CLASSES[name]
    probs, y = torch.randn(3, 12, 4).softmax(-1), torch.randint(4, (3, 12))
    together = measure(padded(probs, filler), padded(y, 0), mask=MASK)
    alone = [measure(probs[i, :n], y[i, :n], mask=None) for i, n in enumerate(LENGTHS)]
    torch.testing.assert_close(together, torch.stack(alone))


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_one_diverged_row_makes_its_member_nan_and_leaves_the_others(name):
    mean = torch.randn(3, 12)
    mean[1, 4] = math.nan
    std = torch.rand(3, 12) + 0.1
    std[1, 4] = math.nan
    scores = OF_NUMBERS[name](Gaussian(mean, std), torch.randn(3, 12), None).reshape(3, -1)
    assert scores.isnan().all(-1).tolist() == [False, True, False]
    assert scores[[0, 2]].isfinite().all()


@pytest.mark.parametrize("name", OF_CLASSES)
def test_one_diverged_row_makes_its_classifier_nan_and_leaves_the_others(name):
    probs, y = torch.randn(3, 12, 4).softmax(-1), torch.randint(4, (3, 12))
    probs[1, 4] = math.nan
    assert OF_CLASSES[name](probs, y, mask=None).isnan().tolist() == [False, True, False]


def test_a_member_without_rows_has_no_score():
    assert nll(torch.zeros(5), torch.zeros(5, dtype=torch.bool)).isnan()


def test_a_column_of_labels_is_refused_instead_of_broadcast():
    with pytest.raises(ValueError, match="one value per row, on the last axis"):
        mean_crps(Gaussian(torch.zeros(5), torch.ones(5)), torch.zeros(5, 1))


def test_a_mask_of_another_length_is_refused():
    with pytest.raises(ValueError, match="one boolean per row"):
        nll(torch.zeros(5), torch.ones(4, dtype=torch.bool))
