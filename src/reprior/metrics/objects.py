"""The same measures as torchmetrics objects: `update` batch by batch, then `compute`.

Each `update` takes a density of batch shape (N,) and its labels y (N,), except `ShiftDetection`.
The values equal those of the functions over all rows at once.
"""

from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from reprior.likelihoods import (
    Categorical,
    CategoricalMixture,
    Gaussian,
    GaussianMixture,
    TemperedCategorical,
)
from reprior.metrics import calibration, classification, intervals, likelihood
from reprior.metrics.crps import mean_crps
from reprior.metrics.detection import auroc
from reprior.metrics.rows import same_rows

Regression = Gaussian | GaussianMixture
Classification = Categorical | TemperedCategorical | CategoricalMixture


class _MeanOverRows(Metric):
    """Accumulates whatever `score` averages over the rows of one batch."""

    full_state_update = False
    total: Tensor
    rows: Tensor

    def __init__(self, shape: tuple[int, ...] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        zeros = torch.zeros(shape, dtype=torch.float64)
        self.add_state("total", zeros, dist_reduce_fx="sum")
        self.add_state("rows", torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum")

    def score(self, density: Any, y: Tensor) -> Tensor:
        raise NotImplementedError

    def update(self, density: Any, y: Tensor) -> None:
        if len(y):
            self.total += len(y) * self.score(density, y)
            self.rows += len(y)

    def compute(self) -> Tensor:
        return self.total / self.rows


class NLL(_MeanOverRows):
    """Mean negative log-likelihood."""

    higher_is_better = False

    def score(self, density: Regression | Classification, y: Tensor) -> Tensor:
        log_prob = density.log_prob(y)
        same_rows(y, log_prob.shape, "the density")
        return likelihood.nll(log_prob)


class CRPS(_MeanOverRows):
    """Mean continuous ranked probability score."""

    higher_is_better = False

    def score(self, density: Regression, y: Tensor) -> Tensor:
        return mean_crps(density, y)


class _OfInterval(_MeanOverRows):
    """Asks about the central interval that is promised to hold a share `level` of the labels."""

    def __init__(self, level: float = 0.9, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.level = level

    def interval(self, density: Regression) -> intervals.Interval:
        return intervals.central_interval(density, self.level)


class IntervalCoverage(_OfInterval):
    """Share of labels inside the central interval; best where it equals `level`."""

    def score(self, density: Regression, y: Tensor) -> Tensor:
        return intervals.coverage(self.interval(density), y)


class IntervalWidth(_OfInterval):
    """Mean width of the central interval."""

    higher_is_better = False

    def score(self, density: Regression, y: Tensor) -> Tensor:
        return intervals.mean_width(self.interval(density))


class IntervalScore(_OfInterval):
    """Mean width of the central interval plus its penalty for labels outside."""

    higher_is_better = False

    def score(self, density: Regression, y: Tensor) -> Tensor:
        return intervals.interval_score(self.interval(density), y)


class Accuracy(_MeanOverRows):
    """Share of labels that are the likeliest class."""

    higher_is_better = True

    def score(self, density: Classification, y: Tensor) -> Tensor:
        return classification.accuracy(density.probs, y)


class Brier(_MeanOverRows):
    """Mean squared distance between the probabilities and the label."""

    higher_is_better = False

    def score(self, density: Classification, y: Tensor) -> Tensor:
        return classification.brier(density.probs, y)


class CalibrationError(_MeanOverRows):
    """Squared gap between promised and observed share, summed over levels."""

    higher_is_better = False

    def __init__(self, levels: int = 100, **kwargs: Any) -> None:
        super().__init__(shape=(levels,), **kwargs)
        self.levels = levels

    def score(self, density: Regression, y: Tensor) -> Tensor:  # (levels,)
        same_rows(y, density.mean.shape, "the density")
        return calibration.reliability(density.cdf(y), self.levels)

    def compute(self) -> Tensor:
        return calibration.calibration_gap(super().compute())


class ExpectedCalibrationError(Metric):
    """Gap between accuracy and confidence over bins of confidence."""

    full_state_update = False
    higher_is_better = False
    surplus: Tensor
    rows: Tensor

    def __init__(self, bins: int = 15, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.bins = bins
        zeros = torch.zeros(bins + 1, dtype=torch.float64)
        self.add_state("surplus", zeros, dist_reduce_fx="sum")
        self.add_state("rows", torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, density: Classification, y: Tensor) -> None:
        self.surplus += classification.surplus_by_bin(density.probs, y, self.bins)
        self.rows += len(y)

    def compute(self) -> Tensor:
        return self.surplus.abs().sum() / self.rows


class ShiftDetection(Metric):
    """AUROC of "shifted or not" by predictive entropy."""

    full_state_update = False
    higher_is_better = True
    entropies: list[Tensor]
    kinds: list[Tensor]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.add_state("entropies", [], dist_reduce_fx="cat")
        self.add_state("kinds", [], dist_reduce_fx="cat")

    def update(self, density: Regression | Classification, shifted: Tensor) -> None:
        """density of batch shape (N,), shifted (N,) boolean."""
        entropy = density.entropy()
        same_rows(shifted, entropy.shape, "the density", given="shifted")
        self.entropies.append(entropy)
        self.kinds.append(shifted)

    def compute(self) -> Tensor:
        return auroc(dim_zero_cat(self.entropies), dim_zero_cat(self.kinds))
