"""Steps, fits and predictions of whole populations."""

from reprior.training.fit import Fitted, Job, default_settings, fit, search_space
from reprior.training.predict import estimates, predict

__all__ = ["Fitted", "Job", "default_settings", "estimates", "fit", "predict", "search_space"]
