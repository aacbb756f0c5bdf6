"""Does PAD go back to the prior where the toy has no data? The numbers behind the first figure.

For both models, plain and with PAD, in standardised labels and averaged over seeds of data and
initialisation: the members' own σ and the mixture's standard deviation on the data, in the gap and
outside, and the likelihood of fresh points from the data's range.

    python benchmarks/toy.py [--seeds 10] [--json rows.json]
"""

import argparse
from pathlib import Path

import torch

from reprior.benchmark.toy import REGIONS, noise_on_data, study
from reprior.report.provenance import save_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the rows to FILE")
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(f"true noise on the data, by simulation: {noise_on_data():.3f}")
    head = "".join(f"{region + ' σ/mix':>18}" for region in REGIONS)
    print(f"{'model':<14}{'augment':<9}{head}{'fresh NLL':>11}")
    rows = []
    for name in ("mc_dropout", "deep_ensemble"):
        for augment in ("", "pad"):
            found = study(name, augment, args.seeds)
            row: dict[str, object] = {"model": name, "augment": augment, "seeds": args.seeds}
            text = ""
            for region in REGIONS:
                own, mixed = found.over(region, found.own_std), found.over(region, found.std)
                row |= {f"{region}_own_std": own, f"{region}_mixture_std": mixed}
                text += f"{f'{own:.3f}/{mixed:.3f}':>18}"
            row |= {"nll": float(found.nll.mean()), "diverged": found.diverged}
            rows.append(row)
            print(f"{name:<14}{augment:<9}{text}{found.nll.mean():11.3f}", flush=True)
    if args.json:
        save_rows(args.json, rows, "cpu")


if __name__ == "__main__":
    main()
