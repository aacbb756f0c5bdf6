"""Label densities that answer for themselves, with any leading axes.

The modules `gaussian`, `categorical` and `tempered` each have a `from_outputs`, which reads a
network's last layer.
"""

from reprior.likelihoods import categorical, gaussian, tempered
from reprior.likelihoods.categorical import Categorical
from reprior.likelihoods.gaussian import Gaussian
from reprior.likelihoods.mixture import CategoricalMixture, GaussianMixture, mixture
from reprior.likelihoods.tempered import TemperedCategorical, TemperedInTraining

__all__ = [
    "Categorical",
    "CategoricalMixture",
    "Gaussian",
    "GaussianMixture",
    "TemperedCategorical",
    "TemperedInTraining",
    "categorical",
    "gaussian",
    "mixture",
    "tempered",
]
