"""Prior Augmented Data: the generator, its loss, the weight and the prior put together.

An augmentation answers three questions: which pseudo rows (`search`, `propose`), how strongly they
count (`weight`), where they pull (`pull`); and it says what its own parameters minimise
(`objective`).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import torch
from torch import Tensor

from reprior.augment.generator import Generator, Neighbourhood, Pooling, how_many_near
from reprior.augment.generator_loss import GeneratorTerms, generator_terms, ones_radius
from reprior.augment.prior import Prior, PriorMean, Task, Temperature
from reprior.augment.weight import kl_weight
from reprior.contracts import Draws, InputError, Likelihood, Noise, Params, Setting, Settings
from reprior.likelihoods import Gaussian


class Found(NamedTuple):
    """The neighbourhoods of a batch, and how many neighbours make one."""

    near: Neighbourhood
    k: Tensor  # ()


class Pseudo(NamedTuple):
    """Pseudo rows of one batch, and what they were drawn from."""

    x: Tensor  # (B', D) one draw per real row, unless told otherwise
    density: Gaussian  # q_φ, batch (B', D)
    k: Tensor  # () how many neighbours counted


@dataclass(frozen=True)
class PAD:
    """Options in the order of the method; the defaults are the paper's."""

    features: int  # D of the space that pseudo rows live in
    task: Task = "regression"
    at: int = 0  # the network stage that pseudo rows enter; 0 is the input
    hidden: int = 50  # 128 on images
    pooling: Pooling = "mean_max"
    self_is_near: bool = True
    per_row: float = 1.0  # pseudo rows for each real row
    others: int = 0  # training rows beyond the batch that λ's minimum runs over
    terms: str = "ABC"  # of the generator's loss
    threshold: bool | None = None  # C counts only beyond √D; None: in regression
    prior_mean: PriorMean = "own"  # regression
    temperature: Temperature = "tau_to_lambda"  # classification
    temperature_on_data: bool = True  # classification: + mean (1 − t)² on real rows
    temper_training: bool = False  # classification: cross-entropy of softmax(z/t), not softmax(z)

    name = "pad"

    def __post_init__(self) -> None:
        if self.pooling not in get_args(Pooling):
            names = ", ".join(repr(name) for name in get_args(Pooling))
            raise InputError(f"PAD has no pooling {self.pooling!r}; choose from {names}.")
        if not set(self.terms) <= set("ABC"):
            raise InputError(
                f"The generator's loss has no terms {self.terms!r}; name any of 'A', 'B', 'C'."
            )
        _ = self.prior  # which checks its own

    @property
    def prior(self) -> Prior:
        return Prior(
            self.task,
            self.prior_mean,
            self.temperature,
            self.temperature_on_data,
            self.temper_training,
        )

    def read(self, outputs: Tensor) -> Any:
        """The label density in a network's last layer, as the prior needs it."""
        return self.prior.read(outputs)

    @property
    def space(self) -> dict[str, Setting]:
        return self.prior.space | {
            "generator_lr": Setting(1e-3, (1e-3,), "Adam rate of the generator")
        }

    @property
    def generator(self) -> Generator:
        return Generator(self.features, self.hidden, self.pooling, self.self_is_near)

    def start_noise(self) -> dict[str, Noise]:
        return self.generator.noise()

    def init(self, noise: Draws) -> Params:
        return self.generator.init(noise)

    def batch_noise(self) -> dict[str, Noise]:
        """K is drawn once for each mini-batch and serves both players."""
        return {"k": Noise("uniform", ())}

    def count(self, batch: int) -> int:
        return max(1, round(self.per_row * batch))

    def noise(self, batch: int) -> dict[str, Noise]:
        return {"x_tilde": Noise("normal", (self.count(batch), self.features))}

    def search(self, phi: Params, x: Tensor, draws: Draws) -> Found:
        """Who is near whom in the batch x (B, D); without gradient."""
        k = how_many_near(draws["k"], len(x))
        return Found(self.generator.search(phi, x, k), k)

    def propose(self, phi: Params, x: Tensor, found: Found, draws: Draws) -> Pseudo:
        """Pseudo rows around the rows of x (B, D), by reparameterisation."""
        density = self.generator.decode(phi, x, found.near)
        if (count := len(draws["x_tilde"])) != len(x):
            # Batches come in random order: the first rows are as good as any.
            row = torch.arange(count, device=x.device) % len(x)
            density = Gaussian(density.mean[row], density.std[row])
        return Pseudo(density.mean + density.std * draws["x_tilde"], density, found.k)

    def weight(self, pseudo: Tensor, reference: Tensor, settings: Settings) -> Tensor:
        """λ (B',) of pseudo rows (B', D) against real rows (M, D)."""
        return kl_weight(pseudo, reference, settings["ell"])

    def pull(
        self, labels: Likelihood, real: Likelihood, weight: Tensor, settings: Settings
    ) -> Tensor:
        return self.prior.pull(labels, real, weight, settings)

    def objective(
        self, labels: Likelihood, pseudo: Pseudo, x: Tensor
    ) -> tuple[Tensor, GeneratorTerms]:
        """A − B + C for one batch, as far as they are in use, and each on its own (eq:phi-loss).

        labels  density at the pseudo rows, batch (B,)
        x       (B, D) the real rows
        """
        threshold = self.task == "regression" if self.threshold is None else self.threshold
        radius = ones_radius(self.features) if threshold else None
        terms = generator_terms(labels, pseudo.density, pseudo.x, x, pseudo.k, radius)
        return terms.total(self.terms), terms
