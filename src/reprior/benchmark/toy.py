"""The paper's toy (fig:gapped-sine): what a model says where it has data, in the gap, and outside.

All seeds of one model train as one population; each seed has its own data and initialisation.
"""

from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray

from reprior.augment import PAD
from reprior.contracts import Floats
from reprior.datasets import toy
from reprior.likelihoods import GaussianMixture, gaussian
from reprior.models.catalogue import model
from reprior.networks import MLP
from reprior.population.layout import Questions, TrainingSets, training_sets
from reprior.training import Job, default_settings, estimates, fit, predict, search_space

LINE = np.linspace(-0.6, 1.6, 441)
REGIONS = {  # of x, where Figure 1 is read
    "data": ((0.0, 0.4), (0.8, 1.0)),
    "gap": ((0.5, 0.7),),
    "left": ((-0.5, -0.1),),
    "right": ((1.1, 1.5),),
}
EPOCHS, BATCH = 600, 32
SETTINGS = {"lr": 3e-3, "dropout": 0.02, "ell": 0.25}


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
    """Trains model `name` on toys 0 to seeds − 1 and asks it along the line."""
    tables = [toy.toy(seed) for seed in range(seeds)]
    points = len(tables[0].x)
    sets = training_sets(
        np.concatenate([t.x for t in tables]),
        np.concatenate([t.y for t in tables]),
        [np.arange(g * points, (g + 1) * points) for g in range(seeds)],
    )
    built = model(name, MLP((1, 50, 50, 2)), gaussian.from_outputs)
    pad = PAD(1) if augment == "pad" else None
    space = search_space(built, pad)
    group = torch.arange(seeds).repeat_interleave(built.members)
    given = {k: v for k, v in SETTINGS.items() if k in space}
    settings = default_settings(space, len(group), **given)
    fitted = fit(Job(built, pad, sets, group, settings, EPOCHS, BATCH, seed=0))
    fresh = [toy.fresh(seed) for seed in range(seeds)]
    asked = _asked(sets, np.broadcast_to(LINE, (seeds, len(LINE))))
    predicted = predict(built, fitted.theta, settings, asked, group, seed=1)
    mixture = cast(GaussianMixture, estimates(predicted, built.members))
    own = (mixture.log_weights.exp() * mixture.components.std).sum(0)
    again = _asked(sets, np.stack([t.x[:, 0] for t in fresh]), np.stack([t.y for t in fresh]))
    there = predict(built, fitted.theta, settings, again, group, seed=1)
    nll = -estimates(there, built.members).log_prob(again.y).mean(1)
    return Study(
        mean=mixture.mean.double().numpy(),
        std=mixture.std.double().numpy(),
        own_std=own.double().numpy(),
        nll=nll.double().numpy(),
        y_mean=sets.scaling.y_mean.double().numpy(),
        y_std=sets.scaling.y_std.double().numpy(),
        diverged=int((fitted.diverged > 0).sum()),
    )


def noise_on_data() -> float:
    """The label noise averaged along the data as a model's σ is, in standardised labels."""
    spread = np.mean([toy.toy(seed).y.std() for seed in range(10)])
    return float(toy.noise_std(LINE[inside("data")]).mean() / spread)


def _asked(sets: TrainingSets, x: Floats, y: Floats | None = None) -> Questions:
    """Points of one feature, x and y (G, n) in original units, as each set scales them."""
    scaling = sets.scaling
    scaled = (torch.as_tensor(x.copy()) - scaling.x_mean) / scaling.x_std
    labels = np.zeros_like(x) if y is None else y
    y_scaled = (torch.as_tensor(labels.copy()) - scaling.y_mean[:, None]) / scaling.y_std[:, None]
    dtype = sets.x.dtype
    mask = torch.ones(x.shape, dtype=torch.bool)
    return Questions(scaled.to(dtype)[..., None], y_scaled.to(dtype), mask)
