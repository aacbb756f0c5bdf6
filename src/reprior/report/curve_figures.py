"""From the curves that finals keep to the page's figures of reliability and of reversion."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from reprior.report.figures import Curve, Reversion, reliability_figure, reversion_figure, svg
from reprior.report.html import Figure
from reprior.report.names import ABLATIONS, AUGMENTS, MODELS, SETS, human, label, ordered

Row = Mapping[str, Any]
PAIR = ("", "pad")  # what reversion compares


def curve_figures(finals: Iterable[Row], protocol: str, shift: str) -> list[Figure]:
    """One figure of reliability per augmented model, one for all others, then the reversions.

    finals  results with the curves of `benchmark/curves.py`; one that diverged has none
    """
    rows = [
        row
        for row in finals
        if (row["protocol"], row["shift"]) == (protocol, shift)
        and row["augment"] not in ABLATIONS
        and ("reliability" in row or row["diverged"])
    ]
    if not any("reliability" in row for row in rows):
        return []
    augmented = {row["model"] for row in rows if row["augment"]}
    figures = []
    for model in ordered(MODELS, augmented):
        figures.append(_reliability([row for row in rows if row["model"] == model], model))
    if others := [row for row in rows if row["model"] not in augmented]:
        figures.append(_reliability(others, ""))
    for model in ordered(MODELS, augmented):
        arms = [[r for r in rows if (r["model"], r["augment"]) == (model, a)] for a in PAIR]
        if all(pair := _met(arms)):
            figures.append(_reversion(pair, model))
    return figures


def _reliability(rows: Sequence[Row], model: str) -> Figure:
    curves = []
    for name in ordered(SETS, {row["set"] for row in rows}):
        here = [row for row in rows if row["set"] == name]
        for which in ordered(MODELS, {row["model"] for row in here}):
            mine = [row for row in here if row["model"] == which]
            for augment in ordered(AUGMENTS, {row["augment"] for row in mine}):
                kept = [row.get("reliability", []) for row in mine if row["augment"] == augment]
                if count := max(map(len, kept)):
                    levels = np.arange(1, count + 1) / count
                    shares = np.array([shares or [np.nan] * count for shares in kept])
                    curves.append(Curve(which, levels, shares, augment, name))
    who = human(MODELS, model) if model else "The models that take no augmentation"
    caption = (
        f"{who}: share of test rows below each predicted quantile, mean over splits and one "
        "standard deviation. On the diagonal a model is calibrated; a curve that is flat in the "
        "middle belongs to bands that are too narrow, a steep one to bands too wide."
    )
    return Figure(svg(reliability_figure(curves)), caption)


def _reversion(pair: Sequence[Sequence[Row]], model: str) -> Figure:
    panels = []
    for augment, rows in zip(PAIR, pair, strict=True):
        counts = _joined(rows, "rows").astype(int)
        panels.append(
            Reversion(
                label(model, augment),
                *(np.repeat(_joined(rows, part), counts) for part in ("distance", "std", "error")),
            )
        )
    caption = (
        f"{human(MODELS, model)}, all sets, every split on which neither of the two diverged: what "
        "is predicted and what happens, with growing distance to the nearest training row (in "
        "units of √D)."
    )
    return Figure(svg(reversion_figure(panels)), caption)


def _met(arms: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """Of both arms the rows of those sets and splits that both have curves of."""
    where = [{(r["set"], r["split"]) for r in rows if "reversion_rows" in r} for rows in arms]
    shared = set.intersection(*where)
    return [[r for r in rows if (r["set"], r["split"]) in shared] for rows in arms]


def _joined(rows: Sequence[Row], part: str) -> Any:
    return np.concatenate([row[f"reversion_{part}"] for row in rows])
