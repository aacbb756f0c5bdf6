"""Which rows each member learns from, and how its batches are cut from them.

Members of one (split, fold) share a training set, so rows are kept once per set, standardised by
that set's own rows. Sets may differ in size: an epoch has as many steps as the largest one needs,
and a member that is through with its own rows waits for the next epoch.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from reprior.contracts import Batch, Floats, Rows


class Scaling(NamedTuple):
    """Location and scale by each set's training rows; a constant column has scale 1."""

    x_mean: Tensor  # (G, D)
    x_std: Tensor  # (G, D)
    y_mean: Tensor  # (G,)
    y_std: Tensor  # (G,)


class TrainingSets(NamedTuple):
    """G training sets cut from one table of N rows; row lists are filled up with 0."""

    x: Tensor  # (G, N, D) all rows of the table, scaled
    y: Tensor  # (G, N)
    rows: Tensor  # (G, most rows) int64, which of them may be learned from
    sizes: Tensor  # (G,) int64, how many those are
    reach: Tensor  # (G, D) largest minus smallest scaled value over the training rows
    scaling: Scaling


def training_sets(
    x: Floats,
    y: Floats,
    rows: Sequence[Rows],
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    scale_y: bool = True,
) -> TrainingSets:
    """Scales a table once per list of training rows; x (N, D), y (N,)."""
    means, stds, reaches, y_means, y_stds = [], [], [], [], []
    for chosen in rows:
        seen = x[chosen]
        mean, std = seen.mean(0), seen.std(0)
        # Rounding leaves a constant column a standard deviation of about 1e-16 of its size.
        std[std <= 1e-12 * np.maximum(np.abs(mean), 1)] = 1.0
        means.append(mean)
        stds.append(std)
        reaches.append((seen.max(0) - seen.min(0)) / std)
        y_means.append(y[chosen].mean() if scale_y else 0.0)
        y_std = y[chosen].std()
        varies = y_std > 1e-12 * max(abs(y_means[-1]), 1)
        y_stds.append(y_std if scale_y and varies else 1.0)
    most = max(len(chosen) for chosen in rows)
    padded = np.stack([np.pad(chosen, (0, most - len(chosen))) for chosen in rows])
    x_mean, x_std = np.stack(means), np.stack(stds)
    y_mean, y_std = np.array(y_means), np.array(y_stds)

    def floats(values: Floats) -> Tensor:
        return torch.as_tensor(values, dtype=dtype, device=device)

    return TrainingSets(
        x=floats((x - x_mean[:, None]) / x_std[:, None]),
        y=floats((y - y_mean[:, None]) / y_std[:, None]),
        rows=torch.as_tensor(padded, dtype=torch.int64, device=device),
        sizes=torch.tensor([len(chosen) for chosen in rows], device=device),
        reach=floats(np.stack(reaches)),
        scaling=Scaling(floats(x_mean), floats(x_std), floats(y_mean), floats(y_std)),
    )


class Questions(NamedTuple):
    """Rows that predictions are asked for, one list per training set and scaled as that set is."""

    x: Tensor  # (G, n, D)
    y: Tensor  # (G, n)
    mask: Tensor  # (G, n) bool, false where a shorter list was filled up


def questions(sets: TrainingSets, rows: Sequence[Rows]) -> Questions:
    """The rows of the sets' table that stand in `rows`, one list per training set."""
    most = max(len(chosen) for chosen in rows)
    padded = torch.as_tensor(np.stack([np.pad(chosen, (0, most - len(chosen))) for chosen in rows]))
    padded = padded.to(sets.x.device)
    group = torch.arange(len(rows), device=padded.device)[:, None]
    asked = torch.tensor([len(chosen) for chosen in rows], device=padded.device)
    mask = torch.arange(most, device=padded.device) < asked[:, None]
    return Questions(sets.x[group, padded], sets.y[group, padded], mask)


class Batches:
    """The stream of mini-batches of a population, in fixed buffers.

    Every epoch each member walks once through a fresh order of its own rows; its last batch is
    filled up from the head of that order, so that all batches have B rows.
    """

    def __init__(
        self,
        sets: TrainingSets,
        group: Tensor,
        size: int,
        generator: torch.Generator,
        rows: slice = slice(None),
        others: int = 0,
    ) -> None:
        """group (P,) is the training set of every member; `rows` keeps some of the members.

        others  how many of the rows that follow a batch in its member's order come with it
        """
        self.generator, self.members, self.kept = generator, len(group), rows
        self.size = size
        # As many steps as in the whole population: a part of it rolls the same dice as often.
        self.steps_per_epoch = int(((sets.sizes[group] + size - 1) // size).max())
        group = group[rows]
        n, features = sets.x.shape[1:]
        self._x, self._y = sets.x.reshape(-1, features), sets.y.reshape(-1)
        count = sets.sizes[group]
        self.steps = (count + size - 1) // size  # (P,) of one epoch
        most = sets.rows.shape[1]
        place = torch.arange(most, device=group.device)
        self._beyond = place >= count[:, None]  # (P, most rows)
        self._rows = sets.rows[group] + n * group[:, None]
        slots = torch.arange(self.steps_per_epoch * size, device=group.device)
        self._slots = slots % count[:, None]  # (P, slots of an epoch)
        self._order = torch.zeros_like(self._slots)
        self._within = torch.arange(size, device=group.device)
        self.step = torch.zeros((), dtype=torch.int64, device=group.device)
        self.current = Batch(
            x=self._x.new_zeros(len(group), size, features),
            y=self._y.new_zeros(len(group), size),
            reach=sets.reach[group],
            rows=count.to(sets.x.dtype),
            others=self._x.new_zeros(len(group), others, features),
        )
        self._count = count
        self._after = size + torch.arange(others, device=group.device)

    def shuffle(self) -> None:
        """A new epoch: every member's rows in a fresh order."""
        chance = torch.rand(
            self.members, self._beyond.shape[1], generator=self.generator, device=self._x.device
        )[self.kept]
        order = chance.masked_fill_(self._beyond, 2.0).argsort(1)
        self._order.copy_(self._rows.gather(1, order).gather(1, self._slots))
        self.step.zero_()

    def take(self) -> Tensor:
        """Moves `current` to the next batch and says whose epoch goes on: (P,) bool."""
        index = self._order.index_select(1, self.step * self.size + self._within)
        torch.index_select(
            self._x, 0, index.view(-1), out=self.current.x.view(-1, self._x.shape[1])
        )
        torch.index_select(self._y, 0, index.view(-1), out=self.current.y.view(-1))
        if len(self._after):
            place = (self.step * self.size + self._after) % self._count[:, None]
            index = self._order.gather(1, place)
            torch.index_select(
                self._x, 0, index.view(-1), out=self.current.others.view(-1, self._x.shape[1])
            )
        going = self.step < self.steps
        self.step += 1
        return going
