"""From the function of one member to a program for all: vmap once, trace once, replay.

`torch.vmap` gives the members' axis to any function, but doing so at every step costs more than a
small network's arithmetic. So the lifted function (its gradients included) is traced once into a
flat list of tensor operations over fixed buffers; a step replays that list.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_unflatten

Out = TypeVar("Out")


class Program(Generic[Out]):
    """`function` of one member, lifted over the first axis of every tensor it is given.

    The buffers in `bound` are read anew at every call: change their contents in place. What differs
    from call to call follows them as `fresh` arguments, of the shapes they have here.
    """

    def __init__(self, function: Callable[..., Out], bound: tuple[Any, ...], *fresh: Any) -> None:
        self._bound = tree_flatten(bound)[0]
        leaves, spec = tree_flatten((*bound, *fresh))
        out_spec: list[Any] = []

        def flat(*leaves: torch.Tensor) -> list[torch.Tensor]:
            values, found = tree_flatten(torch.vmap(function)(*tree_unflatten(leaves, spec)))
            out_spec[:] = [found]
            return values

        with torch.no_grad():
            self._traced = make_fx(flat)(*leaves)
        _drop_idle(self._traced)
        self._out_spec = out_spec[0]

    @torch.no_grad()
    def __call__(self, *fresh: Any) -> Out:
        values = self._traced(*self._bound, *tree_flatten(fresh)[0])
        out: Out = tree_unflatten(values, self._out_spec)
        return out


def _drop_idle(traced: torch.fx.GraphModule) -> None:
    """Takes out what is not used and what changes nothing: each costs a dispatch at every step."""
    aten = torch.ops.aten
    views = (aten.detach, aten.alias, aten.view, aten._unsafe_view, aten.expand, aten.permute)
    for node in traced.graph.nodes:
        if getattr(node.target, "overloadpacket", None) not in views:
            continue
        before, after = node.args[0].meta["val"], node.meta["val"]
        if before.shape == after.shape and before.stride() == after.stride():
            node.replace_all_uses_with(node.args[0])
    traced.graph.eliminate_dead_code()
    traced.recompile()
