import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from reprior.likelihoods import Categorical, tempered


def test_the_last_output_is_the_logarithm_of_the_temperature():
    density = tempered.from_outputs(torch.tensor([1.0, 2.0, 3.0, math.log(4)]))
    assert density.logits.tolist() == [1.0, 2.0, 3.0]
    assert density.temperature == pytest.approx(4)
    torch.testing.assert_close(density.probs, torch.tensor([0.25, 0.5, 0.75]).softmax(0))


def test_training_asks_for_the_cross_entropy_without_temperature():
    outputs, y = torch.randn(9, 5), torch.randint(4, (9,))
    density = tempered.from_outputs(outputs).untempered()
    torch.testing.assert_close(-density.log_prob(y).mean(), cross_entropy(outputs[:, :4], y))


def test_temperature_one_changes_nothing():
    logits = torch.randn(9, 4)
    density = tempered.from_outputs(torch.cat([logits, torch.zeros(9, 1)], -1))
    torch.testing.assert_close(density.log_probs, Categorical(logits).log_probs)


def test_heat_leads_to_the_uniform_and_keeps_the_likeliest_class():
    logits = torch.randn(9, 4)
    entropies = []
    for t in [0.5, 1.0, 3.0, 10.0, 1000.0]:
        density = tempered.from_outputs(torch.cat([logits, torch.full((9, 1), math.log(t))], -1))
        entropies.append(density.entropy())
        assert (density.probs.argmax(-1) == logits.argmax(-1)).all()
    assert (torch.stack(entropies).diff(dim=0) > 0).all()
    torch.testing.assert_close(density.kl_to_uniform(), torch.zeros(9), atol=1e-5, rtol=0)


def test_outputs_without_room_for_a_temperature_are_refused():
    with pytest.raises(ValueError, match="one output more than classes"):
        tempered.from_outputs(torch.zeros(4, 2))
