"""The generator against an explicit loop over its rows, with torch's own layers."""

import math

import pytest
import torch
import torch.nn.functional as F

from reprior.augment.generator import Generator, how_many_near


def made(**options):
    torch.manual_seed(0)
    generator = Generator(3, hidden=5, **options)
    noise = {k: torch.rand(n.shape, dtype=torch.float64) for k, n in generator.noise().items()}
    return generator, generator.init(noise), torch.randn(8, 3, dtype=torch.float64)


def layers(phi, part, value):
    value = F.linear(value, phi[f"{part}.weight0"].T, phi[f"{part}.bias0"]).relu()
    return F.linear(value, phi[f"{part}.weight1"].T, phi[f"{part}.bias1"])


def by_hand(phi, x, k, pooling, self_is_near):
    z = layers(phi, "enc", x)
    means, stds = [], []
    for n in range(len(x)):
        others = [m for m in range(len(x)) if self_is_near or m != n]
        apart = {m: float((z[n] - z[m]).detach().square().sum()) for m in others}
        farthest = sorted(apart.values())[k - 1]
        near = [m for m in others if apart[m] <= farthest]  # equal encodings are equally near
        pooled = z[near].mean(0)
        if pooling == "mean_max":
            pooled = torch.cat([pooled, z[near].amax(0)])
        mean, width = layers(phi, "dec", pooled).chunk(2)
        means.append(mean)
        stds.append(F.softplus(width) + 1e-3)
    return torch.stack(means), torch.stack(stds)


@pytest.mark.parametrize("self_is_near", [True, False])
@pytest.mark.parametrize("pooling", ["mean_max", "mean"])
@pytest.mark.parametrize("k", [1, 3, 4])
def test_a_pseudo_row_is_decoded_from_its_nearest_encodings(k, pooling, self_is_near):
    generator, phi, x = made(pooling=pooling, self_is_near=self_is_near)
    near = generator.search(phi, x, torch.tensor(float(k)))
    found = generator.decode(phi, x, near)
    mean, std = by_hand(phi, x, k, pooling, self_is_near)
    torch.testing.assert_close(found.mean, mean)
    torch.testing.assert_close(found.std, std)
    assert near.mask.diagonal().all() == self_is_near
    assert near.mask.diagonal().any() == self_is_near


def test_gradients_are_those_of_the_loop():
    generator, phi, x = made()
    near = generator.search(phi, x, torch.tensor(3.0))

    def ours(phi):
        return sum(part.sin().sum() for part in generator.decode(phi, x, near))

    def theirs(phi):
        return sum(part.sin().sum() for part in by_hand(phi, x, 3, "mean_max", True))

    expected = torch.func.grad(theirs)(phi)
    for name, value in torch.func.grad(ours)(phi).items():
        torch.testing.assert_close(value, expected[name])


def test_a_row_is_its_own_nearest_even_beside_a_twin_and_far_from_the_origin():
    generator, phi, x = made()
    phi, x = {k: v.float() for k, v in phi.items()}, 1e4 * x.float()
    x[1] = x[0]
    near = generator.search(phi, x, torch.tensor(1.0))
    assert near.mask.diagonal().all()


def test_every_member_of_a_population_has_its_own_k():
    generator, phi, x = made()
    counts = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)

    def member(k):
        return generator.decode(phi, x, generator.search(phi, x, k))

    lifted = torch.vmap(member)(counts)
    for p, k in enumerate(counts):
        torch.testing.assert_close(lifted.mean[p], member(k).mean)
        torch.testing.assert_close(lifted.std[p], member(k).std)


def test_a_batch_of_one_row_has_that_row_for_a_neighbour():
    generator, phi, x = made()
    found = generator.decode(phi, x[:1], generator.search(phi, x[:1], torch.tensor(1.0)))
    assert found.mean.isfinite().all()


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 32, 33])
def test_k_is_uniform_from_one_to_half_the_batch(batch):
    most = max(batch // 2, 1)
    u = (torch.arange(720 * most, dtype=torch.float64) + 0.5) / (720 * most)
    counts = torch.bincount(how_many_near(u, batch).long(), minlength=most + 1)
    assert counts.tolist() == [0] + [720] * most


def test_k_stays_in_its_range_at_the_ends_of_the_unit_interval():
    ends = torch.tensor([0.0, math.nextafter(1.0, 0.0)], dtype=torch.float64)
    assert how_many_near(ends, 9).tolist() == [1, 4]
    assert how_many_near(torch.tensor([1.0]), 9).tolist() == [4]
