"""From a spec to populations: which members train side by side, and on which rows.

A cell of the table needs two stages. `tune` trains every candidate setting on every fold of every
split; `final` trains the chosen setting on all training rows of a split and meets the test rows.
Both are cut into populations whose content depends on nothing but the spec, so that a run that was
interrupted is resumed by subtraction: the plan minus what the store holds.
"""

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np

from reprior.augment.catalogue import augmentation
from reprior.benchmark.methods import BySteps, InOneGo, Method
from reprior.benchmark.spec import Spec, batch_size
from reprior.contracts import Direct, Rows, Setting, Split, Table
from reprior.datasets import catalogue
from reprior.datasets.tables import check_for_benchmark
from reprior.likelihoods import gaussian
from reprior.models.catalogue import model
from reprior.networks import MLP
from reprior.shifts import clusters, random_rows
from reprior.shifts.catalogue import SHIFTS
from reprior.shifts.divisions import within


@dataclass(frozen=True)
class Cell:
    """One entry of the table, before it is spread over splits."""

    protocol: str
    shift: str
    set: str
    model: str
    augment: str


@dataclass(frozen=True)
class Task:
    """One trained estimate: a candidate on a fold, or the chosen setting on a whole split."""

    split: int
    fold: int  # -1: all training rows of the split, tested on its test rows
    candidate: int


@dataclass(frozen=True)
class Population:
    """Tasks that train side by side; `key` names them and everything their numbers depend on."""

    cell: Cell
    stage: str  # tune or final
    tasks: tuple[Task, ...]
    epochs: int
    candidates: int  # how many there are to choose from
    seed: int

    @property
    def key(self) -> str:
        return hashlib.sha256(repr(asdict(self)).encode()).hexdigest()[:24]

    @property
    def number(self) -> int:
        """The population's own seed for its random numbers."""
        return int(self.key[:15], 16)


def cells(spec: Spec) -> Iterator[Cell]:
    for name in spec.sets:
        for protocol in spec.protocols:
            for which, augment in combinations(spec):
                yield Cell(protocol, spec.shift, name, which, augment)


def combinations(spec: Spec) -> list[tuple[str, str]]:
    """Every model with every augmentation that it takes."""
    return [
        (name, augment)
        for name in spec.models
        for augment in spec.augments
        if not augment or build(Cell("", "", "", name, ""), 1).takes_augmentation
    ]


def build(cell: Cell, features: int) -> Method:
    """The model of a cell and its augmentation, for tables of D features."""
    network = MLP((features, 50, 50, 2))
    built = model(cell.model, network, gaussian.from_outputs)
    if isinstance(built, Direct):
        return InOneGo(built)
    return BySteps(built, augmentation(cell.augment, features) if cell.augment else None)


def candidates(space: dict[str, Setting], count: int, seed: int) -> list[dict[str, float]]:
    """`count` settings to choose from; every value of every setting comes up equally often.

    A setting's values are dealt by its own name, so that a model's settings are the same with and
    without an augmentation: nobody gets the luckier hand.
    """
    dealt = {}
    for name, setting in space.items():
        rng = np.random.default_rng([seed, *name.encode()])
        rounds = -(-count // len(setting.choices))
        hand = np.concatenate([rng.permutation(setting.choices) for _ in range(rounds)])[:count]
        dealt[name] = rng.permutation(hand)
    return [{name: float(hand[i]) for name, hand in dealt.items()} for i in range(count)]


class Divisions:
    """The splits of one table under one shift, and their folds under each protocol."""

    def __init__(self, table: Table, shift: str, splits: int) -> None:
        check_for_benchmark(table)
        self.table = table
        self.labels: Rows = clusters.assign(table.x)
        self.splits: list[Split] = SHIFTS[shift](self.labels, splits)

    def folds(self, split: int, protocol: str, augment: str) -> list[Split]:
        """Divisions of a split's training rows for tuning, in row numbers of the table.

        paper  plain models: one random 80/20; augmented ones: both halves of the training clusters
        fair   everyone: five folds of clusters, each holding out about as much as the test shift
        """
        train = self.splits[split].train
        if protocol == "paper" and not augment:
            found = [random_rows.single(len(train), seed=split)]
        else:
            with warnings.catch_warnings():
                # Where the clusters allow fewer folds, fewer are used: that is the whole response.
                warnings.simplefilter("ignore", UserWarning)
                found = clusters.folds(self.labels[train], protocol, seed=split)
        return [within(train, fold) for fold in found]


def divide(name: str, shift: str, splits: int, data_dir: str | None) -> Divisions:
    """The table of this name and its splits under a shift."""
    return Divisions(catalogue.load(name, data_dir), shift, splits)


def space_of(cell: Cell, features: int) -> dict[str, Setting]:
    return build(cell, features).space


def ranges(spec: Spec) -> dict[str, str]:
    """What every model of a spec is and is tuned over, as hashes: others if either is edited."""
    found = {}
    for name, augment in combinations(spec):
        method = build(Cell("", "", "", name, augment), 1)
        label = f"{name}+{augment}" if augment else name
        text = repr(method.space) + method.options
        found[f"ranges of {label}"] = hashlib.sha256(text.encode()).hexdigest()[:12]
    return found


def tuning(cell: Cell, spec: Spec, divisions: Divisions, device: str) -> list[Population]:
    """Every candidate on every fold of every split; nothing where there is nothing to set."""
    if not space_of(cell, divisions.table.x.shape[1]):
        return []
    tasks, rows = [], []
    for split in range(len(divisions.splits)):
        folds = divisions.folds(split, cell.protocol, cell.augment)
        for fold, division in enumerate(folds):
            for candidate in range(spec.candidates):
                tasks.append(Task(split, fold, candidate))
                rows.append(len(division.train))
    return _cut(cell, "tune", tasks, rows, spec, divisions.table, device)


def finals(
    cell: Cell, spec: Spec, divisions: Divisions, chosen: Sequence[int], device: str
) -> list[Population]:
    """The chosen candidate of every split, on all its training rows."""
    tasks = [Task(split, -1, candidate) for split, candidate in enumerate(chosen)]
    rows = [len(split.train) for split in divisions.splits]
    return _cut(cell, "final", tasks, rows, spec, divisions.table, device)


def _cut(
    cell: Cell,
    stage: str,
    tasks: list[Task],
    rows: list[int],
    spec: Spec,
    table: Table,
    device: str,
) -> list[Population]:
    """Neighbours in size go together, so that nobody waits long; each part about equally much."""
    built = build(cell, table.x.shape[1])
    order = sorted(range(len(tasks)), key=lambda i: (rows[i], i))
    parts = built.parts(rows, spec.epochs, batch_size(len(table.x)), device)
    bounds = np.linspace(0, len(tasks), max(1, min(len(tasks), parts)) + 1).round().astype(int)
    return [
        Population(
            cell, stage, tuple(tasks[i] for i in order[start:stop]),
            spec.epochs, spec.candidates, spec.seed,
        )
        for start, stop in pairwise(bounds)
    ]  # fmt: skip
