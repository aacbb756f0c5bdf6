"""Which candidate a split gets: the least validation NLL, averaged over its folds."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Choice(NamedTuple):
    candidate: int
    nll: float  # mean validation NLL over the folds
    margin: float  # how much worse the next best is: 0 says the choice was a toss-up


def choose(rows: Iterable[Mapping[str, Any]], splits: int) -> list[Choice]:
    """One choice per split from the rows of the tuning stage.

    A candidate that diverged on any fold cannot be chosen unless all did.
    """
    folds: dict[tuple[int, int], list[float]] = defaultdict(list)
    for row in rows:
        value = row["nll"]
        usable = value is not None and math.isfinite(value)
        folds[row["split"], row["candidate"]].append(value if usable else math.inf)
    choices = []
    for split in range(splits):
        ranked = sorted(
            (sum(values) / len(values), candidate)
            for (at, candidate), values in folds.items()
            if at == split
        )
        best = ranked[0]
        after = ranked[1][0] if len(ranked) > 1 else math.inf
        margin = after - best[0] if math.isfinite(best[0]) else 0.0
        choices.append(Choice(best[1], best[0], margin))
    return choices
