"""The parameters of every member in one matrix (P, n), with a view into it for every name."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor


class Flat:
    """One row per member. Updating `matrix` in place updates every view in `views`."""

    def __init__(self, params: Mapping[str, Tensor]) -> None:
        self.shapes = {name: value.shape[1:] for name, value in params.items()}
        members = len(next(iter(params.values())))
        self.matrix = torch.cat([value.reshape(members, -1) for value in params.values()], 1)
        self.views = self.split(self.matrix)
        self._joined = torch.zeros_like(self.matrix)

    def split(self, matrix: Tensor) -> dict[str, Tensor]:
        """Views of (P, n) under the parameters' names, each (P, *shape)."""
        views, start = {}, 0
        for name, shape in self.shapes.items():
            stop = start + math.prod(shape)
            views[name] = matrix[:, start:stop].view(len(matrix), *shape)
            start = stop
        return views

    def join(self, values: Mapping[str, Tensor]) -> Tensor:
        """(P, n) from gradients under the parameters' names; the same buffer at every call."""
        parts = [values[name].reshape(len(self.matrix), -1) for name in self.shapes]
        return torch.cat(parts, 1, out=self._joined)
