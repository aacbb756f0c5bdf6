import math

import pytest
import torch

from reprior.networks import MLP

NET = MLP((4, 7, 6, 3))


def start(net, dtype=torch.float64):
    torch.manual_seed(0)
    return net.init({k: torch.rand(n.shape, dtype=dtype) for k, n in net.noise().items()})


def sequential(net, params):
    parts = []
    for i in range(net.stages):
        layer = torch.nn.Linear(net.sizes[i], net.sizes[i + 1], dtype=torch.float64)
        layer.weight.data, layer.bias.data = params[f"weight{i}"].T, params[f"bias{i}"]
        parts += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


@pytest.mark.parametrize("net", [NET, MLP((4, 3)), MLP((4, 5, 2))])
def test_it_is_torchs_chain_of_linear_layers_and_relus(net):
    params, x = start(net), torch.randn(9, 4, dtype=torch.float64)
    torch.testing.assert_close(net.run(params, x), sequential(net, params)(x))


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_two_stretches_make_the_whole(at):
    params, x = start(NET), torch.randn(9, 4, dtype=torch.float64)
    middle = NET.run(params, x, stop=at)
    assert middle.shape == (9, NET.sizes[at])
    assert torch.equal(NET.run(params, middle, start=at), NET.run(params, x))


def test_weights_start_uniform_on_one_over_the_root_of_their_fan_in():
    net = MLP((100, 400, 25, 2))
    params = start(net)
    for i, fan_in in enumerate(net.sizes[:-1]):
        end = 1 / math.sqrt(fan_in)
        for name in (f"weight{i}", f"bias{i}"):
            assert params[name].abs().max() <= end
        many = params[f"weight{i}"]
        assert many.abs().max() > 0.9 * end
        spread = end / math.sqrt(3)
        assert float(many.std()) == pytest.approx(spread, rel=0.1)
        assert abs(float(many.mean())) < 4 * spread / math.sqrt(many.numel())


def test_the_start_has_the_ends_of_torchs_own_layers():
    layer = torch.nn.Linear(100, 2000)
    ours = start(MLP((100, 2000)))
    for own, theirs in ((ours["weight0"], layer.weight), (ours["bias0"], layer.bias)):
        assert float(own.abs().max()) == pytest.approx(float(theirs.detach().abs().max()), rel=0.02)


def test_a_network_of_many_layers_starts_each_by_its_own_fan_in():
    net = MLP((100, *[4] * 10, 50, 2))
    assert float(start(net)["weight10"].abs().max()) > 0.3  # fan-in 4; of stage 0 it is 100
    assert float(start(net)["weight11"].abs().max()) < 1 / math.sqrt(50)


def test_scales_multiply_the_activations_of_their_own_layer():
    params, x = start(NET), torch.randn(9, 4, dtype=torch.float64)
    scales = [torch.rand(9, 7).double(), torch.rand(6).double()]
    hidden = (x @ params["weight0"] + params["bias0"]).relu() * scales[0]
    hidden = (hidden @ params["weight1"] + params["bias1"]).relu() * scales[1]
    expected = hidden @ params["weight2"] + params["bias2"]
    torch.testing.assert_close(NET.run(params, x, scales=scales), expected)
    torch.testing.assert_close(NET.run(params, x, scales=[None, None]), NET.run(params, x))


def test_widths_and_stages_are_told():
    assert NET.stages == 3
    assert NET.hidden == (7, 6)
    assert MLP((4, 2)).hidden == ()
