import torch

from reprior.population.lift import Program


def member(params, batch, draws):
    def loss(params):
        out = (batch @ params["w"]).tanh() + params["b"]
        return (out * draws).square().mean(), out.detach().view(-1)

    return torch.func.grad(loss, has_aux=True)(params)


def arguments():
    torch.manual_seed(0)
    params = {
        "w": torch.randn(4, 3, 2, dtype=torch.float64),
        "b": torch.randn(4, 2, dtype=torch.float64),
    }
    return (
        params,
        torch.randn(4, 5, 3, dtype=torch.float64),
        torch.randn(4, 5, 2, dtype=torch.float64),
    )


def one_by_one(params, batch, draws):
    return [
        member({k: v[p] for k, v in params.items()}, batch[p], draws[p]) for p in range(len(batch))
    ]


def test_a_program_equals_the_loop_over_members():
    bound = arguments()
    grads, out = Program(member, bound)()
    for p, (grad, value) in enumerate(one_by_one(*bound)):
        torch.testing.assert_close(grads["w"][p], grad["w"])
        torch.testing.assert_close(grads["b"][p], grad["b"])
        torch.testing.assert_close(out[p], value)


def test_it_reads_its_buffers_anew_at_every_call():
    bound = arguments()
    program = Program(member, bound)
    program()
    bound[1].normal_()
    bound[0]["w"].mul_(2)
    grads, _ = program()
    expected = torch.stack([grad["w"] for grad, _ in one_by_one(*bound)])
    torch.testing.assert_close(grads["w"], expected)


def operations(program):
    return [
        node.target.overloadpacket
        for node in program._traced.graph.nodes
        if node.op == "call_function"
    ]


def test_what_follows_from_constants_alone_is_computed_once_and_for_all():
    _, batch, draws = arguments()
    bound = (batch, draws)
    program = Program(lambda x, c: x.sum() + c.exp().sum(), bound, constant=(draws,))
    assert torch.ops.aten.exp not in operations(program)
    batch.normal_()
    expected = batch.sum((1, 2)) + draws.exp().sum((1, 2))
    torch.testing.assert_close(program(), expected)


def test_what_is_asked_twice_is_computed_once():
    _, batch, _ = arguments()
    program = Program(lambda x: x.exp().sum() * x.exp().mean(), (batch,))
    assert operations(program).count(torch.ops.aten.exp) == 1
    torch.testing.assert_close(program(), batch.exp().sum((1, 2)) * batch.exp().mean((1, 2)))


def test_a_later_program_borrows_what_has_not_changed_and_computes_what_has():
    _, still, moving = arguments()
    bound = (still, moving)
    first = Program(lambda s, m: s.exp().sum() + m.sin().sum(), bound)
    alone = Program(lambda s, m: s.exp().mean() + m.sin().mean(), bound)
    second = Program(
        lambda s, m: s.exp().mean() + m.sin().mean(), bound, after=first, changed=(moving,)
    )
    assert torch.ops.aten.exp not in operations(second)
    for _ in range(2):
        still.normal_()
        expected = still.exp().sum((1, 2)) + moving.sin().sum((1, 2))
        torch.testing.assert_close(first(), expected)
        moving.normal_()
        torch.testing.assert_close(second(), alone(), rtol=0, atol=0)


def test_a_function_that_writes_keeps_its_order():
    _, batch, _ = arguments()

    def doubled_twice(x):
        y = x.clone()
        first = y.sum()
        y.mul_(2)
        return first + y.sum()

    torch.testing.assert_close(Program(doubled_twice, (batch,))(), 3 * batch.sum((1, 2)))
