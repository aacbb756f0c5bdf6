"""One training step of one member, as the two players' losses (Algorithms 1 and 2).

θ steps first, with the pseudo rows held constant; then pseudo rows are drawn again and φ steps
against the new θ, held constant. Everything here is a pure function of one member.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from reprior.augment import PAD
from reprior.augment.generator import Neighbourhood
from reprior.augment.generator_loss import GeneratorTerms
from reprior.contracts import Batch, Draws, Model, Noise, Params, Settings


class ModelTerms(NamedTuple):
    """The model's loss, term by term, each ()."""

    data: Tensor  # what the model minimises on real rows: the negative log-likelihood and its own
    pull: Tensor  # R, towards the prior on pseudo rows


class Found(NamedTuple):
    """The batch's neighbourhoods and how many neighbours make one."""

    near: Neighbourhood
    k: Tensor  # ()


def noise(model: Model, augment: PAD | None, batch: int) -> dict[str, dict[str, Noise]]:
    """Every random number of one step, by the forward pass it belongs to."""
    wanted = {"real": model.noise(batch)}
    if augment is not None:
        wanted |= {
            "pseudo": model.noise(batch),
            "probe": model.noise(batch),
            "batch": augment.k_noise(),
            "for_theta": augment.noise(batch),
            "for_phi": augment.noise(batch),
        }
        if augment.others:
            wanted["others"] = model.noise(augment.others)
    return wanted


def place(
    model: Model, augment: PAD, theta: Params, x: Tensor, settings: Settings, draws: Draws
) -> Tensor:
    """Real rows (B, D) in the space that pseudo rows live in, constant."""
    if augment.at == 0:
        return x
    return model.features(theta, x, settings, draws, augment.at).detach()


def model_gradient(
    model: Model,
    augment: PAD | None,
    theta: Params,
    phi: Params,
    batch: Batch,
    settings: Settings,
    draws: Mapping[str, Draws],
) -> tuple[Params, ModelTerms, Found | tuple[()]]:
    """∂/∂θ of the model loss (eq:theta-loss-final), and who was found near whom on the way."""
    found: Found | tuple[()] = ()
    x_tilde = weight = None
    if augment is not None:
        x = place(model, augment, theta, batch.x, settings, draws["real"])
        near, k = found = Found(*augment.search(phi, x, draws["batch"]))
        x_tilde = augment.propose(phi, x, near, k, draws["for_theta"]).x
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
    return gradient, terms, found


def generator_gradient(
    model: Model,
    augment: PAD,
    theta: Params,
    phi: Params,
    batch: Batch,
    settings: Settings,
    draws: Mapping[str, Draws],
    found: Found,
) -> tuple[Params, GeneratorTerms]:
    """∂/∂φ of the generator loss against the model as it now is (eq:phi-loss).

    found  the neighbourhoods and K that θ's step used. They still hold in input space, where φ
           alone decides them; in latent space θ has moved the features and they are sought anew.
    """

    def loss(phi: Params) -> tuple[Tensor, GeneratorTerms]:
        x = place(model, augment, theta, batch.x, settings, draws["real"])
        near, k = found if augment.at == 0 else augment.search(phi, x, draws["batch"])
        pseudo = augment.propose(phi, x, near, k, draws["for_phi"])
        labels = model.density(theta, pseudo.x, settings, draws["probe"], augment.at)
        terms = augment.loss_terms(labels, pseudo, x)
        return terms.total(augment.terms), terms

    gradient, terms = torch.func.grad(loss, has_aux=True)(phi)
    return gradient, terms
