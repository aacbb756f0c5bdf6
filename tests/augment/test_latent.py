"""Pseudo rows between two stages: who they move, and a population against ordinary training."""

from importlib import import_module

import numpy as np
import pytest
import torch

from reprior.augment import PAD
from reprior.contracts import Batch
from reprior.likelihoods import gaussian, tempered
from reprior.models import DeepEnsemble, MCDropout
from reprior.networks import MLP
from reprior.population.layout import training_sets
from reprior.training import Job, default_settings, search_space
from reprior.training.step import model_gradient, noise

engine = import_module("reprior.training.fit")
NET = MLP((3, 7, 6, 2))


def rolled(wanted):
    return {k: torch.randn(n.shape).double().sigmoid() for k, n in wanted.items()}


def gradients(pad, model):
    """∂/∂θ with and without the pull, at the same batch and the same draws."""
    torch.manual_seed(0)
    net = model.network
    theta, phi = net.init(rolled(net.noise())), pad.generator.init(rolled(pad.generator.noise()))
    y = torch.randint(0, net.sizes[-1] - 1, (8,)).double()
    batch = Batch(torch.randn(8, 3).double(), y, torch.ones(3).double(), torch.tensor(8.0), y[:0])
    settings = {k: v[0] for k, v in default_settings(search_space(model, pad), 1).items()}
    draws = {group: rolled(wanted) for group, wanted in noise(model, pad, 8).items()}
    with_it, terms = model_gradient(model, pad, theta, phi, batch, settings, draws)
    without, _ = model_gradient(model, None, theta, phi, batch, settings, draws)
    assert terms.pull > 0
    return with_it, without


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("kind", [MCDropout, DeepEnsemble])
def test_the_pull_moves_the_head_and_never_the_stages_before_it(kind, at):
    pad = PAD(NET.sizes[at], at=at, hidden=5)
    with_it, without = gradients(pad, kind(NET, gaussian.from_outputs))
    for stage in range(NET.stages):
        moved = not torch.equal(with_it[f"weight{stage}"], without[f"weight{stage}"])
        assert moved == (stage >= at)


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("on_data", [False, True])
def test_in_classification_only_the_hold_on_real_rows_reaches_the_features(at, on_data):
    net = MLP((3, 7, 6, 4))
    pad = PAD(net.sizes[at], "classification", at, hidden=5, temperature_on_data=on_data)
    with_it, without = gradients(pad, MCDropout(net, tempered.from_outputs))
    before = [f"{kind}{stage}" for kind in ("weight", "bias") for stage in range(at)]
    moved = any(not torch.equal(with_it[name], without[name]) for name in before)
    assert moved == on_data
    assert not torch.equal(with_it["weight2"], without["weight2"])


class OrdinaryMember:
    """One member trained by autograd and torch.optim, with PAD at stage `at` spelled out."""

    def __init__(self, job, p, theta, phi):
        self.job, self.settings = job, {k: float(v[p]) for k, v in job.settings.items()}
        self.theta = {k: v[p].clone().requires_grad_() for k, v in theta.items()}
        self.phi = {k: v[p].clone().requires_grad_() for k, v in phi.items()}
        self.optimizer = torch.optim.Adam(self.theta.values(), lr=self.settings["lr"])
        rate = self.settings["generator_lr"]
        self.phi_optimizer = torch.optim.Adam(self.phi.values(), lr=rate)

    def stretch(self, x, masks, start, stop):
        keep = 1 - self.settings["dropout"]
        for i in range(start, stop):
            x = x @ self.theta[f"weight{i}"] + self.theta[f"bias{i}"]
            if i < 2:
                x = torch.where(masks[f"mask{i}"] < keep, torch.relu(x) / keep, 0.0)
        return x

    def labels(self, x, masks, start=0):
        out = self.stretch(x, masks, start, 3)
        std = torch.nn.functional.softplus(out[:, 1]) + 1e-3
        return torch.distributions.Normal(out[:, 0], std)

    def generate(self, h, k, eps):
        def mlp(part, v):
            v = torch.relu(v @ self.phi[f"{part}.weight0"] + self.phi[f"{part}.bias0"])
            return v @ self.phi[f"{part}.weight1"] + self.phi[f"{part}.bias1"]

        z = mlp("enc", h)
        apart = (z[:, None] - z).detach().square().sum(-1)
        near = apart <= apart.sort(1).values[:, k - 1 : k] + 1e-12
        pooled = torch.stack([torch.cat([z[m].mean(0), z[m].amax(0)]) for m in near])
        mean, width = mlp("dec", pooled).chunk(2, 1)
        std = torch.nn.functional.softplus(width) + 1e-3
        return mean + std * eps, std

    def step(self, batch, draws):
        at = self.job.augment.at
        x, y, k = batch.x, batch.y, 1 + int(draws["batch"]["k"] * (len(batch.x) // 2))
        h = self.stretch(x, draws["real"], 0, at).detach()
        fake = self.generate(h, k, draws["for_theta"]["x_tilde"])[0].detach()
        least = (fake[:, None] - h).square().sum(-1).min(1).values
        weight = 1 - torch.exp(-least / (2 * self.settings["ell"] ** 2))
        std = self.labels(fake, draws["pseudo"], at).scale
        loss = -self.labels(x, draws["real"]).log_prob(y).mean()
        loss = loss + (weight * ((std.square() - 1) / 2 - std.log())).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        # θ has moved, and the features with it.
        h = self.stretch(x, draws["real"], 0, at).detach()
        fake, spread = self.generate(h, k, draws["for_phi"]["x_tilde"])
        squared = (fake[:, None] - h).square().sum(-1).sort(1).values[:, :k]
        proposal = torch.distributions.Normal(torch.zeros_like(spread), spread)
        loss = (
            self.labels(fake, draws["probe"], at).entropy().mean()
            - proposal.entropy().sum(1).mean()
            + torch.relu(squared - h.shape[1]).mean()
        )
        self.phi_optimizer.zero_grad()
        loss.backward()
        self.phi_optimizer.step()


def member_of(tree, p):
    if isinstance(tree, torch.Tensor):
        return tree[p]
    if isinstance(tree, dict):
        return {k: member_of(v, p) for k, v in tree.items()}
    return type(tree)(*(member_of(v, p) for v in tree))


@pytest.mark.parametrize("at", [1, 2])
def test_a_population_with_latent_pseudo_rows_equals_ordinary_training_of_each_member(at):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    sets = training_sets(x, y, [np.arange(30), np.arange(10, 40)], torch.float64)
    model, pad = MCDropout(NET, gaussian.from_outputs), PAD(NET.sizes[at], at=at, hidden=5)
    settings = default_settings(search_space(model, pad), 2)
    settings["lr"] = torch.tensor([3e-3, 1e-2]).double()
    settings["ell"] = torch.tensor([0.5, 1.0]).double()
    job = Job(model, pad, sets, torch.tensor([0, 1]), settings, 1, batch=8, seed=3)
    run = engine._Run(job, slice(None))
    alone = [OrdinaryMember(job, p, run.theta.views, run.phi.views) for p in range(2)]
    run.batches.shuffle()
    for _ in range(4):
        run.step()
        for p, member in enumerate(alone):
            member.step(member_of(run.batches.current, p), member_of(run.dice.values, p))
    for p, member in enumerate(alone):
        for ours, theirs in ((run.theta.views, member.theta), (run.phi.views, member.phi)):
            for name, value in theirs.items():
                torch.testing.assert_close(ours[name][p], value.detach(), rtol=0, atol=1e-8)
