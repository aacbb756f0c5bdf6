"""Exact Gaussian process regression (Rasmussen & Williams): a prior over functions, conditioned.

The prior has a constant mean and an RBF kernel; labels add normal noise. What is open in it is set
to what makes the training labels most likely (gpytorch); the prediction is then a closed formula.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from reprior.contracts import Mixture, Setting
from reprior.likelihoods import Gaussian, mixture

SMALLEST_NOISE = 1e-3**2  # variance of standardised labels, as for the networks
JITTER = 1e-12  # of the kernel's scale: repeated rows must not make its matrix singular


class Hyperparameters(NamedTuple):
    """All there is to know about the prior."""

    mean: Tensor  # ()
    scale: Tensor  # () variance of the function
    length: Tensor  # (1,), or (D,) with one for each feature
    noise: Tensor  # () variance of a label about the function


@dataclass(frozen=True)
class GaussianProcess:
    """In double precision whatever it is given, since the kernel's matrix is nearly singular."""

    ard: bool = False  # one length scale for each feature; the paper says RBF only
    # Training rows that hyperparameters are found with, drawn at random where there are more: each
    # step grows with their cube. Predictions are made from all rows.
    most: int = 2000
    steps: int = 50  # of L-BFGS, at most

    name = "gaussian_process"
    members = 1
    space: ClassVar[dict[str, Setting]] = {}  # it sets itself

    def fit_predict(
        self, x: Tensor, y: Tensor, asked: Tensor, settings: Mapping[str, float], seed: int
    ) -> Mixture:
        rows, labels = x.double(), y.double()
        dice = torch.Generator().manual_seed(seed)
        some = torch.randperm(len(x), generator=dice)[: self.most].to(x.device)
        found = most_likely(rows[some], labels[some], self.ard, self.steps)
        predicted = posterior(rows, labels, asked.double(), found)
        return mixture(Gaussian(*(leaf[None].to(x.dtype) for leaf in predicted)))


def posterior(x: Tensor, y: Tensor, asked: Tensor, given: Hyperparameters) -> Gaussian:
    """Density of a label, noise included, at each row asked for (M, D); batch (M,).

    x, y  (N, D) and (N,), what is known
    """

    def kernel(a: Tensor, b: Tensor) -> Tensor:
        distance = torch.cdist(a / given.length, b / given.length)
        # In place: for ten thousand rows this is most of the memory.
        return distance.square_().mul_(-0.5).exp_().mul_(given.scale)

    covariance = kernel(x, x)
    covariance.diagonal().add_(given.noise + JITTER * given.scale)
    factor = torch.linalg.cholesky(covariance)  # (N, N)
    across = torch.linalg.solve_triangular(factor, kernel(x, asked), upper=False)  # (N, M)
    apart = torch.linalg.solve_triangular(factor, (y - given.mean)[:, None], upper=False)
    mean = given.mean + (across * apart).sum(0)
    known = across.square().sum(0)
    # What is left of the function's variance is at least 0, but for rounding.
    return Gaussian(mean, ((given.scale - known).clamp_min(0) + given.noise).sqrt())


def most_likely(x: Tensor, y: Tensor, ard: bool, steps: int) -> Hyperparameters:
    """The maximum of the marginal likelihood that L-BFGS reaches from one fixed start."""
    import gpytorch

    mean = gpytorch.means.ConstantMean()
    kernel = gpytorch.kernels.ScaleKernel(
        gpytorch.kernels.RBFKernel(ard_num_dims=x.shape[1] if ard else None)
    )
    noise = gpytorch.likelihoods.GaussianLikelihood(
        noise_constraint=gpytorch.constraints.GreaterThan(SMALLEST_NOISE)
    )
    prior = torch.nn.ModuleList([mean, kernel, noise]).to(x)
    # Rows of D standardised features are about √(2D) apart.
    kernel.base_kernel.lengthscale = math.sqrt(x.shape[1])
    kernel.outputscale, noise.noise = 1.0, 0.1
    optimiser = torch.optim.LBFGS(
        prior.parameters(), max_iter=steps, tolerance_change=1e-7, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        optimiser.zero_grad()
        labels = noise(gpytorch.distributions.MultivariateNormal(mean(x), kernel(x)))
        missing: Tensor = -labels.log_prob(y) / len(y)
        missing.backward()  # type: ignore[no-untyped-call]
        return missing.detach()

    # By Cholesky factors: above 800 rows gpytorch would estimate the likelihood at random vectors.
    with gpytorch.settings.fast_computations(log_prob=False):
        optimiser.step(loss)  # type: ignore[no-untyped-call]
    return Hyperparameters(
        mean.constant.detach(),
        kernel.outputscale.detach(),
        kernel.base_kernel.lengthscale.detach()[0],
        noise.noise.detach()[0],
    )
