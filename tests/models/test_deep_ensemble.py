import torch
from torch.distributions import Normal

from reprior.contracts import Batch
from reprior.likelihoods import gaussian
from reprior.models import DeepEnsemble
from reprior.networks import MLP

NET = MLP((3, 6, 5, 2))
STEP = {"adversarial_step": torch.tensor(0.01).double()}


def made(**options):
    torch.manual_seed(0)
    model = DeepEnsemble(NET, gaussian.from_outputs, **options)
    params = model.init({k: torch.rand(n.shape).double() for k, n in NET.noise().items()})
    batch = Batch(
        x=torch.randn(8, 3).double(),
        y=torch.randn(8).double(),
        reach=torch.tensor([1.0, 20.0, 0.0]).double(),
        rows=torch.tensor(8.0).double(),
        others=torch.zeros(0, 3).double(),
    )
    return model, params, batch


def nll(params, x, y):
    mean, width = NET.run(params, x).unbind(-1)
    return -Normal(mean, torch.nn.functional.softplus(width) + 1e-3).log_prob(y).mean()


def by_hand(params, batch):
    x = batch.x.clone().requires_grad_()
    uphill = torch.autograd.grad(nll(params, x, batch.y), x)[0].sign()
    moved = batch.x + 0.01 * batch.reach * uphill
    return moved, (nll(params, batch.x, batch.y) + nll(params, moved, batch.y)) / 2


def test_the_adversarial_step_is_the_fast_gradient_sign_step():
    model, params, batch = made()
    loss, _ = model.loss(params, batch, STEP, {})
    moved, expected = by_hand(params, batch)
    torch.testing.assert_close(loss, expected)
    size = (moved - batch.x).abs().amax(0)
    torch.testing.assert_close(size, torch.tensor([0.01, 0.2, 0.0]).double())


def test_the_adversarial_step_goes_towards_larger_loss():
    model, params, batch = made()
    with_it = model.loss(params, batch, STEP, {})[0]
    assert with_it > model.loss(params, batch, {"adversarial_step": torch.tensor(0.0)}, {})[0]


def test_no_gradient_flows_through_the_step_itself():
    model, params, batch = made()
    leaves = {k: v.clone().requires_grad_() for k, v in params.items()}
    moved, _ = by_hand(params, batch)
    (nll(leaves, batch.x, batch.y) + nll(leaves, moved, batch.y)).div(2).backward()
    grads = torch.func.grad(lambda p: model.loss(p, batch, STEP, {})[0])(params)
    for name, value in grads.items():
        torch.testing.assert_close(value, leaves[name].grad)


def test_adversarial_training_can_be_switched_off():
    model, params, batch = made(adversarial=False)
    torch.testing.assert_close(
        model.loss(params, batch, STEP, {})[0], nll(params, batch.x, batch.y)
    )


def test_it_is_five_members_with_adversarial_training_unless_told_otherwise():
    model, _, _ = made()
    assert model.members == 5
    assert model.adversarial
    assert model.space["adversarial_step"].default == 0.01


def test_the_density_that_comes_with_the_loss_is_that_of_the_unmoved_rows():
    model, params, batch = made()
    labels = model.loss(params, batch, STEP, {})[1]
    torch.testing.assert_close(labels.mean, NET.run(params, batch.x)[:, 0])


def test_a_prediction_is_one_draw_of_the_network():
    model, params, batch = made()
    found = model.predict(params, batch.x, STEP, {})
    torch.testing.assert_close(found.components.mean, NET.run(params, batch.x)[None, :, 0])
