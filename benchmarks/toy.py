"""Does PAD go back to the prior where the toy has no data? Numbers for the paper's Figure 1.

For both models, plain and with PAD, over 10 seeds of data and initialisation, in standardised
labels: the members' own σ and the mixture's standard deviation in the gap, outside and on the data,
and the likelihood of fresh points within the data's range.

    python benchmarks/toy.py [--seeds 10] [--json rows.json]
"""

import argparse
import json

import torch

from reprior.experiments import toy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--json", metavar="FILE", help="also write the rows to FILE")
    args = parser.parse_args()
    torch.set_num_threads(1)


if __name__ == "__main__":
    main()
