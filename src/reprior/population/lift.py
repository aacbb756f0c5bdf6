"""From the function of one member to a program for all: vmap once, trace once, replay.

`torch.vmap` gives the members' axis to any function, but doing so at every step costs more than a
small network's arithmetic. So the lifted function (its gradients included) is traced once into a
flat list of tensor operations over fixed buffers; a step replays that list. What need not be
computed, or not again, is taken out of the list: each operation costs a dispatch at every step.
"""

import hashlib
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_unflatten

Out = TypeVar("Out")
ASKED = "asked"  # a node's own entry: a hash of the expression it stands for
SHAPE_ONLY = (torch.ops.aten.ones_like, torch.ops.aten.zeros_like, torch.ops.aten.new_zeros)


class Program(Generic[Out]):
    """`function` of one member, lifted over the first axis of every tensor it is given.

    The buffers in `bound` are read anew at every call: change their contents in place.

    constant  buffers among them whose contents never change: what follows from these alone is
              computed once and for all
    after     a program over the same buffers that always runs first; what both ask of buffers
              outside `changed`, those that may change in between, is computed there and lent
    """

    def __init__(
        self,
        function: Callable[..., Out],
        bound: tuple[Any, ...],
        constant: Any = (),
        after: "Program[Any] | None" = None,
        changed: Any = (),
    ) -> None:
        self._bound, spec = tree_flatten(bound)
        out_spec: list[Any] = []

        def flat(*leaves: Tensor) -> list[Tensor]:
            values, found = tree_flatten(torch.vmap(function)(*tree_unflatten(leaves, spec)))
            out_spec[:] = [found]
            return values

        with torch.no_grad():
            self._traced: GraphModule = make_fx(flat)(*self._bound)
        self._out_spec = out_spec[0]
        self._results: int = self._out_spec.num_leaves
        self._lent: list[Tensor] = []
        self._lender = after
        _drop_idle(self._traced)
        if not any(_writes(node) for node in self._traced.graph.nodes):  # else order matters
            _name_expressions(self._traced)
            _ask_once(self._traced)
            with torch.no_grad():
                _compute_constants(self._traced, self._bound, _places(self._bound, constant))
            if after is not None:
                _borrow(self._traced, after._traced, _places(self._bound, changed))
        for program in (self, after):
            if program is not None:
                program._traced.graph.eliminate_dead_code()
                program._traced.recompile()

    @torch.no_grad()
    def __call__(self) -> Out:
        borrowed = self._lender._lent if self._lender is not None else []
        values = self._traced(*self._bound, *borrowed)
        self._lent = values[self._results :]
        out: Out = tree_unflatten(values[: self._results], self._out_spec)
        return out


def _places(leaves: list[Tensor], some: Any) -> set[int]:
    """Where the tensors of a tree stand among the leaves."""
    wanted = {id(leaf) for leaf in tree_flatten(some)[0]}
    return {place for place, leaf in enumerate(leaves) if id(leaf) in wanted}


def _inputs(traced: GraphModule) -> list[Node]:
    return [node for node in traced.graph.nodes if node.op == "placeholder"]


def _drop_idle(traced: GraphModule) -> None:
    """Takes out what is not used and what changes nothing."""
    aten = torch.ops.aten
    views = (aten.detach, aten.alias, aten.view, aten._unsafe_view, aten.expand, aten.permute)
    for node in traced.graph.nodes:
        packet = getattr(node.target, "overloadpacket", None)
        if packet in views:
            before, after = node.args[0].meta["val"], node.meta["val"]
            if before.shape == after.shape and before.stride() == after.stride():
                node.replace_all_uses_with(node.args[0])
        elif packet is aten.pow and node.args[1:] == (1.0,):  # the derivative of a square
            node.replace_all_uses_with(node.args[0])
    traced.graph.eliminate_dead_code()


def _writes(node: Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def _name_expressions(traced: GraphModule) -> None:
    """Gives every node a hash of the expression it stands for, down to the places of inputs."""
    for place, node in enumerate(_inputs(traced)):
        node.meta[ASKED] = f"input {place}"
    for node in traced.graph.nodes:
        if node.op == "get_attr":  # a tensor of the function's own, which no other program knows
            node.meta[ASKED] = f"{node.target} of {id(traced)}"
        elif node.op == "call_function":
            asked = torch.fx.map_arg((node.args, node.kwargs), lambda n: _Name(n.meta[ASKED]))
            text = f"{node.target} {asked!r}"
            node.meta[ASKED] = hashlib.sha256(text.encode()).hexdigest()


class _Name(str):
    """Written without quotes, so that no string argument can pass for a node."""

    def __repr__(self) -> str:
        return f"<{self}>"


def _ask_once(traced: GraphModule) -> None:
    """Computes once what a function asks for twice."""
    seen: dict[str, Node] = {}
    for node in traced.graph.nodes:
        if node.op == "call_function":
            first = seen.setdefault(node.meta[ASKED], node)
            if first is not node:
                node.replace_all_uses_with(first)
    traced.graph.eliminate_dead_code()


def _compute_constants(traced: GraphModule, leaves: list[Tensor], constant: set[int]) -> None:
    """Replaces what follows from constant inputs alone, or from shapes, by its value."""
    values: dict[Node, Any] = {
        node: leaves[place] for place, node in enumerate(_inputs(traced)) if place in constant
    }
    for node in list(traced.graph.nodes):
        if node.op != "call_function":
            continue
        known = values
        if getattr(node.target, "overloadpacket", None) in SHAPE_ONLY:
            # Seeds of a gradient, mostly: asking for their values would keep the loss alive.
            known = {n: _empty_as(n.meta["val"]) for n in node.all_input_nodes}
        if all(n in known for n in node.all_input_nodes):
            args, kwargs = torch.fx.map_arg((node.args, node.kwargs), known.__getitem__)
            values[node] = node.target(*args, **kwargs)
        if isinstance(values.get(node), Tensor):
            name = f"constant{len(values)}"
            traced.register_buffer(name, values[node])
            with traced.graph.inserting_before(node):
                kept = traced.graph.get_attr(name)
            kept.meta.update(node.meta)
            node.replace_all_uses_with(kept)
    traced.graph.eliminate_dead_code()


def _empty_as(traced: Tensor) -> Tensor:
    """A real tensor of the layout that was traced."""
    shape, stride = traced.shape, traced.stride()
    return torch.empty_strided(shape, stride, dtype=traced.dtype, device=traced.device)


def _borrow(borrower: GraphModule, lender: GraphModule, changed: set[int]) -> None:
    """Takes from the lender whatever both compute from inputs outside `changed`."""
    stale = {node for place, node in enumerate(_inputs(lender)) if place in changed}
    offered: dict[str, Node] = {}
    for node in lender.graph.nodes:
        if node.op == "call_function":
            if stale.intersection(node.all_input_nodes):
                stale.add(node)
            elif isinstance(node.meta.get("val"), Tensor):
                offered[node.meta[ASKED]] = node
    shared = {
        node
        for node in borrower.graph.nodes
        if node.op == "call_function" and node.meta[ASKED] in offered
    }
    lent: list[Node] = []
    last_input = _inputs(borrower)[-1]
    for node in borrower.graph.nodes:
        if node in shared and not shared.issuperset(node.users):  # the rest is only on the way
            lent.append(offered[node.meta[ASKED]])
            with borrower.graph.inserting_after(last_input):
                last_input = borrower.graph.placeholder(f"lent{len(lent)}")
            last_input.meta.update(node.meta)
            node.replace_all_uses_with(last_input)
    output = next(iter(reversed(lender.graph.nodes)))
    output.args = ([*output.args[0], *lent],)
