"""The paper's own numbers, to stand beside ours."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

TABLES = {"nll": "uci_nll", "ce": "uci_calibration_error"}


@cache
def _numbers() -> Any:
    return json.loads(files(__package__).joinpath("paper.json").read_text(encoding="utf-8"))


def paper_cell(measure: str, model: str, augment: str, set: str) -> tuple[float, float] | None:
    """Mean and standard deviation the paper prints for one cell; None where it prints none.

    measure  nll or ce
    """
    row = _numbers()[TABLES[measure]].get(f"{model}+{augment}" if augment else model, {})
    return tuple(row[set]) if set in row else None


def paper_claims() -> dict[str, str]:
    """What the paper's text says of its two tables, as won/all."""
    return dict(_numbers()["claims"])
