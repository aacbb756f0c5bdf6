"""A population against the plain loop over its members, and what happens when a member fails."""

from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
import torch

from reprior.augment import PAD
from reprior.contracts import Direct
from reprior.likelihoods import gaussian
from reprior.models import DeepEnsemble, MCDropout
from reprior.models.catalogue import MODELS as CATALOGUE
from reprior.models.catalogue import model as catalogue_model
from reprior.models.laplace import Laplace
from reprior.networks import MLP
from reprior.population.layout import training_sets
from reprior.training import Job, default_settings, fit, search_space

engine = import_module("reprior.training.fit")
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), RNG.normal(size=60)
ROWS = [np.arange(40), np.arange(15, 60), np.arange(20)]
NET = MLP((3, 8, 8, 2))
BY_STEPS = [
    name
    for name in CATALOGUE
    if not isinstance(catalogue_model(name, NET, gaussian.from_outputs), Direct)
]
MODELS = {
    "mc_dropout": MCDropout(NET, gaussian.from_outputs),
    "deep_ensemble": DeepEnsemble(NET, gaussian.from_outputs),
}


def job(model="mc_dropout", pad=True, dtype=torch.float64, epochs=2, others=0, **settings):
    sets = training_sets(X, Y, ROWS, dtype)
    built, augment = MODELS[model], PAD(3, hidden=6, others=others) if pad else None
    group = torch.tensor([0, 1, 2, 1])
    chosen = default_settings(search_space(built, augment), 4)
    chosen["lr"] = torch.tensor([1e-3, 3e-3, 1e-2, 2e-3], dtype=torch.float64)
    chosen["weight_decay"] = torch.tensor([0.0, 0.1, 0.0, 1.0], dtype=torch.float64)
    if pad:
        chosen["ell"] = torch.tensor([0.5, 1.0, 2.0, torch.inf], dtype=torch.float64)
    if model == "mc_dropout":
        chosen["dropout"] = torch.tensor([0.1, 0.0, 0.3, 0.2], dtype=torch.float64)
    chosen |= {name: torch.tensor(value, dtype=torch.float64) for name, value in settings.items()}
    return Job(built, augment, sets, group, chosen, epochs, batch=8, seed=5)


class OrdinaryMember:
    """One member as anyone would train it: autograd, torch.optim, and PAD spelled out."""

    def __init__(self, job, p, theta, phi):
        self.job, self.settings = job, {k: float(v[p]) for k, v in job.settings.items()}
        self.theta = {k: v[p].clone().requires_grad_() for k, v in theta.items()}
        self.phi = {k: v[p].clone().requires_grad_() for k, v in phi.items()}
        self.optimizer = torch.optim.AdamW(
            self.theta.values(), lr=self.settings["lr"], weight_decay=self.settings["weight_decay"]
        )
        if phi:
            rate = self.settings["generator_lr"]
            self.phi_optimizer = torch.optim.Adam(self.phi.values(), lr=rate)

    def net(self, x, masks):
        keep = 1 - self.settings.get("dropout", 0.0)
        for i in (0, 1):
            x = torch.relu(x @ self.theta[f"weight{i}"] + self.theta[f"bias{i}"])
            if masks:
                x = torch.where(masks[f"mask{i}"] < keep, x / keep, 0.0)
        out = x @ self.theta["weight2"] + self.theta["bias2"]
        return out[:, 0], torch.nn.functional.softplus(out[:, 1]) + 1e-3

    def nll(self, x, y, masks):
        return -torch.distributions.Normal(*self.net(x, masks)).log_prob(y).mean()

    def generate(self, x, k, eps):
        def mlp(part, v):
            v = torch.relu(v @ self.phi[f"{part}.weight0"] + self.phi[f"{part}.bias0"])
            return v @ self.phi[f"{part}.weight1"] + self.phi[f"{part}.bias1"]

        z = mlp("enc", x)
        near = torch.cdist(z, z, compute_mode="donot_use_mm_for_euclid_dist").argsort(1)[:, :k]
        pooled = torch.cat([z[near].mean(1), z[near].max(1).values], 1)
        mean, width = mlp("dec", pooled).chunk(2, 1)
        std = torch.nn.functional.softplus(width) + 1e-3
        return mean + std * eps, std

    def step(self, batch, draws):
        x, y, reach, _, others = batch
        loss = self.nll(x, y, draws["real"])
        if self.job.model.name == "deep_ensemble":
            moved = x.clone().requires_grad_()
            slope = torch.autograd.grad(self.nll(moved, y, {}), moved)[0].sign()
            loss = (loss + self.nll(x + 0.01 * reach * slope, y, {})) / 2
        if self.phi:
            k = 1 + int(draws["batch"]["k"] * (len(x) // 2))
            fake = self.generate(x, k, draws["for_theta"]["x_tilde"])[0].detach()
            least = (fake[:, None] - torch.cat([x, others])).square().sum(-1).min(1).values
            weight = 1 - torch.exp(-least / (2 * self.settings["ell"] ** 2))
            std = self.net(fake, draws["pseudo"])[1]
            loss = loss + (weight * ((std.square() - 1) / 2 - std.log())).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.phi:
            fake, spread = self.generate(x, k, draws["for_phi"]["x_tilde"])
            labels = torch.distributions.Normal(*self.net(fake, draws["probe"]))
            squared = (fake[:, None] - x).square().sum(-1).sort(1).values[:, :k]
            proposal = torch.distributions.Normal(torch.zeros_like(spread), spread)
            loss = (
                labels.entropy().mean()
                - proposal.entropy().sum(1).mean()
                + torch.relu(squared - x.shape[1]).mean()
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


@pytest.mark.parametrize(
    ("model", "pad", "others"),
    [
        ("mc_dropout", False, 0),
        ("mc_dropout", True, 0),
        ("mc_dropout", True, 11),
        ("deep_ensemble", False, 0),
        ("deep_ensemble", True, 0),
    ],
)
def test_a_population_equals_ordinary_training_of_each_member(model, pad, others):
    this = job(model, pad, others=others)
    run = engine._Run(this, slice(None))
    phi = run.phi.views if pad else {}
    alone = [OrdinaryMember(this, p, run.theta.views, phi) for p in range(4)]
    run.batches.shuffle()
    for _ in range(5):
        run.step()
        going = run.batches.step <= run.batches.steps
        for p, member in enumerate(alone):
            if going[p]:
                member.step(member_of(run.batches.current, p), member_of(run.dice.values, p))
    for p, member in enumerate(alone):
        for name, value in member.theta.items():
            torch.testing.assert_close(run.theta.views[name][p], value.detach(), rtol=0, atol=1e-9)
        for name, value in member.phi.items():
            torch.testing.assert_close(run.phi.views[name][p], value.detach(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("pad", [False, True])
def test_a_diverging_member_changes_nothing_for_the_others_bit_for_bit(pad):
    calm = fit(job(pad=pad, dtype=torch.float32))
    wild = fit(job(pad=pad, dtype=torch.float32, lr=[1e-3, 1e30, 1e-2, 2e-3]))
    assert wild.diverged.tolist() == [0, 1, 0, 0]
    assert calm.diverged.tolist() == [0, 0, 0, 0]
    for name, value in calm.theta.items():
        for p in (0, 2, 3):
            assert torch.equal(value[p], wild.theta[name][p])


def test_a_diverged_member_is_frozen_where_it_stood():
    one = fit(job(dtype=torch.float32, epochs=1, lr=[1e-3, 1e30, 1e-2, 2e-3]))
    five = fit(job(dtype=torch.float32, epochs=5, lr=[1e-3, 1e30, 1e-2, 2e-3]))
    assert five.diverged.tolist() == [0, 1, 0, 0]
    for name, value in one.theta.items():
        assert torch.equal(value[1], five.theta[name][1])
        assert not torch.equal(value[0], five.theta[name][0])


@pytest.mark.parametrize("pad", [False, True])
def test_the_same_seed_gives_the_same_weights_and_another_seed_does_not(pad):
    this = job(pad=pad, dtype=torch.float32)
    first, again = fit(this), fit(this)
    other = fit(Job(**{**vars(this), "seed": 6}))
    for name, value in first.theta.items():
        assert torch.equal(value, again.theta[name])
        assert not torch.equal(value, other.theta[name])


@pytest.mark.parametrize(
    "error",
    [
        torch.cuda.OutOfMemoryError("out of memory"),
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    ],
)
def test_out_of_memory_halves_the_population_and_changes_no_number(monkeypatch, error):
    expected = fit(job(dtype=torch.float64))
    parts, train = [], engine._Run.train

    def short_of_memory(self, progress):
        if len(self.alive) > 1:
            raise error
        parts.append(self)
        return train(self, progress)

    monkeypatch.setattr(engine._Run, "train", short_of_memory)
    found = fit(job(dtype=torch.float64))
    assert len(parts) == 4
    for name, value in expected.theta.items():
        torch.testing.assert_close(found.theta[name], value, rtol=0, atol=1e-10)


def test_an_error_that_is_not_about_memory_is_not_swallowed(monkeypatch):
    def broken(self, progress):
        raise RuntimeError("something else")

    monkeypatch.setattr(engine._Run, "train", broken)
    with pytest.raises(RuntimeError, match="something else"):
        fit(job())


def test_a_member_gets_the_same_numbers_alone_as_in_any_population():
    this = job(dtype=torch.float64)
    whole = fit(this)
    for p in range(4):
        part = engine._Run(this, slice(p, p + 1)).train(None)
        for name, value in whole.theta.items():
            torch.testing.assert_close(part.theta[name][0], value[p], rtol=0, atol=1e-10)


def test_progress_is_told_after_every_epoch():
    told = []
    fit(job(epochs=3), lambda done, known: told.append((done, known)))
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is here")
def test_a_captured_step_draws_fresh_numbers_and_equals_the_uncaptured_one():
    def on_gpu():
        this = job(dtype=torch.float32)
        sets = training_sets(X, Y, ROWS, torch.float32, "cuda")
        return Job(**{**vars(this), "sets": sets})

    captured, eager = engine._Run(on_gpu(), slice(None)), engine._Run(on_gpu(), slice(None))
    step = engine._captured(captured, captured.step)
    captured.batches.shuffle()
    eager.batches.shuffle()
    seen = []
    for _ in range(4):
        step()
        eager.step()
        seen.append(captured.dice.values["for_theta"]["x_tilde"].clone())
        torch.testing.assert_close(captured.theta.matrix, eager.theta.matrix, rtol=1e-4, atol=1e-5)
    assert all(not torch.equal(a, b) for a, b in pairwise(seen))


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is here")
@pytest.mark.parametrize("name", BY_STEPS)
def test_every_model_trains_on_a_gpu(name):
    built = catalogue_model(name, NET, gaussian.from_outputs)
    sets = training_sets(X, Y, ROWS, torch.float32, "cuda")
    augment = PAD(3, hidden=6) if built.takes_augmentation else None
    settings = default_settings(search_space(built, augment), 4)
    found = fit(Job(built, augment, sets, torch.tensor([0, 1, 2, 1]), settings, 5, 8, seed=5))
    assert found.diverged.tolist() == [0, 0, 0, 0]
    assert all(value.isfinite().all() for value in found.theta.values())


def test_a_member_that_diverged_does_not_stop_what_is_computed_in_closed_form():
    built = Laplace(NET, gaussian.from_outputs)
    sets = training_sets(X, Y, ROWS, torch.float32)
    settings = default_settings(search_space(built, None), 4)
    settings["lr"] = torch.tensor([1e-2, 1e3, 1e30, 1e3], dtype=torch.float64)
    group = torch.tensor([0, 1, 2, 1])
    wild = fit(Job(built, None, sets, group, settings, 20, batch=8, seed=5))
    settings["lr"] = torch.full((4,), 1e-2, dtype=torch.float64)
    calm = fit(Job(built, None, sets, group, settings, 20, batch=8, seed=5))
    for name, value in calm.theta.items():
        assert torch.equal(wild.theta[name][0], value[0])
