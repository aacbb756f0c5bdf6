"""Uncertainty methods, one file each."""

from reprior.models.deep_ensemble import DeepEnsemble
from reprior.models.mc_dropout import MCDropout

__all__ = ["DeepEnsemble", "MCDropout"]
