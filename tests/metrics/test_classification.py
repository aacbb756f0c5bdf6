import pytest
import torch
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss
from torchmetrics.functional.classification import multiclass_calibration_error

from reprior.metrics import accuracy, brier, classification, expected_calibration_error


def sample(rows=400, classes=5, dtype=torch.float64):
    torch.manual_seed(0)
    probs = (2 * torch.randn(rows, classes, dtype=dtype)).softmax(-1)
    return probs, torch.randint(classes, (rows,))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bins", [1, 10, 15])
def test_ece_is_torchmetrics(dtype, bins):
    probs, y = sample(dtype=dtype)
    wanted = multiclass_calibration_error(probs, y, probs.shape[-1], n_bins=bins)
    torch.testing.assert_close(expected_calibration_error(probs, y, bins).float(), wanted)


def test_ece_is_torchmetrics_on_the_edges_of_bins_too():
    # Confidences that are exactly edges, 1 among them.
    top = torch.linspace(0, 1, 16)[8:].repeat_interleave(3)
    probs, y = torch.stack([top, 1 - top], -1), torch.tensor([0, 1, 1]).repeat(8)
    wanted = multiclass_calibration_error(probs, y, 2, n_bins=15)
    torch.testing.assert_close(expected_calibration_error(probs, y), wanted)
    assert wanted > 0.1


def test_ece_of_the_sure_and_wrong_is_one_and_of_the_sure_and_right_zero():
    probs = torch.eye(3)
    assert expected_calibration_error(probs, torch.tensor([0, 1, 2])) == 0
    assert expected_calibration_error(probs, torch.tensor([1, 2, 0])) == 1


def test_accuracy_brier_and_likelihood_are_sklearns():
    probs, y = sample()
    wanted = log_loss(y, probs, labels=range(5))
    assert classification.nll(probs, y).item() == pytest.approx(wanted)
    assert accuracy(probs, y).item() == pytest.approx(accuracy_score(y, probs.argmax(-1)))
    wanted = brier_score_loss(y, probs, labels=range(5), scale_by_half=False)
    assert brier(probs, y).item() == pytest.approx(wanted)


def test_a_population_of_classifiers_shares_one_set_of_labels():
    y = torch.randint(4, (30,))
    probs = torch.randn(6, 30, 4).softmax(-1)
    for measure in [accuracy, brier, classification.nll, expected_calibration_error]:
        torch.testing.assert_close(measure(probs, y), torch.stack([measure(p, y) for p in probs]))
