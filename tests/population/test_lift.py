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


def test_fresh_arguments_differ_from_call_to_call():
    params, batch, draws = arguments()
    program = Program(member, (params, batch), draws)
    other = torch.randn_like(draws)
    expected = torch.stack([grad["b"] for grad, _ in one_by_one(params, batch, other)])
    torch.testing.assert_close(program(other)[0]["b"], expected)
