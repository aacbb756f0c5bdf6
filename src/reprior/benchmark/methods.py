"""What fills a cell of the table: a model trained by steps, or a method that learns in one go.

Both answer the same: what can be set, how finely their tasks are cut, what they predict. Nobody
else needs to know which of the two a cell holds.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from reprior.contracts import Augmentation, Direct, Mixer, Model, Setting
from reprior.likelihoods import Gaussian, GaussianMixture, mixture
from reprior.population.layout import Questions, TrainingSets
from reprior.training import Job, estimates, fit, predict, search_space

# Member-steps × batch rows of one population, at most: under a minute on one core or on one GPU.
WORK = {"cpu": 40_000_000, "cuda": 4_000_000_000}
# What a step costs beside one of the plain networks, about.
COST = {"depth_uncertainty": 3, "rank_one_bnn": 3, "sngp": 4, "functional_bnn": 15}
TASKS = 4  # of one population where each learns in one go, a second to half a minute

Progress = Callable[[int, int], None]  # done, in all


class Lessons(NamedTuple):
    """What a population's E tasks learn from, and what they are asked."""

    sets: TrainingSets
    asked: Questions
    group: Tensor  # (E,) int64, the training set of every task
    settings: Sequence[Mapping[str, float]]  # one per task
    epochs: int
    batch: int
    seed: int


class Answers(NamedTuple):
    mixture: GaussianMixture  # batch (E, n), in standardised labels
    lost: Tensor  # (E,) how many of an estimate's members came to no end


@dataclass(frozen=True)
class BySteps:
    """A model, plain or augmented: all tasks train side by side."""

    model: Model
    augment: Augmentation | Mixer | None

    @property
    def takes_augmentation(self) -> bool:
        return self.model.takes_augmentation

    @property
    def options(self) -> str:
        """What the numbers depend on beside the settings."""
        return _options(self.model) + _options(self.augment)

    @property
    def space(self) -> dict[str, Setting]:
        return search_space(self.model, self.augment)

    def parts(self, rows: Sequence[int], epochs: int, batch: int, device: str) -> int:
        """How many populations are made of tasks with so many training rows each."""
        # A PAD step searches B² pairs: a rough measure, but the same for everyone.
        proposes = self.augment is not None and not isinstance(self.augment, Mixer)
        row = (8 if batch <= 32 else 12) if proposes else 2
        step = self.model.members * batch * row * COST.get(self.model.name, 1)
        work = sum(step * epochs * -(-count // batch) for count in rows)
        return -(-work // WORK[device])

    def answer(self, given: Lessons, progress: Progress | None = None) -> Answers:
        members = self.model.members  # an ensemble is tuned as an ensemble
        group = given.group.repeat_interleave(members)
        settings = {
            name: torch.tensor(
                [chosen[name] for chosen in given.settings], dtype=torch.float64
            ).repeat_interleave(members)
            for name in self.space
        }
        job = Job(
            self.model, self.augment, given.sets, group, settings,
            given.epochs, given.batch, given.seed,
        )  # fmt: skip
        fitted = fit(job, progress)
        predicted = predict(self.model, fitted.theta, settings, given.asked, group, given.seed + 1)
        lost = (fitted.diverged > 0).view(-1, members).sum(1)
        return Answers(cast(GaussianMixture, estimates(predicted, members)), lost)


@dataclass(frozen=True)
class InOneGo:
    """A method that is not trained by steps: one task after the other, and never augmented."""

    method: Direct

    takes_augmentation = False

    @property
    def options(self) -> str:
        return _options(self.method)

    @property
    def space(self) -> dict[str, Setting]:
        return self.method.space

    def parts(self, rows: Sequence[int], epochs: int, batch: int, device: str) -> int:
        return -(-len(rows) // TASKS)

    def answer(self, given: Lessons, progress: Progress | None = None) -> Answers:
        found = []
        for task in range(len(given.group)):
            found.append(self._one(given, task))
            if progress is not None:
                progress(task + 1, len(given.group))
        row = given.asked.y[:1]  # (1, n)
        like = next((one for one in found if one is not None), mixture(Gaussian(row, row)))
        lost = tree_map(lambda leaf: torch.full_like(leaf, math.nan), like)
        together = tree_map(lambda *each: torch.stack(each, 1), *(one or lost for one in found))
        return Answers(together, (~together.std.isfinite()).any(1).int())

    def _one(self, given: Lessons, task: int) -> GaussianMixture | None:
        """One task's prediction, batch (n,); None where nothing could be learned."""
        at = int(given.group[task])
        rows = given.sets.rows[at, : given.sets.sizes[at]]
        x, y, asked = given.sets.x[at, rows], given.sets.y[at, rows], given.asked.x[at]
        try:
            found = self.method.fit_predict(x, y, asked, given.settings[task], given.seed)
        except (ArithmeticError, RuntimeError, ValueError) as error:
            # A matrix that cannot be factored is told in any of these, a lack of memory in one.
            if "memory" in str(error):
                raise
            return None
        return cast(GaussianMixture, found)


Method = BySteps | InOneGo


def _options(what: object) -> str:
    """A dataclass's fields in words, but for functions, whose words are an address."""
    return repr([(k, v) for k, v in vars(what).items() if not callable(v)]) if what else ""
