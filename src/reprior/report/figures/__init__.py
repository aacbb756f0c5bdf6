"""The pictures: plain values in, a matplotlib Figure out, and `svg` to put it into a page.

Every function gives a Figure of its own, without pyplot and whatever the user's settings are.
Matplotlib is loaded when the first figure is drawn.
"""

from reprior.report.figures.differences import delta_figure
from reprior.report.figures.drawing import svg
from reprior.report.figures.embeddings import (
    PseudoRows,
    cluster_shift_figure,
    pseudo_rows_figure,
)
from reprior.report.figures.reliability import Curve, reliability_figure
from reprior.report.figures.reversion import Reversion, reversion_figure
from reprior.report.figures.toy import Panel, toy_figure

__all__ = [
    "Curve",
    "Panel",
    "PseudoRows",
    "Reversion",
    "cluster_shift_figure",
    "delta_figure",
    "pseudo_rows_figure",
    "reliability_figure",
    "reversion_figure",
    "svg",
    "toy_figure",
]
