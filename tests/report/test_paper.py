import re

import pytest

from reprior.report.names import SETS
from reprior.report.paper import paper_cell, paper_claims

MODELS = ("deep_ensemble", "rank_one_bnn", "swag", "mc_dropout")
# The lines of tbl:uci-log-likelihood and tbl:uci-calibration-error, as they are printed.
PRINTED = {
    ("nll", "gaussian_process", ""): "3.81±0.23 4.44±0.08 6.74±7.44 -0.50±0.04 -3.55±2.07 "
    "4.14±0.36 1.22±0.05 4.31±0.21",
    ("nll", "mc_dropout", "pad"): "4.32±1.92 4.98±0.79 3.34±0.86 -0.53±0.09 -0.96±3.39 "
    "3.18±0.08 1.22±0.07 3.45±0.14",
    ("ce", "depth_uncertainty", ""): "15.8±21.5 14.3±10.9 19.5±23.9 16.5±14.0 22.4±5.4 "
    "19.3±20.7 18.7±24.4 18.9±16.9",
    ("ce", "swag", "pad"): "6.73±6.44 8.72±4.93 6.05±8.60 2.15±0.77 4.59±1.69 1.91±1.87 "
    "0.74±0.51 2.76±0.45",
}


@pytest.mark.parametrize(("cell", "printed"), PRINTED.items(), ids=lambda part: str(part)[:30])
def test_the_numbers_are_those_printed(cell, printed):
    numbers = [float(number) for number in re.split(r"[ ±]+", printed)]
    ours = [number for name in SETS for number in paper_cell(*cell, name)]
    assert ours == numbers


def test_what_the_paper_does_not_have_is_none():
    assert paper_cell("nll", "gaussian_process", "pad", "wine") is None
    assert paper_cell("nll", "deep_ensemble", "noise", "wine") is None
    assert paper_cell("nll", "deep_ensemble", "pad", "diabetes") is None


@pytest.mark.parametrize(
    ("measure", "claim", "ties"),
    [("nll", "uci_nll_wins_of_pad", 1), ("ce", "uci_calibration_wins_of_pad", 0)],
)
def test_its_tables_hold_what_its_text_claims(measure, claim, ties):
    means = [
        (paper_cell(measure, m, "pad", s)[0], paper_cell(measure, m, "", s)[0])
        for m in MODELS
        for s in SETS
    ]
    assert sum(pad == plain for pad, plain in means) == ties
    wins = sum(pad <= plain for pad, plain in means)
    assert f"{wins}/{len(means)}" == paper_claims()[claim]
