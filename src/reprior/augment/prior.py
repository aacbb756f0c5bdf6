"""Where pseudo rows pull the label density to: the regularisers r_θ of the model loss.

Regression raises σ towards the prior's 1; classification raises a temperature, because raising the
entropy of the logits themselves cost accuracy (eq:regression-prior, eq:classification-prior).
All are means over the batch, ().
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from torch import Tensor

from reprior.contracts import InputError, Likelihood, Setting, Settings
from reprior.likelihoods import (
    Categorical,
    Gaussian,
    TemperedCategorical,
    categorical,
    gaussian,
    tempered,
)

Task = Literal["regression", "classification"]
PriorMean = Literal["own", "zero"]
Form = Literal["tau_to_lambda", "doubly_weighted"]
Temperature = Literal["tau_to_lambda", "doubly_weighted", "uniform"]


@dataclass(frozen=True)
class Prior:
    """What all that proposes pseudo rows shares: which prior they pull to, and in which form."""

    task: Task = "regression"
    mean: PriorMean = "own"  # regression
    temperature: Temperature = "tau_to_lambda"  # classification
    temperature_on_data: bool = True  # classification: + mean (1 − t)² on real rows
    temper_training: bool = False  # classification: cross-entropy of softmax(z/t), not softmax(z)

    def __post_init__(self) -> None:
        for what, given, known in (
            ("task", self.task, get_args(Task)),
            ("prior_mean", self.mean, get_args(PriorMean)),
            ("temperature", self.temperature, get_args(Temperature)),
        ):
            if given not in known:
                names = ", ".join(repr(name) for name in known)
                raise InputError(f"PAD has no {what} {given!r}; choose from {names}.")

    @property
    def space(self) -> dict[str, Setting]:
        off = float("inf")
        found = {
            "ell": Setting(1.0, (0.5, 1.0, 2.0, 4.0, 8.0, off), "length scale ℓ of λ; inf is off")
        }
        if self.task == "classification":
            found["tau"] = Setting(3.0, (3.0, 10.0), "largest temperature τ")
        return found

    def read(self, outputs: Tensor) -> Any:
        """The label density in a network's last layer (..., outputs), as the pull needs it.

        Two outputs in regression, C + 1 in classification (C where the pull is to the uniform,
        which has no temperature).
        """
        if self.task == "regression":
            return gaussian.from_outputs(outputs)
        if self.temperature == "uniform":
            return categorical.from_outputs(outputs)
        if self.temper_training:
            return tempered.from_outputs_in_training(outputs)
        return tempered.from_outputs(outputs)

    def pull(
        self, labels: Likelihood, real: Likelihood, weight: Tensor, settings: Settings
    ) -> Tensor:
        """R: what the model pays for being sure where it has no data.

        labels  density at the pseudo rows, batch (B,)
        real    density at the real rows, batch (B,)
        weight  (B,) λ
        """
        if isinstance(labels, Gaussian):
            return regression_pull(labels, weight, self.mean)
        if self.temperature == "uniform":
            if isinstance(labels, Categorical | TemperedCategorical):
                return uniform_pull(labels, weight)
        elif isinstance(labels, TemperedCategorical) and isinstance(real, TemperedCategorical):
            pull = temperature_pull(labels, weight, settings["tau"], self.temperature)
            return pull + temperature_on_data(real) if self.temperature_on_data else pull
        raise ValueError(
            f"PAD was given a {type(labels).__name__}, which has no temperature to pull; read the "
            "network's C + 1 outputs with PAD.read, or choose temperature='uniform'."
        )


def regression_pull(labels: Gaussian, weight: Tensor, mean: PriorMean = "own") -> Tensor:
    """mean_n λ_n KL(N(μ_n, σ_n) ‖ N(m_n, 1)), labels standardised.

    labels  density at the pseudo rows, batch (B,)
    weight  (B,) λ
    mean    "own": m_n = μ_n, so that only σ is moved (the paper); "zero": the prior N(0, 1) itself
    """
    divergence = 0.5 * (labels.variance - 1) - labels.std.log()
    if mean == "zero":
        divergence = divergence + 0.5 * labels.mean.square()
    return (weight * divergence).mean()


def temperature_pull(
    labels: TemperedCategorical, weight: Tensor, tau: Tensor, form: Form = "tau_to_lambda"
) -> Tensor:
    """mean_n (τ^{λ_n} − t_n)²: temperature 1 where λ = 0 and τ where λ = 1.

    labels  density at the pseudo rows, batch (B,)
    weight  (B,) λ
    tau     () largest temperature
    form    "doubly_weighted" multiplies each row's term by λ_n once more
    """
    gap = (tau**weight - labels.temperature).square()
    return (weight * gap if form == "doubly_weighted" else gap).mean()


def uniform_pull(labels: Categorical | TemperedCategorical, weight: Tensor) -> Tensor:
    """mean_n λ_n KL(softmax(z_n) ‖ uniform), what the paper tried first: it moves the logits.

    labels  density at the pseudo rows, batch (B,)
    weight  (B,) λ
    """
    return (weight * labels.untempered().kl_to_uniform()).mean()


def temperature_on_data(labels: TemperedCategorical) -> Tensor:
    """mean_n (1 − t_n)² at real rows: there λ = 0, so the temperature belongs at 1."""
    return (1 - labels.temperature).square().mean()
