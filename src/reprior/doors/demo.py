"""`reprior demo`: the toy figure and a real table under shift, as one page within two minutes."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from reprior.benchmark.bench import bench
from reprior.benchmark.plan import cells
from reprior.benchmark.spec import Spec
from reprior.benchmark.store import Store
from reprior.benchmark.toy import LINE, REGIONS, Study, noise_on_data, study
from reprior.contracts import Floats
from reprior.datasets import toy
from reprior.datasets.fetch import whole_or_nothing
from reprior.report import (
    Figure,
    Panel,
    Section,
    Table,
    Text,
    aggregate,
    collect_provenance,
    deltas,
    page,
    paper_layout,
    svg,
    to_csv,
    toy_figure,
)
from reprior.report.grid import Cell, Grid, Line
from reprior.report.names import label

MODELS = ("mc_dropout", "deep_ensemble")
DIABETES = Spec(sets=("diabetes",), models=MODELS, protocols=("paper",), splits=5)

Progress = Callable[[str, int, int], None]  # what, done, in all


def demo(folder: Path, workers: int, progress: Progress) -> Path:
    """Writes the page into a folder and says where it is."""
    studies: dict[tuple[str, str], Study] = {}
    wanted = [(name, augment) for augment in ("", "pad") for name in MODELS]
    for i, (name, augment) in enumerate(wanted):
        progress("toy", i, len(wanted))
        studies[name, augment] = study(name, augment, seeds=1)
    progress("toy", len(wanted), len(wanted))
    provenance = collect_provenance("cpu")
    store = Store(folder / "diabetes.sqlite")
    try:
        made = {k: v for k, v in provenance.items() if k not in ("date", "command")}
        bench(
            DIABETES, store, made, "cpu", workers,
            progress=lambda done, known, _: progress("diabetes", done, known),
        )  # fmt: skip
        known = {tuple(vars(cell).values()) for cell in cells(DIABETES)}
        rows = aggregate(
            row
            for row in store.finals()
            if tuple(row[k] for k in ("protocol", "shift", "set", "model", "augment")) in known
        )
    finally:
        store.close()
    sections = [
        Section(
            "Where the data ends",
            [
                Text(
                    "One hundred points on either side of a gap. Above, the models as they are: in "
                    "the gap they are as sure of themselves as on the data, outside they are "
                    "anything. Below, the same models with PAD: where there is no data, the band "
                    "goes back to the spread of the labels."
                ),
                Figure(svg(_figure(studies)), _CAPTION, _numbers(studies), "toy.csv"),
                Table(_regions(studies)),
            ],
        ),
        Section(
            "A real table under shift",
            [
                Text(
                    "Diabetes: 442 patients, 10 measurements. Whole clusters of patients are held "
                    "out, so that a model is tested on people unlike those it has seen. Each model "
                    "was tuned over 12 settings on each of 5 such splits."
                ),
                Table(paper_layout(rows, "paper", "cluster", "nll"), to_csv(rows), "diabetes.csv"),
                Table(deltas(rows, "paper", "cluster", "nll")),
                Table(paper_layout(rows, "paper", "cluster", "ce")),
            ],
        ),
    ]
    text = page("reprior: what PAD does", sections, provenance)
    report = folder / "report.html"
    with whole_or_nothing(report) as file:
        file.write(text.encode())
    return report


_CAPTION = (
    "Mean, and bands of one and two standard deviations, of the predictive mixture; data and the "
    "true function. The same data in every panel."
)


def _figure(studies: dict[tuple[str, str], Study]):  # type: ignore[no-untyped-def]
    data = toy.toy(0)
    panels = [
        [Panel(label(name, augment), LINE, *_original(studies[name, augment])) for name in MODELS]
        for augment in ("", "pad")
    ]
    truth = (LINE, toy.true_function(LINE))
    return toy_figure(panels, (data.x[:, 0], data.y), truth)


def _original(found: Study) -> tuple[Floats, Floats]:
    """Mean and standard deviation along the line in the units of y."""
    return found.y_mean[0] + found.y_std[0] * found.mean[0], found.y_std[0] * found.std[0]


def _regions(studies: dict[tuple[str, str], Study]) -> Grid:
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


def _numbers(studies: dict[tuple[str, str], Study]) -> str:
    columns = {"x": LINE}
    for (name, augment), found in studies.items():
        key = f"{name}+{augment}" if augment else name
        columns[f"{key}_mean"], columns[f"{key}_std"] = _original(found)
    table = np.column_stack(list(columns.values()))
    body = "\n".join(",".join(f"{v:.6g}" for v in row) for row in table)
    return ",".join(columns) + "\n" + body + "\n"
