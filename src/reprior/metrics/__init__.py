"""Measures of a prediction against the truth, for one member or a population at once.

Each is a pure function of tensors whose last axis is the rows. The same measures as torchmetrics
objects (`NLL`, `CRPS` and so on) are loaded when first asked for, since torchmetrics is slow to
import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reprior.metrics.calibration import calibration_error, reliability
from reprior.metrics.classification import accuracy, brier, expected_calibration_error
from reprior.metrics.crps import mean_crps
from reprior.metrics.detection import auroc
from reprior.metrics.intervals import (
    Interval,
    central_interval,
    coverage,
    interval_score,
    mean_width,
    pinball,
)
from reprior.metrics.likelihood import nll, nll_in_units
from reprior.metrics.paired import Paired, compare_on_splits

if TYPE_CHECKING:
    from reprior.metrics.objects import (
        CRPS,
        NLL,
        Accuracy,
        Brier,
        CalibrationError,
        ExpectedCalibrationError,
        IntervalCoverage,
        IntervalScore,
        IntervalWidth,
        ShiftDetection,
    )

__all__ = [
    "CRPS",
    "NLL",
    "Accuracy",
    "Brier",
    "CalibrationError",
    "ExpectedCalibrationError",
    "Interval",
    "IntervalCoverage",
    "IntervalScore",
    "IntervalWidth",
    "Paired",
    "ShiftDetection",
    "accuracy",
    "auroc",
    "brier",
    "calibration_error",
    "central_interval",
    "compare_on_splits",
    "coverage",
    "expected_calibration_error",
    "interval_score",
    "mean_crps",
    "mean_width",
    "nll",
    "nll_in_units",
    "pinball",
    "reliability",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("reprior.metrics.objects"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
