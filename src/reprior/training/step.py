"""One training step of one member, as the two players' losses (Algorithms 1 and 2).

θ steps first, with the pseudo rows held constant; then pseudo rows are drawn again and φ steps
against the new θ, held constant. Everything here is a pure function of one member.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from reprior.contracts import Augmentation, Batch, Draws, Mixer, Model, Noise, Params, Settings


class ModelTerms(NamedTuple):
    """The model's loss, term by term, each ()."""

    data: Tensor  # what the model minimises on real rows: the negative log-likelihood and its own
    pull: Tensor  # R, towards the prior on pseudo rows


def noise(
    model: Model, augment: Augmentation | Mixer | None, batch: int
) -> dict[str, dict[str, Noise]]:
    """Every random number of one step, by the forward pass it belongs to."""
    wanted = {"real": model.noise(batch)}
    if isinstance(augment, Mixer):
        wanted["mixed"] = augment.mix_noise(batch)
    elif augment is not None:
        wanted |= {
            "pseudo": model.noise(augment.count(batch)),
            "probe": model.noise(augment.count(batch)),
            "batch": augment.batch_noise(),
            "for_theta": augment.noise(batch),
            "for_phi": augment.noise(batch),
        }
        if augment.others:
            wanted["others"] = model.noise(augment.others)
    return wanted


def place(
    model: Model, augment: Augmentation, theta: Params, x: Tensor, settings: Settings, draws: Draws
) -> Tensor:
    """Real rows (B, D) in the space that pseudo rows live in, constant."""
    if augment.at == 0:
        return x
    return model.features(theta, x, settings, draws, augment.at).detach()


def model_gradient(
    model: Model,
    augment: Augmentation | Mixer | None,
    theta: Params,
    phi: Params,
    batch: Batch,
    settings: Settings,
    draws: Mapping[str, Draws],
) -> tuple[Params, ModelTerms]:
    """∂/∂θ of the model loss (eq:theta-loss-final)."""
    if isinstance(augment, Mixer):
        batch, augment = augment.mix(batch, settings, draws["mixed"]), None
    x_tilde = weight = None
    if augment is not None:
        x = place(model, augment, theta, batch.x, settings, draws["real"])
        found = augment.search(phi, x, draws["batch"])
        x_tilde = augment.propose(phi, x, found, draws["for_theta"]).x
        if augment.others:
            others = place(model, augment, theta, batch.others, settings, draws["others"])
            x = torch.cat([x, others])
        weight = augment.weight(x_tilde, x, settings)

    def loss(theta: Params) -> tuple[Tensor, ModelTerms]:
        data, real = model.loss(theta, batch, settings, draws["real"])
        if augment is None or x_tilde is None or weight is None:
            return data, ModelTerms(data, torch.zeros_like(data))
        labels = model.density(theta, x_tilde, settings, draws["pseudo"], augment.at)
        pull = augment.pull(labels, real, weight, settings)
        return data + pull, ModelTerms(data, pull)

    gradient, terms = torch.func.grad(loss, has_aux=True)(theta)
    return gradient, terms


def generator_gradient(
    model: Model,
    augment: Augmentation,
    theta: Params,
    phi: Params,
    batch: Batch,
    settings: Settings,
    draws: Mapping[str, Draws],
) -> tuple[Params, Any]:
    """∂/∂φ of the generator loss against the model as it now is (eq:phi-loss).

    In input space the first lines ask again for what θ's step has asked for, and φ has not moved
    since: the lifted program does not compute it twice. In latent space the features have moved.
    """

    def loss(phi: Params) -> tuple[Tensor, Any]:
        x = place(model, augment, theta, batch.x, settings, draws["real"])
        found = augment.search(phi, x, draws["batch"])
        pseudo = augment.propose(phi, x, found, draws["for_phi"])
        labels = model.density(theta, pseudo.x, settings, draws["probe"], augment.at)
        return augment.objective(labels, pseudo, x)

    gradient, terms = torch.func.grad(loss, has_aux=True)(phi)
    return gradient, terms
