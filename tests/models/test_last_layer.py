import numpy as np
import torch

from reprior.models.last_layer import variance, whitener


def test_single_precision_in_keeps_double_precisions_variance():
    """Features all but collinear and little noise: where a float32 factorisation fails."""
    torch.manual_seed(0)
    common = torch.randn(6000, 3, dtype=torch.float64)
    phi = common @ torch.randn(3, 40, dtype=torch.float64)
    phi = phi + 1e-3 * torch.randn(6000, 40, dtype=torch.float64)
    noise = torch.tensor(0.01, dtype=torch.float64)
    found = variance(phi[:50].float(), whitener(phi.float(), noise.float(), 1.0))
    single = phi.float().double().numpy()
    covariance = np.linalg.inv(single.T @ single / float(noise.float()) ** 2 + np.eye(40))
    expected = np.einsum("ni,ij,nj->n", single[:50], covariance, single[:50])
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3)


def test_a_member_without_numbers_leaves_its_neighbours_alone():
    torch.manual_seed(0)
    phi, noise = torch.randn(3, 20, 4), torch.tensor([0.1, 0.1, 0.1])
    expected = whitener(phi[1], noise[1], 1.0)
    phi[0] = torch.nan
    phi[2] = torch.inf
    lifted = torch.vmap(whitener, in_dims=(0, 0, None))(phi, noise, 1.0)
    torch.testing.assert_close(lifted[1], expected)
    assert lifted[0].isnan().all()
    assert not lifted[2].isfinite().all()
