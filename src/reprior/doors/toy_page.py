"""The toy of the paper's first figure on a page: every model, plain and augmented."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from reprior.benchmark.toy import LINE, REGIONS, Study, noise_on_data, study
from reprior.contracts import Floats
from reprior.datasets import toy
from reprior.datasets.fetch import whole_or_nothing
from reprior.report import Figure, Panel, Section, Table, Text, collect_provenance, page, svg
from reprior.report import toy_figure as draw
from reprior.report.grid import Cell, Grid, Line
from reprior.report.html import Block
from reprior.report.names import label

Studies = Mapping[tuple[str, str], Study]
COLUMNS = 3  # of the figure
Progress = Callable[[int, int], None]  # studies done, in all


def toy_page(
    folder: Path, wanted: Sequence[tuple[str, str]], seeds: int, progress: Progress
) -> Path:
    """Trains every (model, augment), writes the page into a folder and says where it is."""
    studies: dict[tuple[str, str], Study] = {}
    for i, who in enumerate(wanted):
        progress(i, len(wanted))
        studies[who] = study(*who, seeds)
    progress(len(wanted), len(wanted))
    words = (
        f"One hundred points on either side of a gap; numbers are means over {seeds} seeds of data "
        "and start, the picture is the first of them."
    )
    blocks: list[Block] = [
        Text(words),
        toy_block(studies, in_rows(wanted)),
        Table(regions_table(studies)),
    ]
    sections = [Section("Where the data ends", blocks)]
    text = page("reprior bench toy", sections, collect_provenance("cpu"))
    report = folder / "report.html"
    for name, content in (("report.html", text), ("toy.csv", regions_csv(studies, seeds))):
        with whole_or_nothing(folder / name) as file:
            file.write(content.encode())
    return report


def in_rows(wanted: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Some models at a time, each with its augmentations below it; those without come last."""
    augments = list(dict.fromkeys(augment for _, augment in wanted))
    augmented = {name for name, augment in wanted if augment}
    names = [
        [name for name, augment in wanted if not augment and (name in augmented) == both]
        for both in (True, False)
    ]
    rows = [
        [(name, augment) for name in some[at : at + COLUMNS] if (name, augment) in wanted]
        for some in names
        for at in range(0, len(some), COLUMNS)
        for augment in augments
    ]
    return [row for row in rows if row]


def toy_block(studies: Studies, rows: Sequence[Sequence[tuple[str, str]]]) -> Figure:
    """The figure of the first seed, a panel for each (model, augment), with its numbers."""
    data = toy.toy(0)
    panels = [[_panel(who, studies[who]) for who in row] for row in rows]
    truth = (LINE, toy.true_function(LINE))
    figure = draw(panels, (data.x[:, 0], data.y), truth)
    return Figure(svg(figure), _CAPTION, _numbers(studies), "toy-line.csv")


_CAPTION = (
    "Mean, and bands of one and two standard deviations, of the predictive mixture; data and the "
    "true function. The same data in every panel."
)


def _panel(who: tuple[str, str], found: Study) -> Panel:
    """Every other point of the line, which a picture does not show and a file's size does."""
    mean, std = _original(found)
    return Panel(label(*who), LINE[::2], mean[::2], std[::2])


def _original(found: Study) -> tuple[Floats, Floats]:
    """Mean and standard deviation along the line in the units of y."""
    return found.y_mean[0] + found.y_std[0] * found.mean[0], found.y_std[0] * found.std[0]


def regions_table(studies: Studies) -> Grid:
    """How wide every prediction is, region by region."""
    lines = [
        Line(
            label(name, augment),
            tuple(Cell(f"{found.over(region, found.std):.2f}") for region in REGIONS),
        )
        for (name, augment), found in studies.items()
    ]
    note = (
        "Standard deviation of the prediction, in units of the labels' own: 1 is the prior. The "
        f"true noise on the data is {noise_on_data():.2f}."
    )
    head = ("Model", "on the data", "in the gap", "left of it all", "right of it all")
    return Grid("How wide the prediction is", head, (tuple(lines),), note)


def regions_csv(studies: Studies, seeds: int) -> str:
    """A row per model: members' own σ and the mixture's, region by region, and the fresh NLL."""
    columns = [f"{region}_{kind}" for region in REGIONS for kind in ("own_std", "mixture_std")]
    lines = [",".join(["model", "augment", "seeds", *columns, "nll", "diverged"])]
    for (name, augment), found in studies.items():
        widths = [
            found.over(region, values)
            for region in REGIONS
            for values in (found.own_std, found.std)
        ]
        numbers = [f"{value:.6g}" for value in (*widths, found.nll.mean())]
        lines.append(",".join([name, augment, str(seeds), *numbers, str(found.diverged)]))
    return "\n".join(lines) + "\n"


def _numbers(studies: Studies) -> str:
    columns = {"x": LINE}
    for (name, augment), found in studies.items():
        key = f"{name}+{augment}" if augment else name
        columns[f"{key}_mean"], columns[f"{key}_std"] = _original(found)
    table = np.column_stack(list(columns.values()))
    body = "\n".join(",".join(f"{v:.6g}" for v in row) for row in table)
    return ",".join(columns) + "\n" + body + "\n"
