"""Values that pass from one room to another, and the one error a user is meant to read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Params = dict[str, Tensor]  # a network's weights by name, for one member
Settings = Mapping[str, Tensor]  # hyperparameters by name, each () for one member
Draws = Mapping[str, Tensor]  # random numbers by name: randomness is an argument


class InputError(ValueError):
    """Something given from outside cannot be used.

    The message is one sentence that says what was given, what was expected and what to do. Doors
    print it alone and leave with exit code 2; it is never raised for a fault of our own.
    """


@dataclass(frozen=True)
class Table:
    """A regression or classification problem as it comes from its file, unscaled."""

    name: str
    x: Floats  # (N, D)
    y: Floats  # (N,) labels, or class numbers as floats
    features: tuple[str, ...]  # D names
    target: str


class Split(NamedTuple):
    """Row numbers of one train/test division, each sorted and without repeats."""

    train: Rows
    test: Rows


class Noise(NamedTuple):
    """A request for random numbers, standard normal or uniform on (0, 1), answered at the edge."""

    kind: Literal["normal", "uniform"]
    shape: tuple[int, ...]


class Batch(NamedTuple):
    """What one member sees at one step, standardised by its own training rows."""

    x: Tensor  # (B, D)
    y: Tensor  # (B,)
    reach: Tensor  # (D,) largest minus smallest value of each feature over the training rows
    rows: Tensor  # () how many training rows there are
    others: Tensor  # (M, D) further training rows, for λ's minimum; M is 0 unless asked for


class Setting(NamedTuple):
    """One hyperparameter: what it is, what it is without tuning, and what tuning may choose."""

    default: float
    choices: tuple[float, ...]
    meaning: str


class Likelihood(Protocol):
    """A label's density given an input: what every network of this package predicts.

    Implementations are NamedTuples of tensors with any leading axes (...), so that torch's function
    transforms see through them.
    """

    def log_prob(self, y: Tensor) -> Tensor: ...

    def training_log_prob(self, y: Tensor) -> Tensor:
        """What training maximises at real rows; most predict the very density they learn."""

    def entropy(self) -> Tensor: ...


class Mixture(Protocol):
    """The density of a prediction: a mixture of its draws, batch (N,)."""

    @property
    def components(self) -> Any:
        """The draws, a likelihood with leading axis S."""

    @property
    def log_weights(self) -> Tensor:
        """(S, N), summing to 1 over S once exponentiated."""


class Network(Protocol):
    """A chain of stages that can be entered and left between any two of them."""

    @property
    def stages(self) -> int: ...

    @property
    def hidden(self) -> tuple[int, ...]: ...

    def noise(self) -> dict[str, Noise]: ...

    def init(self, noise: Draws) -> Params: ...

    def run(
        self,
        params: Params,
        x: Tensor,
        start: int = 0,
        stop: int | None = None,
        scales: Sequence[Tensor | None] | None = None,
    ) -> Tensor: ...


class Model(Protocol):
    """One uncertainty method, as pure functions of one member of a population.

    Every file of `reprior.models` holds one, in this order: what can be set, how it starts, what
    it minimises, what it predicts.
    """

    @property
    def name(self) -> str: ...

    @property
    def members(self) -> int:
        """How many independently trained rows of a population make one model."""

    @property
    def takes_augmentation(self) -> bool:
        """False where one noise serves all rows: a pull at some would raise it everywhere."""

    @property
    def space(self) -> dict[str, Setting]:
        """What can be set, with its default and the values tuning chooses from."""

    @property
    def network(self) -> Network: ...

    def noise(self, batch: int) -> dict[str, Noise]:
        """Random numbers for one stochastic forward pass over a batch."""

    def start_noise(self) -> dict[str, Noise]:
        """Random numbers for `init`."""

    def init(self, noise: Draws) -> Params:
        """Starting weights."""

    def features(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, at: int
    ) -> Tensor:
        """Activations (B, D) that enter stage `at`."""

    def density(
        self, params: Params, x: Tensor, settings: Settings, draws: Draws, start: int = 0
    ) -> Likelihood:
        """One draw of the label density at rows that enter stage `start`, batch (B,).

        A model whose members share their batch leads with them: batch (C, B).
        """

    def loss(
        self, params: Params, batch: Batch, settings: Settings, draws: Draws
    ) -> tuple[Tensor, Likelihood]:
        """What training minimises on real rows, (), and one draw of their label density."""

    def prediction_noise(self) -> dict[str, Noise]:
        """Random numbers for one member's whole prediction, the same for every row."""

    def predict(self, params: Params, x: Tensor, settings: Settings, draws: Draws) -> Mixture:
        """The label density at rows x (N, D)."""


@runtime_checkable
class Walker(Protocol):
    """A model that ends its training on a walk: SGD at a constant rate, setting `walk_lr`.

    It predicts from where it has been, which `collect` keeps.
    """

    @property
    def walk_share(self) -> float:
        """The share of all epochs that the walk takes."""

    def set_out(self, params: Params) -> Params:
        """What is kept before the first look."""

    def collect(self, kept: Params, params: Params, looks: Tensor) -> Params:
        """What is kept after one more look, at the end of an epoch; looks (): how many before."""


class TrainingRows(NamedTuple):
    """All rows that one member learned from, standardised; a shorter list is filled up."""

    x: Tensor  # (N, D)
    y: Tensor  # (N,)
    mask: Tensor  # (N,) bool, true for real rows


@runtime_checkable
class Closer(Protocol):
    """A model with something left to compute in closed form once its steps are done."""

    def close(self, params: Params, rows: TrainingRows, settings: Settings) -> Params: ...


@runtime_checkable
class Direct(Protocol):
    """A method that is not trained by steps: from training rows to predictions in one go."""

    @property
    def name(self) -> str: ...

    @property
    def space(self) -> dict[str, Setting]:
        """What can be set; empty where the method sets itself."""

    def fit_predict(
        self, x: Tensor, y: Tensor, asked: Tensor, settings: Mapping[str, float], seed: int
    ) -> Mixture:
        """The label density at rows asked (M, D), learned from x (N, D) and y (N,)."""


class PseudoRows(Protocol):
    """What an augmentation proposes for a batch; what else it keeps is its own affair."""

    @property
    def x(self) -> Tensor:
        """(B', D), as many as the augmentation's `count` says for a batch."""


@runtime_checkable
class Mixer(Protocol):
    """An augmentation that changes the real rows of a batch and proposes none of its own."""

    @property
    def name(self) -> str: ...

    @property
    def space(self) -> dict[str, Setting]: ...

    def mix_noise(self, batch: int) -> dict[str, Noise]:
        """Random numbers of one batch."""

    def mix(self, batch: Batch, settings: Settings, draws: Draws) -> Batch:
        """What the model learns from in place of the batch."""


class Augmentation(Protocol):
    """Pseudo rows that training adds to the data, as pure functions of one member.

    Three questions: which pseudo rows (`search`, `propose`), how strongly they count (`weight`),
    where they pull (`pull`). One that learns has parameters of its own, phi, and says what they
    minimise (`objective`); any other asks for no numbers to start from, and phi is empty.
    """

    @property
    def name(self) -> str: ...

    @property
    def space(self) -> dict[str, Setting]: ...

    @property
    def at(self) -> int:
        """The network stage that pseudo rows enter; 0 is the input."""

    @property
    def others(self) -> int:
        """How many training rows beyond the batch the weight is told of."""

    def start_noise(self) -> dict[str, Noise]:
        """Random numbers for `init`; none where nothing is learned."""

    def init(self, noise: Draws) -> Params: ...

    def count(self, batch: int) -> int:
        """How many pseudo rows B' a batch of B real rows gets."""

    def batch_noise(self) -> dict[str, Noise]:
        """Random numbers of a batch that both of its drawings share."""

    def noise(self, batch: int) -> dict[str, Noise]:
        """Random numbers of one drawing."""

    def search(self, phi: Params, x: Tensor, draws: Draws) -> Any:
        """What both drawings of a batch x (B, D) share, tensors without gradient."""

    def propose(self, phi: Params, x: Tensor, found: Any, draws: Draws) -> PseudoRows: ...

    def weight(self, pseudo: Tensor, reference: Tensor, settings: Settings) -> Tensor:
        """(B',) how strongly pseudo rows (B', D) count beside real rows (M, D), 0 to 1."""

    def pull(
        self, labels: Likelihood, real: Likelihood, weight: Tensor, settings: Settings
    ) -> Tensor:
        """What the model pays for its density at the pseudo rows, (); real: at the real rows."""

    def objective(self, labels: Likelihood, pseudo: Any, x: Tensor) -> tuple[Tensor, Any]:
        """What phi minimises, (), and its terms."""
