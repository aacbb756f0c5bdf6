"""The paper's toy (fig:gapped-sine): what a model says where it has data, in the gap, and outside.

All seeds of one model train as one population; each seed has its own data and initialisation.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from reprior.benchmark.methods import Lessons
from reprior.benchmark.plan import Cell, build
from reprior.contracts import Floats
from reprior.datasets import toy
from reprior.population.layout import Questions, TrainingSets, training_sets

LINE = np.linspace(-0.6, 1.6, 441)
REGIONS = {  # of x, where Figure 1 is read
    "data": ((0.0, 0.4), (0.8, 1.0)),
    "gap": ((0.5, 0.7),),
    "left": ((-0.5, -0.1),),
    "right": ((1.1, 1.5),),
}
EPOCHS, BATCH = 600, 32
SETTINGS = {"lr": 3e-3, "dropout": 0.02, "ell": 0.25, "length_scale": 0.1}


class Study(NamedTuple):
    """What one model, plain or with PAD, says along `LINE`, for G seeds, in standardised labels."""

    mean: Floats  # (G, M) of the mixture
    std: Floats  # (G, M) of the mixture
    own_std: Floats  # (G, M) mean over members and draws of their own σ
    nll: Floats  # (G,) of fresh points from the data's range
    y_mean: Floats  # (G,) what standardising took off
    y_std: Floats  # (G,) what standardising divided by
    diverged: int

    def over(self, region: str, values: Floats) -> float:
        """Mean over a region and all seeds of values (G, M)."""
        return float(values[:, inside(region)].mean())


def inside(region: str) -> NDArray[np.bool_]:
    """Which points of the line lie in a region, (M,)."""
    near = 1e-9  # a decimal's rounding must not leave an end point out
    points = np.zeros(len(LINE), dtype=np.bool_)
    for low, high in REGIONS[region]:
        points |= (low - near <= LINE) & (high + near >= LINE)
    return points


def study(name: str, augment: str, seeds: int) -> Study:
    """Trains a model on toys 0 to seeds − 1 and asks it along the line."""
    tables = [toy.toy(seed) for seed in range(seeds)]
    points = len(tables[0].x)
    sets = training_sets(
        np.concatenate([t.x for t in tables]),
        np.concatenate([t.y for t in tables]),
        [np.arange(g * points, (g + 1) * points) for g in range(seeds)],
    )
    method = build(Cell("", "", "", name, augment), features=1)
    settings = {k: SETTINGS.get(k, s.default) for k, s in method.space.items()}
    fresh = [toy.fresh(seed) for seed in range(seeds)]
    x = np.stack([np.concatenate([LINE, table.x[:, 0]]) for table in fresh])
    y = np.stack([np.concatenate([np.zeros_like(LINE), table.y]) for table in fresh])
    asked = _asked(sets, x, y)
    group = torch.arange(seeds)
    lessons = Lessons(sets, asked, group, [settings] * seeds, EPOCHS, BATCH, seed=0)
    mixture, lost = method.answer(lessons)
    own = (mixture.log_weights.exp() * mixture.components.std).sum(0)
    line = slice(len(LINE))
    nll = -mixture.log_prob(asked.y)[:, len(LINE) :].mean(1)
    return Study(
        mean=mixture.mean[:, line].double().numpy(),
        std=mixture.std[:, line].double().numpy(),
        own_std=own[:, line].double().numpy(),
        nll=nll.double().numpy(),
        y_mean=sets.scaling.y_mean.double().numpy(),
        y_std=sets.scaling.y_std.double().numpy(),
        diverged=int(lost.sum()),
    )


def noise_on_data() -> float:
    """The label noise averaged along the data as a model's σ is, in standardised labels."""
    spread = np.mean([toy.toy(seed).y.std() for seed in range(10)])
    return float(toy.noise_std(LINE[inside("data")]).mean() / spread)


def _asked(sets: TrainingSets, x: Floats, y: Floats) -> Questions:
    """Points of one feature, x and y (G, n) in original units, as each set scales them."""
    scaling = sets.scaling
    scaled = (torch.as_tensor(x) - scaling.x_mean) / scaling.x_std
    y_scaled = (torch.as_tensor(y) - scaling.y_mean[:, None]) / scaling.y_std[:, None]
    dtype = sets.x.dtype
    mask = torch.ones(x.shape, dtype=torch.bool)
    return Questions(scaled.to(dtype)[..., None], y_scaled.to(dtype), mask)
