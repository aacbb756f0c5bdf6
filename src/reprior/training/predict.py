"""From trained members to predictions: draws per member, then the mixture over all of them."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from reprior.contracts import Likelihood, Model
from reprior.likelihoods import CategoricalMixture, GaussianMixture, mixture
from reprior.population.layout import Questions
from reprior.population.randomness import Dice
from reprior.training.fit import cpu_for

FLOATS_AT_ONCE = 2**24  # activations held at one time


def predict(
    model: Model,
    theta: Mapping[str, Tensor],
    settings: Mapping[str, Tensor],
    asked: Questions,
    group: Tensor,
    seed: int,
) -> Likelihood:
    """Every member's draws of the label density, batch (S, P, n), in standardised labels.

    theta     parameters, each (P, ...)
    settings  each (P,)
    asked     rows per training set, x (G, n, D)
    group     (P,) the training set of every member
    """
    members = len(group)
    x = asked.x
    generator = torch.Generator(x.device).manual_seed(seed)
    wanted = {"draws": model.prediction_noise()}
    draws = Dice(wanted, members, generator, x.dtype).roll()["draws"]
    settings = {k: v.to(x.device, x.dtype) for k, v in settings.items()}
    samples = next((n.shape[0] for n in wanted["draws"].values()), 1)
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
    draws_of_all: Likelihood = tree_map(lambda *leaves: torch.cat(leaves, 1), *parts)
    return draws_of_all


def estimates(labels: Likelihood, members: int) -> GaussianMixture | CategoricalMixture:
    """The mixture of all draws of all members of each estimate, batch (P / members, n).

    labels   draws of all members, batch (S, P, n); the members of one estimate are neighbours
    members  how many of them make one estimate
    """

    def gathered(leaf: Tensor) -> Tensor:
        draws, rows = leaf.shape[0], leaf.shape[2:]
        split = leaf.reshape(draws, -1, members, *rows).movedim(2, 1)
        return split.reshape(draws * members, -1, *rows)

    return mixture(tree_map(gathered, labels))
