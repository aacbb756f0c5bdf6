"""Every model by its name: one line each."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from torch import Tensor

from reprior.contracts import InputError, Likelihood, Model, Network
from reprior.models.boosted_quantiles import BoostedQuantiles
from reprior.models.deep_ensemble import DeepEnsemble
from reprior.models.depth_uncertainty import DepthUncertainty
from reprior.models.functional_bnn import FunctionalBNN
from reprior.models.gaussian_process import GaussianProcess
from reprior.models.laplace import Laplace
from reprior.models.mc_dropout import MCDropout
from reprior.models.multi_swag import multi_swag
from reprior.models.rank_one_bnn import RankOneBNN
from reprior.models.sngp import SNGP
from reprior.models.swag import SWAG

MODELS: dict[str, Callable[..., Any]] = {
    "mc_dropout": MCDropout,
    "deep_ensemble": DeepEnsemble,
    "depth_uncertainty": DepthUncertainty,
    "rank_one_bnn": RankOneBNN,
    "swag": SWAG,
    "multi_swag": multi_swag,
    "functional_bnn": FunctionalBNN,
    "laplace": Laplace,
    "sngp": SNGP,
    "gaussian_process": lambda *_: GaussianProcess(),  # without a network, as is the next
    "boosted_quantiles": lambda *_: BoostedQuantiles(),
}


def model(name: str, network: Network, likelihood: Callable[[Tensor], Likelihood]) -> Model:
    """The model of this name over a network and the reading of its outputs."""
    if name not in MODELS:
        close = get_close_matches(name, MODELS, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(MODELS)}."
        raise InputError(f"No model is called {name!r}; {hint}")
    built: Model = MODELS[name](network, likelihood)
    return built
