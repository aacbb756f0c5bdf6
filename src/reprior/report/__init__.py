"""From one result per split to tables, figures and a page: plain values in, text out."""

from reprior.report.counts import Count, Lost, Tally, Wins, wins
from reprior.report.figures import (
    Curve,
    Panel,
    PseudoRows,
    Reversion,
    cluster_shift_figure,
    delta_figure,
    pseudo_rows_figure,
    reliability_figure,
    reversion_figure,
    svg,
    toy_figure,
)
from reprior.report.grid import FORMATS, Cell, Grid, Line, html_table, latex, markdown, text
from reprior.report.html import Figure, Section, Table, Text, page
from reprior.report.layouts import deltas, lost_table, paper_layout, wins_table
from reprior.report.paper import paper_cell, paper_claims
from reprior.report.provenance import collect_provenance
from reprior.report.tables import TableRow, aggregate, from_csv, measures_csv, to_csv

__all__ = [
    "FORMATS",
    "Cell",
    "Count",
    "Curve",
    "Figure",
    "Grid",
    "Line",
    "Lost",
    "Panel",
    "PseudoRows",
    "Reversion",
    "Section",
    "Table",
    "TableRow",
    "Tally",
    "Text",
    "Wins",
    "aggregate",
    "cluster_shift_figure",
    "collect_provenance",
    "delta_figure",
    "deltas",
    "from_csv",
    "html_table",
    "latex",
    "lost_table",
    "markdown",
    "measures_csv",
    "page",
    "paper_cell",
    "paper_claims",
    "paper_layout",
    "pseudo_rows_figure",
    "reliability_figure",
    "reversion_figure",
    "svg",
    "text",
    "to_csv",
    "toy_figure",
    "wins",
    "wins_table",
]
