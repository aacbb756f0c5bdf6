"""Two models on the same splits: differences split by split, never of two averages."""

from typing import NamedTuple

from torch import Tensor


class Paired(NamedTuple):
    """One model against its rival. Each count is out of all splits: wins + ties + losses.

    A diverged cell (NaN or infinite) is a loss for whoever diverged: if only the rival diverged the
    split is a win, and if both did it is a loss, whichever of the two is asked about. So one
    side's losses can exceed the other's wins, by the splits where both diverged.

    The mean and its error are NaN as soon as either side diverged anywhere, because no number
    stands for such a split. To compare the rest, select it, and say so.
    """

    mean: Tensor  # (...) ours − theirs
    standard_error: Tensor  # (...) of that mean; NaN for a single split
    wins: Tensor  # (...) counts
    ties: Tensor
    losses: Tensor
    diverged: Tensor  # (...) splits where we diverged, all of them losses
    rival_diverged: Tensor  # (...) splits where the rival did


def compare_on_splits(
    ours: Tensor, theirs: Tensor, *, tie: float = 0.0, larger_is_better: bool = False
) -> Paired:
    """Compares one measure of two models.

    ours, theirs      (..., splits) in the same order
    tie               largest difference that still counts as none
    larger_is_better  for accuracy and the like; the difference stays ours − theirs
    """
    if ours.shape[-1] != theirs.shape[-1] or not ours.shape[-1]:
        raise ValueError(
            f"ours has shape {tuple(ours.shape)} and theirs {tuple(theirs.shape)}; "
            "give both models' values on the same splits, at least one."
        )
    difference = ours - theirs
    finite, rival_finite = ours.isfinite(), theirs.isfinite()
    both = finite & rival_finite
    difference = difference.where(both, float("nan"))

    splits = difference.shape[-1]
    mean = difference.mean(-1)
    squares = (difference - mean[..., None]).square().sum(-1)
    gain = difference if larger_is_better else -difference
    wins = ((both & (gain > tie)) | (finite & ~rival_finite)).sum(-1)
    ties = (both & (gain.abs() <= tie)).sum(-1)
    return Paired(
        mean=mean,
        # 0 / 0 for a single split, whose spread is unknown.
        standard_error=(squares / (splits * squares.new_tensor(splits - 1))).sqrt(),
        wins=wins,
        ties=ties,
        losses=splits - wins - ties,
        diverged=(~finite).expand_as(both).sum(-1),
        rival_diverged=(~rival_finite).expand_as(both).sum(-1),
    )
