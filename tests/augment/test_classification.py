"""PAD on classes, trained by the population engine as anything else is."""

import numpy as np
import pytest
import torch

from reprior.augment import PAD
from reprior.models import MCDropout
from reprior.networks import MLP
from reprior.population.layout import questions, training_sets
from reprior.training import Job, default_settings, estimates, fit, predict, search_space

NET = MLP((2, 16, 16, 4))  # three classes and log t


def blobs():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    turn = 2 * np.pi * y / 3
    x = np.stack([np.cos(turn), np.sin(turn)], 1) * 2 + 0.3 * rng.normal(size=(120, 2))
    far = np.stack([np.cos(turn), np.sin(turn)], 1)[:30] * 12
    return np.concatenate([x, far]), np.concatenate([y, y[:30]]).astype(float)


def trained(at):
    """Whether near and far rows are told right, and their temperatures, over two members."""
    x, y = blobs()
    sets = training_sets(x, y, [np.arange(120)], scale_y=False)
    pad = PAD(NET.sizes[at], "classification", at, hidden=16)
    model = MCDropout(NET, pad.read)
    settings = default_settings(search_space(model, pad), 2, lr=1e-2, ell=0.5, tau=3.0)
    group = torch.tensor([0, 0])
    fitted = fit(Job(model, pad, sets, group, settings, epochs=40, batch=32, seed=0))
    assert fitted.diverged.tolist() == [0, 0]
    asked = questions(sets, [np.arange(150)])
    predicted = predict(model, fitted.theta, settings, asked, group, seed=1)
    mixed = estimates(predicted, 1)
    assert mixed.probs.shape == (2, 150, 3)
    right = (mixed.probs.argmax(-1) == torch.as_tensor(y)).double()
    return (
        right[:, :120],
        predicted.components.temperature[..., :120],
        predicted.components.temperature[..., 120:],
    )


@pytest.mark.parametrize("at", [0, 1])
def test_on_the_data_classes_are_learned_and_the_temperature_stays_about_one(at):
    right, near, _ = trained(at)
    assert right.mean() > 0.95
    assert abs(float(near.mean()) - 1) < 0.5


def test_the_temperature_rises_away_from_the_data():
    _, near, far = trained(0)
    assert (far.mean((0, 2)) > near.mean((0, 2)) + 0.5).all()
