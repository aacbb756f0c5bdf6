"""From trained members to predictions: one mixture per member, then one over all of them."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from reprior.contracts import Mixture, Model
from reprior.population.layout import Questions
from reprior.population.randomness import Dice
from reprior.training.fit import FLOATS_AT_ONCE, cpu_for


def predict(
    model: Model,
    theta: Mapping[str, Tensor],
    settings: Mapping[str, Tensor],
    asked: Questions,
    group: Tensor,
    seed: int,
) -> Mixture:
    """Every member's own prediction, batch (P, n), in standardised labels.

    theta     parameters, each (P, ...)
    settings  each (P,)
    asked     rows per training set, x (G, n, D)
    group     (P,) the training set of every member
    """
    members = len(group)
    x = asked.x
    generator = torch.Generator(x.device).manual_seed(seed)
    wanted = model.prediction_noise()
    draws = Dice({"draws": wanted}, members, generator, x.dtype).roll()["draws"]
    settings = {k: v.to(x.device, x.dtype) for k, v in settings.items()}
    samples = next((n.shape[0] for n in wanted.values()), 1)
    width = max((*model.network.hidden, 1))
    chunk = max(1, FLOATS_AT_ONCE // (samples * x.shape[1] * width))
    parts = []
    with torch.no_grad(), cpu_for(members * samples * x.shape[1]):
        for start in range(0, members, chunk):
            some = slice(start, start + chunk)
            picked = ({k: v[some] for k, v in tree.items()} for tree in (theta, settings, draws))
            params, chosen, drawn = picked
            parts.append(
                torch.vmap(model.predict, out_dims=1)(params, x[group[some]], chosen, drawn)
            )
    of_all: Mixture = tree_map(lambda *leaves: torch.cat(leaves, 1), *parts)
    return of_all


def estimates(predicted: Mixture, members: int) -> Any:
    """The mixture of all draws of all members of each estimate, batch (P / members, n).

    predicted  every member's own mixture, batch (P, n); those of one estimate are neighbours
    members    how many of them make one estimate
    """

    def gathered(leaf: Tensor) -> Tensor:
        draws, rows = leaf.shape[0], leaf.shape[2:]
        split = leaf.reshape(draws, -1, members, *rows).movedim(2, 1)
        return split.reshape(draws * members, -1, *rows)

    together: Any = tree_map(gathered, predicted)
    return together._replace(log_weights=together.log_weights - math.log(members))
