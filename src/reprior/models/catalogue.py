"""Every model by its name: one line each."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from torch import Tensor

from reprior.contracts import InputError, Likelihood, Model, Network
from reprior.models.deep_ensemble import DeepEnsemble
from reprior.models.mc_dropout import MCDropout

MODELS: dict[str, Callable[..., Any]] = {
    "mc_dropout": MCDropout,
    "deep_ensemble": DeepEnsemble,
}


def model(name: str, network: Network, likelihood: Callable[[Tensor], Likelihood]) -> Model:
    """The model of this name over a network and the reading of its outputs."""
    if name not in MODELS:
        close = get_close_matches(name, MODELS, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(MODELS)}."
        raise InputError(f"No model is called {name!r}; {hint}")
    built: Model = MODELS[name](network, likelihood)
    return built
