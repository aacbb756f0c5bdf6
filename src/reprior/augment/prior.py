"""Where pseudo rows pull the label density to: the regularisers r_θ of the model loss.

Regression raises σ towards the prior's 1; classification raises a temperature, because raising the
entropy of the logits themselves cost accuracy (eq:regression-prior, eq:classification-prior).
All are means over the batch, ().
"""

from typing import Literal

from torch import Tensor

from reprior.likelihoods import Categorical, Gaussian, TemperedCategorical

PriorMean = Literal["own", "zero"]
Form = Literal["tau_to_lambda", "doubly_weighted"]


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
