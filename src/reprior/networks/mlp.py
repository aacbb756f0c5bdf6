"""The paper's regression network: a multi-layer perceptron with two hidden layers of 50 ReLU units.

A network is a chain of stages, and any stretch of it can be run on its own: stages 0 to `at` are
its features part, those from `at` on its head. That is how pseudo rows enter between two stages.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torch import Tensor

from reprior.contracts import Noise, Params


class MLP(NamedTuple):
    """Widths from input to output. The last stage is linear, every other one ends in a ReLU."""

    sizes: tuple[int, ...]  # D, H, ..., H, outputs

    @property
    def stages(self) -> int:
        return len(self.sizes) - 1

    @property
    def hidden(self) -> tuple[int, ...]:
        return self.sizes[1:-1]

    def noise(self) -> dict[str, Noise]:
        """What `init` needs: one uniform number for every parameter."""
        needed = {}
        for i, (fan_in, fan_out) in enumerate(zip(self.sizes, self.sizes[1:], strict=False)):
            needed[f"weight{i}"] = Noise("uniform", (fan_in, fan_out))
            needed[f"bias{i}"] = Noise("uniform", (fan_out,))
        return needed

    def init(self, noise: Mapping[str, Tensor]) -> Params:
        """Weights and biases uniform on ±1/√fan_in, as torch.nn.Linear starts them."""
        return {
            f"{kind}{i}": (2 * noise[f"{kind}{i}"] - 1) / math.sqrt(fan_in)
            for i, fan_in in enumerate(self.sizes[:-1])
            for kind in ("weight", "bias")
        }

    def run(
        self,
        params: Params,
        x: Tensor,
        start: int = 0,
        stop: int | None = None,
        scales: Sequence[Tensor | None] | None = None,
    ) -> Tensor:
        """Stages start to stop.

        x       (..., B, sizes[start])
        scales  for each hidden layer, what its activations are multiplied by: (B, H) or (H,)
        """
        for i in range(start, self.stages if stop is None else stop):
            x = x @ params[f"weight{i}"] + params[f"bias{i}"]
            if i < self.stages - 1:
                x = x.relu()
                scale = scales[i] if scales is not None else None
                if scale is not None:
                    x = x * scale
        return x
