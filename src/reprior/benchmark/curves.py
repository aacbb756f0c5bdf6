"""What a final keeps for figures beside its scores: two short curves instead of every row.

reliability  share of rows below each of LEVELS promised levels
reversion    test rows from near to far in BINS groups: how far they are from the nearest training
             row (in units of √D, inputs standardised), the predicted standard deviation and the
             realised error (root mean squares, labels standardised), and how many they are
"""

import math

import torch
from torch import Tensor

from reprior.likelihoods import GaussianMixture
from reprior.metrics import reliability
from reprior.population.layout import Questions, TrainingSets

LEVELS, BINS = 20, 20
PAIRS_AT_ONCE = 2**24

Curves = dict[str, list[float]]


def curves(
    mixture: GaussianMixture, asked: Questions, sets: TrainingSets, group: Tensor
) -> list[Curves]:
    """The curves of every estimate; mixture has batch (E, n), group is (E,)."""
    y, mask = asked.y.to(mixture.log_weights.dtype)[group], asked.mask[group]
    shares = reliability(mixture.cdf(y), LEVELS, mask)
    mean, std = mixture.mean, mixture.std
    found = []
    for e, at in enumerate(group.tolist()):
        real = mask[e]
        rows = sets.rows[at, : sets.sizes[at]]
        distance = to_nearest(asked.x[at, real], sets.x[at, rows])
        near_to_far = distance.argsort()
        parts = [part for part in near_to_far.tensor_split(BINS) if len(part)]
        error, spread = (mean[e] - y[e])[real], std[e][real]
        found.append(
            {
                "reliability": shares[e].tolist(),
                "reversion_distance": [float(distance[part].mean()) for part in parts],
                "reversion_std": [float(spread[part].square().mean().sqrt()) for part in parts],
                "reversion_error": [float(error[part].square().mean().sqrt()) for part in parts],
                "reversion_rows": [float(len(part)) for part in parts],
            }
        )
    return found


def to_nearest(asked: Tensor, seen: Tensor) -> Tensor:
    """Distance of each asked row (M, D) to the nearest of the rows seen (N, D), over √D, (M,)."""
    step = max(1, PAIRS_AT_ONCE // len(seen))
    parts: tuple[Tensor, ...] = torch.split(asked, step)
    least = torch.cat([torch.cdist(part, seen).amin(1) for part in parts])
    return least / math.sqrt(asked.shape[1])
