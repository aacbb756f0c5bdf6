import math

import pytest

from reprior.report.names import SETS


def _result(model="deep_ensemble", augment="", split=0, nll=1.0, ce=1.0, **rest):
    row = {"protocol": "fair", "shift": "cluster", "set": "yacht", "diverged": 0, **rest}
    row |= {"model": model, "augment": augment, "split": split, "nll": nll, "ce": ce}
    return row


def _results(nll, augment="", ce=None, **rest):
    """One row per split; None stands for a split that diverged."""
    return [
        _result(
            augment=augment,
            split=split,
            nll=math.nan if value is None else value,
            ce=math.nan if value is None else (ce or nll)[split],
            diverged=int(value is None),
            **rest,
        )
        for split, value in enumerate(nll)
    ]


@pytest.fixture
def result():
    return _result


@pytest.fixture
def results():
    return _results


PAPER_MODELS = ("deep_ensemble", "rank_one_bnn", "swag", "mc_dropout")


@pytest.fixture
def every_cell():
    """The 32 cells of the paper, plain and with PAD, two splits each: PAD is always better by 1."""
    rows = []
    for model in PAPER_MODELS:
        for name in SETS:
            rows += _results([2.0, 3.0], set=name, model=model)
            rows += _results([1.0, 2.0], "pad", set=name, model=model)
    return rows
