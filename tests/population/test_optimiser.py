import pytest
import torch

from reprior.population.optimiser import adam_state, adam_step, sgd_state, sgd_step


@pytest.mark.parametrize("decay", [None, 0.3])
def test_adam_is_torchs_adamw_with_each_members_own_rate(decay):
    torch.manual_seed(0)
    start, rates = torch.randn(3, 5, dtype=torch.float64), torch.tensor([1e-3, 1e-2, 0.1])
    ours, state = start.clone(), adam_state(start)
    theirs = [row.clone().requires_grad_() for row in start]
    optimisers = [
        torch.optim.AdamW([row], lr=float(lr), weight_decay=decay or 0.0)
        for row, lr in zip(theirs, rates, strict=True)
    ]
    decays = None if decay is None else torch.full((3,), decay, dtype=torch.float64)
    for _ in range(7):
        grads = torch.randn(3, 5, dtype=torch.float64)
        adam_step(ours, grads, state, torch.ones(3, dtype=torch.bool), rates.double(), decays)
        for row, grad, optimiser in zip(theirs, grads, optimisers, strict=True):
            row.grad = grad.clone()
            optimiser.step()
    expected = torch.stack([row.detach() for row in theirs])
    torch.testing.assert_close(ours, expected, rtol=0, atol=2e-9)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_sgd_is_torchs_sgd_with_momentum_and_decay_apart_from_the_gradient(decay):
    start = torch.randn(2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    ours, state = start.clone(), sgd_state(start)
    theirs = start.clone().requires_grad_()
    optimiser = torch.optim.SGD([theirs], lr=0.05, momentum=0.9)
    rates = torch.full((2,), 0.05, dtype=torch.float64)
    for i in range(6):
        grads = torch.sin(torch.arange(8.0, dtype=torch.float64) + i).view(2, 4)
        everyone = torch.ones(2, dtype=torch.bool)
        sgd_step(ours, grads, state, everyone, rates, weight_decay=torch.full_like(rates, decay))
        theirs.grad = grads.clone()
        theirs.data.mul_(1 - 0.05 * decay)
        optimiser.step()
    torch.testing.assert_close(ours, theirs.detach())


@pytest.mark.parametrize("kind", ["adam", "sgd"])
def test_a_shut_gate_leaves_parameters_and_state_exactly_as_they_were(kind):
    params = torch.randn(2, 3)
    state = adam_state(params) if kind == "adam" else sgd_state(params)
    step = adam_step if kind == "adam" else sgd_step
    rates = torch.tensor([0.1, 0.1])
    step(params, torch.ones(2, 3), state, torch.tensor([True, True]), rates)
    before, state_before = params[1].clone(), [part[1].clone() for part in state[:3]]
    grads = torch.tensor([[1.0] * 3, [0.0] * 3])
    step(params, grads, state, torch.tensor([True, False]), rates)
    assert torch.equal(params[1], before)
    assert all(torch.equal(now[1], was) for now, was in zip(state[:3], state_before, strict=True))
