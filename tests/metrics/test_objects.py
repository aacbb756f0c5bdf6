import subprocess
import sys

import pytest
import torch
from torchmetrics import MetricCollection

from reprior import metrics
from reprior.likelihoods import Categorical, Gaussian, TemperedCategorical, mixture

BATCHES = [(0, 7), (7, 8), (8, 30)]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def gaussians(draws):
    components = Gaussian(torch.randn(draws, 30), torch.rand(draws, 30) + 0.1)
    return lambda rows: mixture(Gaussian(*(leaf[:, rows] for leaf in components)))


def interval(density, level=0.9):
    return metrics.central_interval(density, level)


OF_NUMBERS = [
    (metrics.NLL(), lambda density, y: metrics.nll(density.log_prob(y))),
    (metrics.CRPS(), metrics.mean_crps),
    (metrics.CalibrationError(), lambda density, y: metrics.calibration_error(density.cdf(y))),
    (
        metrics.CalibrationError(levels=10),
        lambda density, y: metrics.calibration_error(density.cdf(y), 10),
    ),
    (metrics.IntervalCoverage(0.5), lambda density, y: metrics.coverage(interval(density, 0.5), y)),
    (metrics.IntervalWidth(), lambda density, y: metrics.mean_width(interval(density))),
    (metrics.IntervalScore(), lambda density, y: metrics.interval_score(interval(density), y)),
    (metrics.ShiftDetection(), lambda density, y: metrics.auroc(density.entropy(), y > 0)),
]
OF_CLASSES = [
    (metrics.NLL(), lambda density, y: metrics.nll(density.log_prob(y))),
    (metrics.Accuracy(), lambda density, y: metrics.accuracy(density.probs, y)),
    (metrics.Brier(), lambda density, y: metrics.brier(density.probs, y)),
    (
        metrics.ExpectedCalibrationError(),
        lambda density, y: metrics.expected_calibration_error(density.probs, y),
    ),
]


def agree(metric, function, density, y):
    """Batches of unequal size give what the function gives for all rows, also after a reset."""
    for _ in range(2):
        metric.reset()
        for start, stop in BATCHES:
            labels = y[start:stop]
            shifted = isinstance(metric, metrics.ShiftDetection)
            metric.update(density(slice(start, stop)), labels > 0 if shifted else labels)
        wanted = function(density(slice(None)), y)
        torch.testing.assert_close(metric.compute().to(wanted.dtype), wanted)


@pytest.mark.parametrize(("metric", "function"), OF_NUMBERS)
def test_batches_add_up_to_the_function_of_all_rows(metric, function):
    agree(metric, function, gaussians(4), torch.randn(30))


@pytest.mark.parametrize(("metric", "function"), OF_CLASSES)
@pytest.mark.parametrize("draws", [0, 5])
def test_batches_of_classes_add_up_to_the_function_of_all_rows(metric, function, draws):
    logits, log_t = torch.randn(max(draws, 1), 30, 4), torch.randn(max(draws, 1), 30)

    def density(rows):
        if draws:
            return mixture(TemperedCategorical(logits[:, rows], log_t[:, rows]))
        return Categorical(logits[0, rows])

    agree(metric, function, density, torch.randint(4, (30,)))


def test_an_empty_batch_changes_nothing():
    density, y = gaussians(2), torch.randn(30)
    for metric in [metrics.NLL(), metrics.CalibrationError(), metrics.IntervalCoverage()]:
        metric.update(density(slice(None)), y)
        before = metric.compute()
        metric.update(density(slice(0, 0)), y[:0])
        assert metric.compute() == before


def test_several_fit_into_one_collection():
    collection = MetricCollection([metrics.NLL(), metrics.CRPS(), metrics.CalibrationError()])
    collection.update(gaussians(2)(slice(None)), torch.randn(30))
    assert set(collection.compute()) == {"NLL", "CRPS", "CalibrationError"}


def test_a_column_of_labels_is_refused_instead_of_broadcast():
    with pytest.raises(ValueError, match="one value per row"):
        metrics.NLL().update(Gaussian(torch.zeros(30), torch.ones(30)), torch.zeros(30, 1))


def test_torchmetrics_is_imported_only_when_an_object_is_asked_for():
    program = (
        "import sys, reprior.metrics as metrics\n"
        "assert 'torchmetrics' not in sys.modules\n"
        "metrics.NLL\n"
        "assert 'torchmetrics' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_public_name_exists_and_an_unknown_one_does_not():
    assert all(hasattr(metrics, name) for name in metrics.__all__)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        metrics.nothing_like_it  # noqa: B018
