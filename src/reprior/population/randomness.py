"""Random numbers for a whole population, drawn at the edge from the population's own seed."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from reprior.contracts import Noise

Tree = Mapping[str, Noise | Mapping[str, Noise]]


class Dice:
    """Fixed buffers, one per requested name, refilled in place by `roll`.

    All numbers of one kind come from a single call on the generator. `rows` says which members of
    the layout are kept: half of a population sees the very numbers it saw in the whole.
    """

    def __init__(
        self,
        wanted: Mapping[str, Mapping[str, Noise]],
        members: int,
        generator: torch.Generator,
        dtype: torch.dtype,
        rows: slice = slice(None),
    ) -> None:
        self.generator = generator
        self.members = members
        self.rows = rows
        kept = len(range(members)[rows])
        flat = [(g, n, noise) for g, group in wanted.items() for n, noise in group.items()]
        self.values: dict[str, dict[str, Tensor]] = {group: {} for group in wanted}
        self._buffers: dict[str, Tensor] = {}
        for kind in ("normal", "uniform"):
            sizes = [(g, n, noise.shape) for g, n, noise in flat if noise.kind == kind]
            total = sum(math.prod(shape) for *_, shape in sizes)
            if not total:
                continue
            buffer = torch.empty(kept, total, dtype=dtype, device=generator.device)
            self._buffers[kind] = buffer
            start = 0
            for group, name, shape in sizes:
                stop = start + math.prod(shape)
                self.values[group][name] = buffer[:, start:stop].view(kept, *shape)
                start = stop

    def roll(self) -> dict[str, dict[str, Tensor]]:
        """Fresh numbers in every buffer; the tensors returned stay the same ones."""
        for kind, buffer in self._buffers.items():
            fill = fill_normal if kind == "normal" else fill_uniform
            if len(buffer) == self.members:
                fill(buffer, self.generator)
            else:
                whole = buffer.new_empty(self.members, buffer.shape[1])
                fill(whole, self.generator)
                buffer.copy_(whole[self.rows])
        return self.values


def fill_normal(buffer: Tensor, generator: torch.Generator) -> None:
    buffer.normal_(generator=generator)


def fill_uniform(buffer: Tensor, generator: torch.Generator) -> None:
    """Uniform on (0, 1); on a CPU on a grid of 2⁻¹⁶, which takes a quarter of the time."""
    if buffer.device.type != "cpu":
        buffer.uniform_(generator=generator)
        return
    words = torch.empty((buffer.numel() + 3) // 4, dtype=torch.int64)
    # The full range of 64 bits, by its own name: random_() alone leaves the top bits empty.
    words.random_(-(2**63), None, generator=generator)
    grid = words.view(torch.int16)[: buffer.numel()].view(buffer.shape)
    buffer.copy_(grid).add_(32768.5).mul_(2.0**-16)
