"""One training loop for every gradient-trained model, with and without an augmentation.

Nothing in a step waits for the host or looks at one member: all state is updated in place, so that
on a GPU a step is captured once as a CUDA graph and replayed.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from reprior.contracts import Augmentation, Closer, Mixer, Model, Setting, TrainingRows, Walker
from reprior.population.flat import Flat
from reprior.population.layout import Batches, TrainingSets
from reprior.population.lift import Program
from reprior.population.optimiser import (
    adam_state,
    adam_step,
    finite_rows,
    sgd_state,
    sgd_step,
)
from reprior.population.randomness import Dice
from reprior.training import step as one_member

SHARED_SPACE = {
    "lr": Setting(2e-3, (1e-3, 2e-3, 5e-3, 1e-2), "Adam rate of the model"),
    "weight_decay": Setting(
        0.0, (0.0, 0.01, 0.1, 0.3, 1.0, 3.0), "decoupled weight decay of the model"
    ),
}


@dataclass(frozen=True)
class Job:
    """A population to train: P members that share model, augmentation and shapes."""

    model: Model
    augment: Augmentation | Mixer | None
    sets: TrainingSets
    group: Tensor  # (P,) int64, the training set of every member
    settings: dict[str, Tensor]  # each (P,)
    epochs: int
    batch: int
    seed: int


class Fitted(NamedTuple):
    """Trained parameters, each with the leading axis P, and who came to no end."""

    theta: dict[str, Tensor]  # what predictions are made from
    phi: dict[str, Tensor]  # empty without an augmentation
    diverged: Tensor  # (P,) the epoch, from 1, in which a member stopped being finite; else 0
    seconds: float


Progress = Callable[[int, int], None]  # epochs done, epochs in all
FLOATS_AT_ONCE = 2**24  # activations held at one time outside the steps
ROWS_FOR_THREADS = 1000  # batch rows of all members together from which several threads pay


def fit(job: Job, progress: Progress | None = None) -> Fitted:
    """Trains all members. Where memory runs out the population is halved, with the same numbers."""
    started = time.perf_counter()
    with cpu_for(len(job.group) * job.batch):
        parts = list(_fit_or_halve(job, range(len(job.group)), progress))
    return Fitted(
        theta=_concatenated([part.theta for part in parts]),
        phi=_concatenated([part.phi for part in parts]),
        diverged=torch.cat([part.diverged for part in parts]),
        seconds=time.perf_counter() - started,
    )


@contextmanager
def cpu_for(rows: int) -> Iterator[None]:
    """A CPU set up for a step over so many batch rows of all members, put back afterwards.

    Over few rows several threads spend their time waiting for one another. And squares of fading
    gradients end as denormal numbers, which a CPU handles tenfold slower: they are flushed to zero.
    """
    threads = torch.get_num_threads()
    if rows < ROWS_FOR_THREADS:
        torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)


def stepper(job: Job) -> Callable[[], None]:
    """One training step after the other, epoch after epoch: for timing and for own loops."""
    run = _Run(job, slice(None))
    step = _captured(run, run.step) if run.alive.is_cuda else run.step
    taken = 0

    def next_step() -> None:
        nonlocal taken
        if taken % run.batches.steps_per_epoch == 0:
            run.batches.shuffle()
        taken += 1
        step()

    return next_step


def default_settings(space: dict[str, Setting], members: int, **given: float) -> dict[str, Tensor]:
    """Every setting at its default for all members, but for those given; each (P,) float64."""
    values = {name: setting.default for name, setting in space.items()} | given
    return {k: torch.full((members,), v, dtype=torch.float64) for k, v in values.items()}


def search_space(model: Model, augment: Augmentation | Mixer | None) -> dict[str, Setting]:
    """What can be set: shared settings, the model's, the augmentation's."""
    return SHARED_SPACE | model.space | (augment.space if augment is not None else {})


def _fit_or_halve(job: Job, rows: range, progress: Progress | None) -> Iterator[Fitted]:
    try:
        yield _Run(job, slice(rows.start, rows.stop)).train(progress)
        return
    except (MemoryError, torch.cuda.OutOfMemoryError):
        if len(rows) == 1:
            raise
    except RuntimeError as error:  # a CPU allocator's way of saying the same
        if "allocate memory" not in str(error) or len(rows) == 1:
            raise
    if job.sets.x.is_cuda:
        torch.cuda.empty_cache()
    half = len(rows) // 2
    yield from _fit_or_halve(job, rows[:half], progress)
    yield from _fit_or_halve(job, rows[half:], progress)


class _Run:
    """The buffers of one population (or of some of its rows) and the step over them."""

    def __init__(self, job: Job, rows: slice) -> None:
        self.job = job
        device, dtype = job.sets.x.device, job.sets.x.dtype
        members = len(job.group)
        self.generator = torch.Generator(device).manual_seed(job.seed)

        def dice(wanted: dict[str, Any]) -> Dice:
            return Dice(wanted, members, self.generator, dtype, rows)

        model = job.model
        augment = None if isinstance(job.augment, Mixer) else job.augment
        starts = {"theta": model.start_noise()}
        if augment is not None:
            starts["phi"] = augment.start_noise()
        start = dice(starts).roll()
        self.theta = Flat(torch.vmap(model.init)(start["theta"]))
        self.theta_state = adam_state(self.theta.matrix)
        self.settings = {k: v[rows].to(device, dtype) for k, v in job.settings.items()}
        self.decays = bool((self.settings["weight_decay"] != 0).any())
        others = augment.others if augment is not None else 0
        self.batches = Batches(
            job.sets, job.group.to(device), job.batch, self.generator, rows, others
        )
        self.dice = dice(one_member.noise(model, job.augment, job.batch))
        self.alive = torch.ones(len(self.theta.matrix), dtype=torch.bool, device=device)
        self.diverged = torch.zeros(len(self.alive), dtype=torch.int64, device=device)
        theta, batch, draws = self.theta.views, self.batches.current, self.dice.roll()
        self.phi: Flat | None = None
        if augment is not None and start["phi"]:
            self.phi = Flat(torch.vmap(augment.init)(start["phi"]))
            self.phi_state = adam_state(self.phi.matrix)
        self.group = job.group.to(device)[rows]
        self.walker = model if isinstance(model, Walker) else None
        self.kept: dict[str, Tensor] = {}
        if self.walker is not None:
            self.kept = torch.vmap(self.walker.set_out)(self.theta.views)
            self.walk_state = sgd_state(self.theta.matrix)
        phi = self.phi.views if self.phi is not None else {}
        bound = (theta, phi, batch, self.settings, draws)
        constant = (self.settings, batch.reach, batch.rows)
        # Of the terms that come with a gradient nothing is used here, so they are not computed.
        self._model = Program(
            lambda *now: one_member.model_gradient(model, job.augment, *now)[0], bound, constant
        )
        if augment is not None and self.phi is not None:
            self._generator = Program(
                lambda *now: one_member.generator_gradient(model, augment, *now)[0],
                bound,
                constant,
                after=self._model,
                changed=theta,
            )

    def train(self, progress: Progress | None) -> Fitted:
        started = time.perf_counter()
        epochs, walked = self.job.epochs, 0
        if self.walker is not None:
            walked = max(1, round(self.walker.walk_share * epochs))
        step = self._fastest(self.step)
        for epoch in range(epochs):
            if self.walker is not None and epoch == epochs - walked:
                step = self._fastest(self.walk)
            self.batches.shuffle()
            for _ in range(self.batches.steps_per_epoch):
                step()
            self.diverged.masked_fill_(~self.alive & (self.diverged == 0), epoch + 1)
            if epoch >= epochs - walked:
                self._look(epoch - epochs + walked)
            if progress is not None:
                progress(epoch + 1, epochs)
        theta = self._closed(self.theta.views if self.walker is None else self.kept)
        if self.alive.is_cuda:
            torch.cuda.synchronize()
        return Fitted(
            theta=theta,
            phi=self.phi.views if self.phi is not None else {},
            diverged=self.diverged,
            seconds=time.perf_counter() - started,
        )

    def step(self) -> None:
        """θ, then φ, for every member whose epoch goes on and who is still finite."""
        self._both_players(partial(adam_step, state=self.theta_state), "lr")

    def walk(self) -> None:
        """The same with θ on a walk: SGD at a constant rate."""
        self._both_players(partial(sgd_step, state=self.walk_state), "walk_lr")

    def _both_players(self, update: Callable[..., None], rate: str) -> None:
        gate = self.batches.take() & self.alive
        self.dice.roll()
        gradient = self._model()
        decay = self.settings["weight_decay"] if self.decays else None
        gate = self._descend(self.theta, gradient, update, gate, rate, decay)
        if self.phi is not None:
            gradient = self._generator()
            update = partial(adam_step, state=self.phi_state)
            self._descend(self.phi, gradient, update, gate, "generator_lr", None)

    def _descend(
        self,
        params: Flat,
        gradient: dict[str, Tensor],
        update: Callable[..., None],
        gate: Tensor,
        rate: str,
        decay: Tensor | None,
    ) -> Tensor:
        """One optimiser step; members whose gradient is not finite are frozen from here on."""
        grads = params.join(gradient)
        finite = finite_rows(grads)
        self.alive &= finite | ~gate
        gate = gate & finite
        update(params.matrix, grads, gate=gate, lr=self.settings[rate], weight_decay=decay)
        return gate

    def _look(self, looks: int) -> None:
        """Keeps what the walker wants of where every member is now."""
        if self.walker is not None:
            before = self.alive.new_full(self.alive.shape, looks, dtype=self.theta.matrix.dtype)
            with torch.no_grad():
                self.kept = torch.vmap(self.walker.collect)(self.kept, self.theta.views, before)

    def _closed(self, theta: dict[str, Tensor]) -> dict[str, Tensor]:
        """What is left to compute in closed form, some members at a time."""
        model, group = self.job.model, self.group
        if not isinstance(model, Closer):
            return theta
        sets = self.job.sets
        place = torch.arange(sets.rows.shape[1], device=group.device)
        width = max((*model.network.hidden, sets.x.shape[2]))
        chunk = max(1, FLOATS_AT_ONCE // (len(place) * width))
        parts = []
        for start in range(0, len(group), chunk):
            some = slice(start, start + chunk)
            which, rows = group[some, None], sets.rows[group[some]]
            seen = TrainingRows(sets.x[which, rows], sets.y[which, rows], place < sets.sizes[which])
            params, settings = (
                {k: v[some] for k, v in tree.items()} for tree in (theta, self.settings)
            )
            with torch.no_grad():
                parts.append(torch.vmap(model.close)(params, seen, settings))
        return _concatenated(parts)

    def _fastest(self, step: Callable[[], None]) -> Callable[[], None]:
        if not self.alive.is_cuda:
            return step
        try:
            return _captured(self, step)
        except RuntimeError as error:
            if "out of memory" not in str(error):  # which is how a capture may say it
                raise
            raise torch.cuda.OutOfMemoryError(str(error)) from error

    def state(self) -> list[Tensor]:
        """Every tensor that a step changes, besides the random numbers."""
        changed = [self.theta.matrix, *self.theta_state, self.alive, self.batches.step]
        if self.walker is not None:
            changed += self.walk_state
        return changed + ([self.phi.matrix, *self.phi_state] if self.phi is not None else [])


def _captured(run: _Run, step: Callable[[], None]) -> Callable[[], None]:
    """A step as one CUDA graph. Warming up and capturing leave no trace in the state."""
    before = [tensor.clone() for tensor in run.state()]
    dice = run.generator.get_state()
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run.batches.step.zero_()  # a short epoch must not be walked past its end
            step()
        run.batches.step.zero_()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(run.generator)
    with torch.cuda.graph(graph):
        step()
    for tensor, value in zip(run.state(), before, strict=True):
        tensor.copy_(value)
    run.generator.set_state(dice)
    return graph.replay


def _concatenated(parts: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
