"""What every augmentation promises; training asks no more of one than the contract says."""

from importlib import import_module

import numpy as np
import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map

from reprior.augment.catalogue import AUGMENTATIONS
from reprior.contracts import Mixer, Noise
from reprior.likelihoods import Gaussian, gaussian
from reprior.models import DeepEnsemble
from reprior.networks import MLP
from reprior.population.layout import training_sets
from reprior.training import Job, default_settings, fit, search_space

engine = import_module("reprior.training.fit")
P, B, D = 3, 8, 4


PROPOSERS = [name for name in AUGMENTATIONS if not isinstance(AUGMENTATIONS[name](D), Mixer)]


@pytest.fixture(params=PROPOSERS)
def augment(request):
    return AUGMENTATIONS[request.param](D)


def rolled(wanted, *lead):
    def one(noise):
        fill = torch.randn if noise.kind == "normal" else torch.rand
        return fill((*lead, *noise.shape), dtype=torch.float64)

    return {name: one(noise) for name, noise in wanted.items()}


def one_batch(augment, phi, x, shared, draws, settings):
    """Everything training asks of an augmentation, for one member."""
    found = augment.search(phi, x, shared)
    pseudo = augment.propose(phi, x, found, draws)
    weight = augment.weight(pseudo.x, x, settings)
    labels = Gaussian(pseudo.x.sum(-1), 0.5 + pseudo.x[:, 0].abs())
    return pseudo.x, weight, augment.pull(labels, labels, weight, settings)


def material(augment, *lead):
    start = rolled(augment.start_noise(), *lead)
    phi = torch.vmap(augment.init)(start) if lead and start else augment.init(start)
    settings = {
        name: torch.full(lead, setting.default, dtype=torch.float64)
        for name, setting in augment.space.items()
    }
    x = torch.randn(*lead, B, D, dtype=torch.float64)
    return phi, x, rolled(augment.batch_noise(), *lead), rolled(augment.noise(B), *lead), settings


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_it_is_listed_under_its_name_with_settings_that_can_be_chosen(name):
    augment = AUGMENTATIONS[name](D)
    assert augment.name == name
    for setting in augment.space.values():
        assert setting.default in setting.choices
        assert setting.meaning


def test_it_proposes_one_row_per_row_and_weighs_it_between_nothing_and_all(augment):
    torch.manual_seed(0)
    x_tilde, weight, pull = one_batch(augment, *material(augment))
    assert x_tilde.shape == (augment.count(B), D)
    assert weight.shape == (augment.count(B),)
    assert ((weight >= 0) & (weight <= 1)).all()
    assert pull.shape == ()
    assert pull >= 0


def test_a_population_equals_a_loop_over_its_members(augment):
    torch.manual_seed(1)
    members = material(augment, P)
    lifted = torch.vmap(lambda *args: one_batch(augment, *args))(*members)
    for p in range(P):
        alone = one_batch(augment, *tree_map(lambda leaf, p=p: leaf[p], members))
        for one, all_of_them in zip(tree_leaves(alone), tree_leaves(lifted), strict=True):
            torch.testing.assert_close(all_of_them[p], one)


class Around:
    """Pseudo rows one step of noise away from real ones: nothing to learn, nothing to search."""

    name, at, others, space = "around", 0, 0, {}

    def count(self, batch):
        return batch

    def start_noise(self):
        return {}

    def batch_noise(self):
        return {}

    def noise(self, batch):
        return {"step": Noise("normal", (batch, D))}

    def search(self, phi, x, draws):
        assert phi == {}
        return ()

    def propose(self, phi, x, found, draws):
        return Gaussianless(x + draws["step"])

    def weight(self, pseudo, reference, settings):
        return torch.ones(len(pseudo), dtype=pseudo.dtype)

    def pull(self, labels, real, weight, settings):
        return (weight * labels.kl_to(Gaussian(labels.mean, torch.ones_like(labels.std)))).mean()


class Gaussianless:
    def __init__(self, x):
        self.x = x


def test_one_that_learns_nothing_needs_no_generator_and_trains_as_its_plain_loop():
    rng = np.random.default_rng(0)
    sets = training_sets(
        rng.normal(size=(40, D)), rng.normal(size=40), [np.arange(40)], torch.float64
    )
    model = DeepEnsemble(MLP((D, 6, 2)), gaussian.from_outputs, adversarial=False)
    settings = default_settings(search_space(model, Around()), 2, lr=1e-2)
    job = Job(model, Around(), sets, torch.zeros(2, dtype=torch.int64), settings, 1, B, seed=0)
    run = engine._Run(job, slice(None))
    params = [
        {k: v[p].clone().requires_grad_() for k, v in run.theta.views.items()} for p in (0, 1)
    ]
    optimisers = [torch.optim.Adam(member.values(), lr=1e-2) for member in params]
    run.batches.shuffle()
    for _ in range(4):
        run.step()
        for p, (member, optimiser) in enumerate(zip(params, optimisers, strict=True)):
            x, y = run.batches.current.x[p], run.batches.current.y[p]
            step = run.dice.values["for_theta"]["step"][p]
            std = gaussian.from_outputs(model.network.run(member, x + step)).std
            nll = -gaussian.from_outputs(model.network.run(member, x)).log_prob(y).mean()
            loss = nll + ((std.square() - 1) / 2 - std.log()).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    for p, member in enumerate(params):
        for name, value in member.items():
            torch.testing.assert_close(run.theta.views[name][p], value.detach(), rtol=0, atol=1e-9)
    assert fit(job).phi == {}
