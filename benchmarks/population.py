"""What a member costs inside a population, against the loop people write.

Times one training step of MC Dropout, plain and with PAD, for populations of growing size, and the
same step as an ordinary loop (nn.Module, torch.optim.Adam) in the same run. Batch 32, 8 features.
On a CPU the loop and small populations have one thread, which is what they are fastest with.

    python benchmarks/population.py [--device cuda] [--json rows.json]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reprior.augment import PAD
from reprior.benchmark.executors import describe_device
from reprior.likelihoods import gaussian
from reprior.models import MCDropout
from reprior.networks import MLP
from reprior.population.layout import training_sets
from reprior.report.provenance import save_rows
from reprior.training.fit import Job, cpu_for, default_settings, search_space, stepper

BATCH, FEATURES, ROWS, HIDDEN = 32, 8, 1024, 50


class Net(nn.Module):
    """The paper's regression network, as anybody writes it."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, HIDDEN), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(HIDDEN, 2),
        )  # fmt: skip

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean, width = self.layers(x).unbind(-1)
        return mean, F.softplus(width) + 1e-3


class SetGenerator(nn.Module):
    """PAD's generator, as anybody writes it."""

    def __init__(self) -> None:
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN))
        self.dec = nn.Sequential(
            nn.Linear(2 * HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 2 * FEATURES)
        )

    def forward(self, x: Tensor, k: int) -> tuple[Tensor, Tensor]:
        z = self.enc(x)
        near = torch.cdist(z, z).topk(k, largest=False).indices
        pooled = torch.cat([z[near].mean(1), z[near].amax(1)], -1)
        mean, width = self.dec(pooled).chunk(2, -1)
        return mean, F.softplus(width) + 1e-3


def nll(mean: Tensor, std: Tensor, y: Tensor) -> Tensor:
    return -torch.distributions.Normal(mean, std).log_prob(y).mean()


def loop(pad: bool, x: Tensor, y: Tensor) -> Callable[[], None]:
    """One step of the ordinary loop."""
    net, generator = Net(0.1).to(x.device), SetGenerator().to(x.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)

    def step() -> None:
        rows = torch.randint(len(x), (BATCH,), device=x.device)
        xb, yb = x[rows], y[rows]
        k = int(torch.randint(1, BATCH // 2 + 1, ()))
        loss = nll(*net(xb), yb)
        if pad:
            with torch.no_grad():
                mean, std = generator(xb, k)
                fake = mean + std * torch.randn_like(std)
                weight = 1 - torch.exp(-torch.cdist(fake, xb).amin(1).square() / 2)
            _, sigma = net(fake)
            loss = loss + (weight * (0.5 * (sigma.square() - 1) - sigma.log())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if pad:
            mean, std = generator(xb, k)
            fake = mean + std * torch.randn_like(std)
            _, sigma = net(fake)
            near = torch.cdist(fake, xb).square().topk(k, largest=False).values
            confidence = sigma.log().mean()
            diversity = std.log().sum(1).mean()
            generator_loss = confidence - diversity + (near - FEATURES).clamp_min(0).mean()
            generator_optimizer.zero_grad()
            generator_loss.backward()
            generator_optimizer.step()

    return step


def population(members: int, pad: bool, x: Tensor, y: Tensor) -> Callable[[], None]:
    """One step of a population of `members`."""
    table = x.double().cpu().numpy(), y.double().cpu().numpy()
    sets = training_sets(*table, [np.arange(ROWS)], device=x.device)
    model = MCDropout(MLP((FEATURES, HIDDEN, HIDDEN, 2)), gaussian.from_outputs)
    augment = PAD(FEATURES) if pad else None
    settings = default_settings(search_space(model, augment), members)
    group = torch.zeros(members, dtype=torch.int64)
    return stepper(Job(model, augment, sets, group, settings, epochs=1, batch=BATCH, seed=0))


def seconds_per_step(step: Callable[[], None], device: str, budget: float) -> float:
    """Median of 5 timings, each of as many steps as fit into a fifth of the budget."""

    def timed(steps: int) -> float:
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(steps):
            step()
        if device == "cuda":
            torch.cuda.synchronize()
        return (time.perf_counter() - start) / steps

    timed(3)
    steps = max(2, int(budget / 5 / timed(2)))
    return statistics.median(timed(steps) for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the rows to FILE")
    parser.add_argument("--budget", type=float, default=5.0, help="seconds for each row")
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(ROWS, FEATURES, device=args.device)
    y = x[:, 0].sin() + 0.1 * torch.randn(ROWS, device=args.device)
    sizes = [1, 10, 100, 400] + ([2000] if args.device == "cuda" else [])
    rows = []
    print(f"{'model':<11} {'augment':<8} {'members':>7} {'µs/member-step':>15} {'× loop':>8}")
    for pad in (False, True):
        with cpu_for(BATCH):
            alone = seconds_per_step(loop(pad, x, y), args.device, args.budget)
        print(
            f"{'mc_dropout':<11} {'pad' if pad else '':<8} {'loop':>7} {alone * 1e6:15.2f} {1:8.2f}"
        )
        for members in sizes:
            step = population(members, pad, x, y)
            with cpu_for(members * BATCH):
                each = seconds_per_step(step, args.device, args.budget) / members
            rows.append(
                {
                    "model": "mc_dropout",
                    "augment": "pad" if pad else "",
                    "members": members,
                    "us_per_member_step": each * 1e6,
                    "times_faster_than_loop": alone / each,
                }
            )
            print(
                f"{'mc_dropout':<11} {'pad' if pad else '':<8} {members:7d} "
                f"{each * 1e6:15.2f} {alone / each:8.2f}",
                flush=True,
            )
    if args.json:
        save_rows(args.json, rows, describe_device(args.device))


if __name__ == "__main__":
    main()
