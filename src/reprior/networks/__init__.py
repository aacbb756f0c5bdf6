"""Networks as chains of stages, with their parameters as an argument."""

from reprior.networks.mlp import MLP

__all__ = ["MLP"]
