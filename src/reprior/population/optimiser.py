"""Adam and SGD for a population: one row of parameters, one set of settings per member.

Updates are in place and free of host work, so that they can stand in a captured graph. A member
whose gate is shut keeps its parameters and its optimiser state exactly.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from reprior.population import optimiser_cuda

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8


class AdamState(NamedTuple):
    first: Tensor  # (P, n) running mean of gradients
    second: Tensor  # (P, n) running mean of their squares
    steps: Tensor  # (P,) steps taken
    move: Tensor  # (P, n) room for the next update; fresh pages at every step would cost more


def adam_state(params: Tensor) -> AdamState:
    """State before the first step for params (P, n)."""
    first, second, move = (torch.zeros_like(params) for _ in range(3))
    return AdamState(first, second, params.new_zeros(len(params)), move)


def adam_step(
    params: Tensor,
    grads: Tensor,
    state: AdamState,
    gate: Tensor,
    lr: Tensor,
    weight_decay: Tensor | None = None,
) -> None:
    """One step of Adam (AdamW where weight_decay is given), in place.

    params        (P, n)
    grads         (P, n); may be altered, and may be anything where the gate is shut
    gate          (P,) bool: who moves
    lr            (P,)
    weight_decay  (P,) decoupled from the gradient
    """
    first, second, steps, move = state
    going = gate.to(params.dtype)
    steps.add_(going)
    taken = steps.clamp_min(1)
    root = (1 - BETA2**taken).sqrt()
    rate, eps = lr * root / (1 - BETA1**taken), EPS * root
    if weight_decay is not None:
        params.mul_((1 - lr * weight_decay * going).unsqueeze(1))
    if params.is_cuda and optimiser_cuda.usable:
        optimiser_cuda.adam(params, grads, first, second, gate, rate, eps, 1 - BETA1, 1 - BETA2)
        return
    grads.masked_fill_(~gate.unsqueeze(1), 0)
    first.mul_((1 - (1 - BETA1) * going).unsqueeze(1)).add_(grads, alpha=1 - BETA1)
    second.mul_((1 - (1 - BETA2) * going).unsqueeze(1)).addcmul_(grads, grads, value=1 - BETA2)
    torch.sqrt(second, out=move).add_(eps.unsqueeze(1))
    torch.div(first, move, out=move)
    params.addcmul_(move, (rate * going).unsqueeze(1), value=-1)


class SGDState(NamedTuple):
    velocity: Tensor  # (P, n)


def sgd_state(params: Tensor) -> SGDState:
    """State before the first step for params (P, n)."""
    return SGDState(torch.zeros_like(params))


def sgd_step(
    params: Tensor,
    grads: Tensor,
    state: SGDState,
    gate: Tensor,
    lr: Tensor,
    momentum: float = 0.9,
    weight_decay: Tensor | None = None,
) -> None:
    """One step of SGD with momentum, in place; shapes and decay as for adam_step."""
    going = gate.to(params.dtype).unsqueeze(1)
    grads = grads.masked_fill_(~gate.unsqueeze(1), 0)
    if weight_decay is not None:
        params.mul_(1 - (lr * weight_decay).unsqueeze(1) * going)
    state.velocity.mul_(1 - (1 - momentum) * going).add_(grads)
    params.addcmul_(state.velocity, lr.unsqueeze(1) * going, value=-1)


def finite_rows(grads: Tensor) -> Tensor:
    """(P,) whether a member's gradients are all finite: one that is not spoils their norm."""
    finite: Tensor = torch.linalg.vector_norm(grads, dim=1).isfinite()
    return finite
