"""One population from its plan to its results: fit, predict, score."""

import dataclasses
import math
from typing import NamedTuple

import torch
from torch import Tensor

from reprior.benchmark.curves import Curves, curves
from reprior.benchmark.methods import Lessons, Progress
from reprior.benchmark.plan import Divisions, Population, Task, build, candidates
from reprior.benchmark.spec import batch_size
from reprior.contracts import Split
from reprior.likelihoods import GaussianMixture
from reprior.metrics import (
    calibration_error,
    central_interval,
    coverage,
    mean_crps,
    mean_width,
    nll,
    nll_in_units,
)
from reprior.population.layout import Questions, Scaling, questions, training_sets

Scores = dict[str, float]
# What a final is scored by beside NLL and calibration error.
FURTHER_MEASURES = (
    "crps", "rmse", "coverage90", "width90", "epistemic_std", "aleatoric_std",
)  # fmt: skip


class Result(NamedTuple):
    """What one task came to."""

    task: Task
    settings: Scores
    scores: Scores  # NaN throughout where a member diverged
    diverged: int  # how many of the estimate's members did
    curves: Curves  # of a final, for the figures


def run(
    population: Population,
    divisions: Divisions,
    device: str = "cpu",
    progress: Progress | None = None,
) -> list[Result]:
    """Trains a population and scores every task on the rows it was kept from."""
    table = divisions.table
    method = build(population.cell, table.x.shape[1])
    offered = candidates(method.space, population.candidates, population.seed)
    chosen = [offered[task.candidate] for task in population.tasks]
    wanted = dict.fromkeys((task.split, task.fold) for task in population.tasks)
    held = {where: division(divisions, population, *where) for where in wanted}
    place = {where: g for g, where in enumerate(held)}
    sets = training_sets(table.x, table.y, [split.train for split in held.values()], device=device)
    asked = questions(sets, [split.test for split in held.values()])
    group = torch.tensor([place[t.split, t.fold] for t in population.tasks], device=device)
    lessons = Lessons(
        sets, asked, group, chosen, population.epochs, batch_size(len(table.x)), population.number
    )
    found = method.answer(lessons, progress)
    mixture, last = double(found.mixture), population.stage == "final"
    scores = score(mixture, asked, sets.scaling, group, last)
    drawn = curves(mixture, asked, sets, group) if last else [{}] * len(chosen)
    lost = found.lost.tolist()
    return [
        Result(
            task,
            chosen[i],
            {k: math.nan if lost[i] else float(v[i]) for k, v in scores.items()},
            int(lost[i]),
            {} if lost[i] else drawn[i],
        )
        for i, task in enumerate(population.tasks)
    ]


def division(divisions: Divisions, population: Population, split: int, fold: int) -> Split:
    """The rows a task learns from and the rows it is judged on."""
    if fold < 0:
        return divisions.splits[split]
    return divisions.folds(split, population.cell.protocol, population.cell.augment)[fold]


def score(
    mixture: GaussianMixture, asked: Questions, scaling: Scaling, group: Tensor, full: bool
) -> dict[str, Tensor]:
    """Measures per estimate, each (E,), in the units of the labels; only the NLL unless `full`."""
    y, mask = asked.y.double()[group], asked.mask[group]
    label_std = scaling.y_std.double()[group]
    scores = {"nll": nll_in_units(nll(mixture.log_prob(y), mask), label_std)}
    if not full:
        return scores
    wide = central_interval(mixture, 0.9)
    error = _mean((mixture.mean - y).square(), mask)
    return scores | {
        "ce": calibration_error(mixture.cdf(y), mask=mask),
        "crps": mean_crps(mixture, y, mask) * label_std,
        "rmse": error.sqrt() * label_std,
        "coverage90": coverage(wide, y, mask),
        "width90": mean_width(wide, mask) * label_std,
        "epistemic_std": _mean(mixture.epistemic_variance.clamp_min(0).sqrt(), mask) * label_std,
        "aleatoric_std": _mean(mixture.aleatoric_variance.sqrt(), mask) * label_std,
    }


def double(mixture: GaussianMixture) -> GaussianMixture:
    """In double precision: a far row's density leaves the range of single precision."""
    components = type(mixture.components)(*(leaf.double() for leaf in mixture.components))
    return GaussianMixture(components, mixture.log_weights.double())


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    return values.where(mask, 0).sum(-1) / mask.sum(-1)


def as_values(result: Result) -> dict[str, object]:
    """A result as plain values, for the store."""
    return dataclasses.asdict(result.task) | {
        "settings": result.settings,
        "diverged": result.diverged,
        **result.scores,
        **result.curves,
    }
